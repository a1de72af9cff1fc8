//go:build unix

package stdlib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDestinationIsWhereTheSystemGoes(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"out": "deep/er", "nowhere": "not/there", "up": "..", "absolute": filepath.Join(dir, "deep"), "loop": "loop", "chain": "out/../to",
		"deep/to": "../secret",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a": "a", "./a//b/": "a/b", "deep/../a": "a", "a/../b": "b", "out": "deep/er", "out/..": "deep", "out/../x": "deep/x",
		"nowhere": "not/there", "nowhere/x": "not/there/x", "absolute/er": "deep/er", "chain": "secret", "out/../to": "secret",
		"up/" + filepath.Base(dir) + "/deep": "deep", strings.Repeat("a", 300): strings.Repeat("a", 300),
	} {
		got, err := destination(dir + "/" + path)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	if got, err := destination(filepath.Join(dir, "loop")); err == nil || !strings.Contains(err.Error(), "more than 255 links") {
		t.Errorf("loop: %s, %v", got, err)
	}
	if got, err := destination("/.."); err != nil || got != "/" {
		t.Errorf("above the root: %s, %v", got, err)
	}
}
