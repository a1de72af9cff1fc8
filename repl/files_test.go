package repl

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTheTitleFromBeforeIsPutBackOnce(t *testing.T) {
	var out strings.Builder
	control := func(sequence string) { out.WriteString(sequence + "|") }
	var x title
	x.name(control, "")
	x.name(control, "")
	x.name(control, "one")
	x.name(control, "two")
	x.name(control, "")
	x.name(control, "")
	if want := titleSave + "|\x1b]2;one\x07|\x1b]2;two\x07|" + titleBack + "|"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestAPastedImageIsAFileOfTheOwnerUntilTheEnd(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var s scratch
	s.remove()
	one, err := s.store([]byte("one"), ".png")
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.store([]byte("two"), ".png")
	if err != nil || one == two || filepath.Dir(one) != filepath.Dir(two) {
		t.Fatalf("%q and %q, %v", one, two, err)
	}
	info, err := os.Stat(one)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.remove()
	if _, err := os.Stat(filepath.Dir(one)); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if three, err := s.store(nil, ".png"); err != nil || three == one {
		t.Errorf("%q, %v", three, err)
	}
	s.remove()
}
