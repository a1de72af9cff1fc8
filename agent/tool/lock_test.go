package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent"
	"pi/internal/filelock"
)

// A hook that never lets go, such as one that waits for the very run, does not stop the run.
func TestAChangeDoesNotWaitForALockForever(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("of the hook"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		locks := filelock.New("")
		within, release, err := locks.Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		k := newKit(Options{Cwd: dir, Locks: locks})
		was, is := "of the hook", "of the tool"
		for name, change := range map[string]func() (agent.Result, error){
			"write": func() (agent.Result, error) { return k.write(t.Context(), writeArgs{"a.txt", is}, nil) },
			"edit": func() (agent.Result, error) {
				return k.edit(t.Context(), editArgs{Path: "a.txt", OldText: &was, NewText: &is}, nil)
			},
		} {
			began := time.Now()
			_, err := change()
			if err == nil || !strings.Contains(err.Error(), name+" a.txt: a hook or another program has kept it locked for a minute") || time.Since(began) != lockPatience {
				t.Errorf("%s, after %v: %v", name, time.Since(began), err)
			}
		}
		if text, _ := os.ReadFile(path); string(text) != was {
			t.Errorf("the file is %q", text)
		}
		if _, err := k.write(within, writeArgs{"a.txt", is}, nil); err != nil {
			t.Errorf("what the hook calls itself: %v", err)
		}
		release()
	})
}
