//go:build unix

package trust

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestBytesThatChangeUnderTheSameStampAreATools changes a file through a page of it that was
// written before: neither its times nor its size show that.
func TestBytesThatChangeUnderTheSameStampAreATools(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(g *Guard, path string){
		"at the end of the run": func(g *Guard, _ string) { g.EndRun() },
		"as the program ends":   func(g *Guard, _ string) { g.Close() },
		"as somebody looks": func(g *Guard, path string) {
			if ask, _ := g.Judge(map[string]Scope{path: ScopeGlobal}, true); len(ask) != 0 {
				t.Errorf("asked about %+v", ask)
			}
		},
	} {
		root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
		path := filepath.Join(root, "agent/hooks/a.lua")
		g, err := NewGuard(o)
		must(t, err)
		g.state.home.now = later
		if v := g.Read(path); string(v.Code) != "-- one" {
			t.Fatalf("in force is %q", v.Code)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		page, err := syscall.Mmap(int(f.Fd()), 0, 6, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		must(t, err)
		page[0] = '-'
		must(t, g.OpenWindow(g.state.home.places(), nil, false))
		before := stampAt(path, later())
		page[3] = 'O'
		if !before.tells() || stampAt(path, later()) != before {
			t.Skip("the page was written back meanwhile, or nothing tells when a file was changed")
		}
		if !g.CloseWindow() || g.IsPending(path) {
			t.Errorf("%s: it was read", name) // or this test shows nothing
		}
		look(g, path)
		if v := g.Read(path); string(v.Code) != "-- one" || !g.IsPending(path) {
			t.Errorf("%s: in force is %q", name, v.Code)
		}
		must(t, syscall.Munmap(page))
		f.Close()
	}
}

func TestWhatAProcessLeftBehindHidesIsFoundWhenItEnds(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	path, lives := filepath.Join(root, "agent/hooks/a.lua"), true
	o.Alive = func(int) bool { return lives }
	g, err := NewGuard(o)
	must(t, err)
	g.state.home.now = later
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	g.Starting()(4711)
	if g.CloseWindow() {
		t.Fatal("closed while a process lives")
	}
	g.state.window.base[path] = Version{Code: []byte("-- two"), Sum: Sum([]byte("-- two")), real: path, stamp: stampAt(path, later())} // as if it had been so
	if g.CloseWindow() || g.IsPending(path) {
		t.Error("it was read while the process lives")
	}
	lives = false
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	if !g.CloseWindow() || !g.IsPending(path) {
		t.Error("it was not read when the last process had ended")
	}
}
