//go:build unix

package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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

// A named pipe where the hint about a holder stands is not waited for.
func TestAPipeInPlaceOfAHintIsNotWaitedFor(t *testing.T) {
	path, locks := write(t, story("u1")...), t.TempDir()
	holder := open(t, path, Options{LockDir: locks})
	hint := holder.journal.store.hintPath()
	os.Remove(hint)
	if err := syscall.Mkfifo(hint, 0o600); err != nil {
		t.Skip(err)
	}
	var busy *BusyError
	if _, err := Open(path, Options{LockDir: locks}); !errors.As(err, &busy) || busy.PID != 0 {
		t.Errorf("%v", err)
	}
	holder.Close()
}
