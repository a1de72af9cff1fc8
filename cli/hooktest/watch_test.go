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
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(other, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	runs, ended := make(chan bool), make(chan error)
	go func() {
		ended <- Watch(ctx, []string{dir}, func(used func(path string)) {
			used(filepath.Join(other, "hook.lua"))
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
	for _, path := range []string{filepath.Join(dir, "a_test.lua"), filepath.Join(dir, "a.lua"), filepath.Join(dir, "a.lua"),
		filepath.Join(other, "hook.lua"), filepath.Join(other, "lib", "words.lua")} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		again(path)
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
	if err := Watch(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, func(func(string)) {}); err == nil {
		t.Error("no error")
	}
}
