package hooktest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A saved hook or test runs the tests again, also in a folder that is new. Each run is waited
// for before the next change.
func TestWatchRunsAgainAfterASave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	runs, ended := make(chan bool), make(chan error)
	go func() {
		ended <- Watch(ctx, []string{dir}, func() {
			select {
			case runs <- true:
			case <-ctx.Done():
			}
		})
	}()
	again := func(what string) {
		t.Helper()
		select {
		case <-runs:
		case err := <-ended:
			t.Fatalf("%s: %v", what, err)
		}
	}
	again("at once")
	for _, name := range []string{"a_test.lua", "a.lua", "a.lua"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		again(name)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "a.lua"), filepath.Join(dir, "b.lua")); err != nil {
		t.Fatal(err)
	}
	again("a rename")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWatchNeedsWhatIsThere(t *testing.T) {
	t.Parallel()
	if err := Watch(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, func() {}); err == nil {
		t.Error("no error")
	}
}
