package tool

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pi/internal/process"
)

func TestFileToolsDoNotTouchWhatIsProtected(t *testing.T) {
	dir := t.TempDir()
	b := newHarness(t, Options{Protect: []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store"), filepath.Join(dir, "missing")}})
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("store.json")
	write("store/kept/x")
	write("store.json.mine")
	for _, link := range []struct{ name, to string }{{"link", "store.json"}, {"dirlink", "store"}} {
		if err := os.Symlink(filepath.Join(dir, link.to), filepath.Join(b.dir, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "store.json"), filepath.Join(b.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store", "new"), filepath.Join(dir, "missing"),
		filepath.Join(dir, "x", "..", "store.json"), "link", "dirlink/kept/x", "hard"} {
		b.refused("write", args{"path": path, "content": "new"}, "decides which hooks may run")
	}
	for _, path := range []string{filepath.Join(dir, "store.json"), filepath.Join(dir, "store", "kept", "x"), "link", "hard"} {
		b.refused("edit", args{"path": path, "oldText": "old", "newText": "new"}, "decides which hooks may run")
	}
	b.text("write", args{"path": filepath.Join(dir, "store.json.mine"), "content": "new"})
	if text, err := os.ReadFile(filepath.Join(dir, "store.json")); err != nil || string(text) != "old" {
		t.Errorf("the store is %q, %v", text, err)
	}
}

func TestTheGroupOfACommandIsKnownUntilItsLastProcessEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	var mu sync.Mutex
	var groups []int
	b := newHarness(t, Options{Starting: func() func(int) {
		return func(group int) {
			mu.Lock()
			defer mu.Unlock()
			groups = append(groups, group)
		}
	}})
	b.text("bash", args{"command": "mkfifo go; read x < go > log 2>&1 &"})
	b.text("bash", args{"command": "true"})
	if len(groups) != 2 || !process.Alive(groups[0]) || process.Alive(groups[1]) {
		t.Fatalf("groups are %v", groups)
	}
	b.text("bash", args{"command": "echo > go"})
	if process.Alive(0) || process.Alive(1) || process.Alive(-1) {
		t.Error("what is no group is alive")
	}
}

// TestACommandIsAnnouncedBeforeItRuns holds that nothing of a command runs before Starting was
// called, and that what that returns is told of each command that was announced.
func TestACommandIsAnnouncedBeforeItRuns(t *testing.T) {
	t.Parallel()
	var told []bool
	o := Options{Cwd: t.TempDir()}
	o.Starting = func() func(int) {
		if err := os.WriteFile(filepath.Join(o.Cwd, "announced"), []byte("before"), 0o600); err != nil {
			t.Error(err)
		}
		return func(group int) { told = append(told, group > 1) }
	}
	if got, err := RunShell(t.Context(), o, "cat announced", nil); err != nil || got.Output != "before" {
		t.Errorf("%+v, %v", got, err)
	}
	o.Wrap = func(context.Context, string) ([]string, error) { return []string{"/nowhere/sh"}, nil }
	if _, err := RunShell(t.Context(), o, "true", nil); err == nil {
		t.Error("there is no such shell")
	}
	if !slices.Equal(told, []bool{true, false}) {
		t.Errorf("told of groups: %v", told)
	}
}
