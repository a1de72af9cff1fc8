//go:build unix

package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/session"
)

func TestWhatCannotBeReadIsToldToWhomItConcerns(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is unreadable for root")
	}
	root := t.TempDir()
	folder := filepath.Join(root, session.FolderName("/p"))
	heldIn(t, folder, "good", "/p", time.Unix(1, 0))
	broken := heldIn(t, folder, "broken", "/p", time.Unix(2, 0))
	if err := os.Chmod(broken, 0); err != nil {
		t.Fatal(err)
	}
	for cwd, told := range map[string]bool{"/p": true, "": true, "/elsewhere": false} {
		infos, err := scanAll(root, cwd)
		if (err != nil) != told || err != nil && !strings.Contains(err.Error(), broken) {
			t.Errorf("%q is told %v", cwd, err)
		}
		if want := cwd != "/elsewhere"; (len(infos) == 1) != want {
			t.Errorf("%q sees %+v", cwd, infos)
		}
	}
}
