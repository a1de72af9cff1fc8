package hooktest

import (
	"os"
	"path/filepath"
	"testing"
)

// A hook that writes beside itself writes into the folder of the case.
func TestWhatIsBesideAHookIsNotWrittenByItsTests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"h.lua", "m.lua", "state.json", "data/notes.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := copies{root: t.TempDir(), read: os.ReadFile}
	if err := c.add(filepath.Join(dir, "h.lua")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"state.json", "data/notes.txt", "data/new.txt"} {
		copied := filepath.Join(filepath.Dir(c.paths[0]), name)
		if b, err := os.ReadFile(copied); name != "data/new.txt" && (err != nil || string(b) != name) {
			t.Errorf("%s has %q, %v", name, b, err)
		}
		if err := os.WriteFile(copied, []byte("written"), 0o600); err != nil {
			t.Error(err)
		}
		if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) == "written" {
			t.Errorf("%s was written", name)
		}
	}
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(c.paths[0]), "m.lua")); err != nil || string(b) != "m.lua" {
		t.Errorf("the module has %q, %v", b, err)
	}
}
