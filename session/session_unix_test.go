//go:build unix

package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFilesAreForTheirOwnerWhateverTheUmask(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o277} {
		root := filepath.Join(t.TempDir(), "a", "sessions")
		old := syscall.Umask(mask)
		s := New(Options{Dir: root, Cwd: "/w"})
		_, err := s.AppendMessage(user("x"))
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		for path, want := range map[string]fs.FileMode{s.File(): 0o600, filepath.Dir(s.File()): 0o700, root: 0o700, filepath.Dir(root): 0o700} {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != want {
				t.Errorf("umask %o: %s has mode %o, want %o", mask, path, info.Mode().Perm(), want)
			}
		}
	}
}

func TestWhatCannotBeReadIsToldToWhomItConcerns(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is unreadable for root")
	}
	root := t.TempDir()
	folder := filepath.Join(root, FolderName("/p"))
	heldIn(t, folder, "good", "/p", time.Unix(1, 0))
	broken := heldIn(t, folder, "broken", "/p", time.Unix(2, 0))
	if err := os.Chmod(broken, 0); err != nil {
		t.Fatal(err)
	}
	for cwd, told := range map[string]bool{"/p": true, "": true, "/elsewhere": false} {
		infos, err := List(root, cwd)
		if (err != nil) != told || err != nil && !strings.Contains(err.Error(), broken) {
			t.Errorf("%q is told %v", cwd, err)
		}
		if want := cwd != "/elsewhere"; (len(infos) == 1) != want {
			t.Errorf("%q sees %+v", cwd, infos)
		}
	}
}
