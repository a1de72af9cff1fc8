//go:build unix

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestInstructionsThatAreNoFileAreReported(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"endless":      func(path string) error { return os.Symlink("/proc/self/pagemap", path) },
		"a directory":  func(path string) error { return os.Mkdir(path, 0o700) },
		"too much":     func(path string) error { return os.WriteFile(path, make([]byte, maxInstructions+1), 0o600) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, "AGENTS.md")); err != nil {
			t.Fatal(err)
		}
		files, problems := FindContextFiles(dir, dir)
		if len(files) != 0 || len(problems) == 0 || !strings.Contains(problems[0].Error(), "AGENTS.md") {
			t.Errorf("%s: %v, %v", name, files, problems)
		}
	}
}
