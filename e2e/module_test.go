package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// moduleDir is the top of the module, from the directory that these tests run in.
const moduleDir = ".."

// inModule is the path of a file of the module.
func inModule(name string) string { return filepath.Join(moduleDir, filepath.FromSlash(name)) }

func mustRead(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The exit statuses as scripts know them: numbers, so that no change of the program
// goes unnoticed here.
const (
	statusDone        = 0
	statusFailed      = 1
	statusProvider    = 3
	statusDenied      = 8
	statusSession     = 6
	statusUntrusted   = 7
	statusHungUp      = 129
	statusInterrupted = 130
	statusTerminated  = 143
)
