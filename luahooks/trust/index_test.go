//go:build unix

package trust

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// indexed is an agent directory with an index of servers.
type indexed struct {
	t           *testing.T
	agent, path string
}

func newIndexed(t *testing.T) *indexed {
	x := &indexed{t: t, agent: t.TempDir()}
	x.path = indexOfServers(x.agent)
	x.must(os.MkdirAll(filepath.Dir(x.path), 0o700))
	x.must(os.WriteFile(x.path, []byte("what there was"), 0o600))
	return x
}

func (x *indexed) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *indexed) guard() *Guard {
	x.t.Helper()
	g, err := NewGuard(GuardOptions{AgentDir: x.agent, Project: x.t.TempDir()})
	x.must(err)
	x.t.Cleanup(g.Close)
	return g
}

func (x *indexed) work(g *Guard) {
	x.t.Helper()
	x.must(g.OpenWindow(Places{AgentDir: x.agent, Cwd: x.t.TempDir()}, nil, false))
}

// has wants that a guard, and the disk, have a text for the index.
func (x *indexed) has(g *Guard, want string) {
	x.t.Helper()
	if got := string(g.Current(x.path).Code); got != want {
		x.t.Errorf("in force is %q, want %q", got, want)
	}
	if b, _ := os.ReadFile(x.path); string(b) != want {
		x.t.Errorf("the disk has %q, want %q", b, want)
	}
	if list := g.ShowPending(); len(list) > 0 {
		x.t.Errorf("waiting: %+v", list)
	}
}

func with(text string) func([]byte) ([]byte, error) {
	return func(old []byte) ([]byte, error) { return append(bytes.Clone(old), text...), nil }
}

func TestWhatAToolMadeOfTheIndexOfServersIsPutBack(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"written":  func(path string) error { return os.WriteFile(path, []byte("another"), 0o600) },
		"removed":  os.Remove,
		"a pipe":   func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"a link":   func(path string) error { return errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)) },
		"too long": func(path string) error { return os.Truncate(path, MaxHook+1) },
	} {
		for _, killed := range []bool{false, true} {
			x := newIndexed(t)
			g := x.guard()
			x.work(g)
			x.must(harm(x.path))
			if got := string(g.Current(x.path).Code); got != "what there was" {
				t.Errorf("%s: in the window %q is in force", name, got)
			}
			if killed {
				g.WithholdChanges()
				g.TestOnlyKill()
			} else {
				g.CloseWindow()
				n := g.TakeNotices()
				if len(n.Lines) != 1 || !strings.Contains(n.Lines[0], "is as it was again") || len(n.Began) != 0 {
					t.Errorf("%s: told %+v", name, n)
				}
				x.has(g, "what there was")
				g.Close()
			}
			x.has(x.guard(), "what there was")
		}
	}
}

func TestWhatAToolAddsForAnIndexIsTakenAway(t *testing.T) {
	t.Parallel()
	x := newIndexed(t)
	x.must(os.Remove(x.path))
	g := x.guard()
	x.work(g)
	x.must(os.WriteFile(x.path, []byte("a tool's"), 0o600))
	g.CloseWindow()
	x.has(g, "")
}

func TestTheProgramItselfWritesTheIndexWhileToolsRun(t *testing.T) {
	t.Parallel()
	x := newIndexed(t)
	g := x.guard()
	x.must(g.ChangeIndex(x.path, with(", more")))
	x.work(g)
	x.must(os.WriteFile(x.path, []byte("a tool's"), 0o600))
	x.must(g.ChangeIndex(x.path, with(", and more")))
	g.CloseWindow()
	x.has(g, "what there was, more, and more")
	x.work(g)
	x.must(g.ChangeIndex(x.path, with(".")))
	g.TestOnlyKill()
	x.has(x.guard(), "what there was, more, and more.")
}

func TestNobodyElseWritesTheIndexWhileToolsRun(t *testing.T) {
	t.Parallel()
	x := newIndexed(t)
	g, other := x.guard(), x.guard()
	x.work(g)
	if err := other.ChangeIndex(x.path, with("x")); !errors.Is(err, ErrOthersAtWork) {
		t.Errorf("%v", err)
	}
	g.CloseWindow()
	x.must(other.ChangeIndex(x.path, with(", of the other")))
	x.has(g, "what there was, of the other")
	x.work(g)
	g.CloseWindow()
	x.has(g, "what there was, of the other")
}

// While tools of another program are at work the index cannot be put back, and nobody is asked about it.
func TestAChangedIndexKeepsNoOtherProgramFromItsWork(t *testing.T) {
	t.Parallel()
	x := newIndexed(t)
	x.work(x.guard())
	x.must(os.WriteFile(x.path, []byte("another"), 0o600))
	late := x.guard()
	if got := string(late.Current(x.path).Code); got == "another" {
		t.Errorf("in force is %q", got)
	}
	if list := late.ShowPending(); len(list) > 0 {
		t.Errorf("waiting: %+v", list)
	}
}

func TestAnIndexOfServersIsWrittenThoughEveryEditIsAskedAbout(t *testing.T) {
	t.Parallel()
	x := newIndexed(t)
	g, other := x.guard(), x.guard()
	g.AskEdits()
	x.work(g)
	g.EndRun()
	x.must(other.ChangeIndex(x.path, with(", of the other")))
	x.has(g, "what there was, of the other")
	x.must(g.ChangeIndex(x.path, with(", and more")))
	x.has(g, "what there was, of the other, and more")
}
