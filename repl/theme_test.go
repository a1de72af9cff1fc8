package repl

import (
	"os"
	"path/filepath"
	"testing"
)

func TestThemeOfTheTerminalFollowsItsOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
	}{{"NO_COLOR", Options{NoColor: true}}, {"--plain", Options{Plain: true}}, {"dumb", Options{Dumb: true}}, {"no terminal", Options{}}} {
		if c.o.Out = os.Stdout; c.name == "no terminal" {
			c.o.Out = notATerminal(t)
		}
		c.o.In = notATerminal(t)
		r := New(c.o)
		if got := r.UI().Theme().Paint("error", "x"); got != "x" {
			t.Errorf("%s: %q", c.name, got)
		}
		r.Close()
	}
}

func notATerminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
