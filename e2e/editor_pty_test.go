//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// Who has named no editor gets vi, as from git.
func TestTheEditorOfThoseWhoNamedNoneIsVi(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	programs := filepath.Join(w.home, "bin")
	w.write(filepath.Join(programs, "vi"), "#!/bin/sh\nprintf 'written in vi' > \"$1\"\n")
	if err := os.Chmod(filepath.Join(programs, "vi"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "VISUAL=", "EDITOR=", "PATH="+programs+":"+os.Getenv("PATH"))
	s := w.inTerminal()
	s.prompt()
	s.Press("ctrl+g")
	s.stands("written in vi")
	s.keys(clearLine)
	s.enter("/quit")
	s.leave(statusDone)
}
