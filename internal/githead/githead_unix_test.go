//go:build unix

package githead

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestANamedPipeInAProjectHoldsNothingUp(t *testing.T) {
	for _, name := range []string{".git", ".git/HEAD"} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Branch(dir); got != "" {
			t.Errorf("%s is a pipe, and the branch %q", name, got)
		}
	}
}
