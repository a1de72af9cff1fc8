package trust

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// homeOf is an agent directory and a project with the files of texts, by their path below
// both.
func homeOf(t *testing.T, texts map[string]string) (root string, o GuardOptions) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"agent/hooks", "project/.pi/hooks"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for name, text := range texts {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	return root, GuardOptions{AgentDir: filepath.Join(root, "agent"), Project: filepath.Join(root, "project")}
}

func TestAWindowHoldsWhatChangedUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	path := filepath.Join(root, "agent/hooks/a.lua")
	g, err := NewGuard(o)
	must(t, err)
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	must(t, os.WriteFile(path, []byte("-- two"), 0o644))
	if !g.CloseWindow() {
		t.Error("the window is open")
	}
	n := g.TakeNotices()
	if len(n.Began) != 1 || n.Began[0].Path != path || n.Began[0].Change != "changed" || len(g.TakeNotices().Began) != 0 {
		t.Errorf("told of %+v", n.Began)
	}
	if list := g.TakeUnasked(); len(list) != 1 || len(g.TakeUnasked()) != 0 {
		t.Errorf("a person is to be asked about %+v", list)
	}
	if v := g.Read(path); string(v.Code) != "-- one" || !g.IsPending(path) {
		t.Errorf("in force is %q", v.Code)
	}
	if err := g.Accept(path); !errors.Is(err, ErrChangedAgain) {
		t.Errorf("accepted unseen: %v", err)
	}
	g.ShowPending()
	must(t, g.Accept(path))
	if v := g.Read(path); string(v.Code) != "-- two" || g.IsPending(path) {
		t.Errorf("in force is %q", v.Code)
	}
}

// A gate that is a link into the project is changed by a client that writes again when no
// tool runs any more: through the link, by a new file in a folder that is one, or by taking
// the file away. What the client was given may become a link to the gate, symbolic or hard,
// when it was written. Other sessions of the program see it, those that begin later too. The
// same files changed by a user count at once.
func TestWhatAClientWritesLateIsATools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given string                  // to the client, by a tool
		tool  func(root string) error // what a tool does then; nil: nothing
		late  func(root string) error
		gate  string
	}{
		"a link":            {"project/a.lua", nil, func(root string) error { return os.WriteFile(root+"/project/a.lua", []byte("-- two"), 0o644) }, "agent/hooks/a.lua"},
		"a link, taken out": {"project/a.lua", nil, func(root string) error { return os.Remove(root + "/project/a.lua") }, "agent/hooks/a.lua"},
		"a new file":        {"project/lib/new.lua", nil, func(root string) error { return os.WriteFile(root+"/project/lib/new.lua", []byte("-- two"), 0o644) }, "agent/hooks/lib/new.lua"},
		"a link that is made later": {"project/x.lua", func(root string) error { return os.Symlink("../agent/hooks/b.lua", root+"/project/x.lua") },
			func(root string) error { return os.WriteFile(root+"/project/x.lua", []byte("-- two"), 0o644) }, "agent/hooks/b.lua"},
		"a folder that becomes a link": {"project/sub/b.lua", func(root string) error { return os.Symlink("../agent/hooks", root+"/project/sub") },
			func(root string) error { return os.WriteFile(root+"/project/sub/b.lua", []byte("-- two"), 0o644) }, "agent/hooks/b.lua"},
		"a hard link that is made later": {"project/x.lua", func(root string) error { return os.Link(root+"/agent/hooks/b.lua", root+"/project/x.lua") },
			func(root string) error { return os.WriteFile(root+"/project/x.lua", []byte("-- two"), 0o644) }, "agent/hooks/b.lua"},
	} {
		for _, at := range []string{"the next start", "the next tool", "another session", "a new session", "nobody's but a person's"} {
			t.Run(name+"/"+at, func(t *testing.T) {
				t.Parallel()
				root, o := homeOf(t, map[string]string{"project/a.lua": "-- one", "agent/hooks/b.lua": "-- b"})
				must(t, os.Mkdir(filepath.Join(root, "project/lib"), 0o755))
				must(t, os.Symlink("../../project/a.lua", filepath.Join(root, "agent/hooks/a.lua")))
				must(t, os.Symlink("../../project/lib", filepath.Join(root, "agent/hooks/lib")))
				gate := filepath.Join(root, c.gate)
				o.Clients = new(ClientFiles)
				g, err := NewGuard(o)
				must(t, err)
				places := g.state.home.places()
				places.Discover(g) // reads what there is
				another, err := NewGuard(o)
				must(t, err)
				another.Read(gate)
				must(t, g.OpenWindow(places, nil, false))
				byUser := at == "nobody's but a person's"
				if !byUser {
					g.NoteClientWrites(filepath.Join(root, c.given))
				}
				if c.tool != nil {
					must(t, c.tool(root))
				}
				if !g.EndRun() {
					t.Fatal("the window is open")
				}
				must(t, c.late(root))
				switch at {
				case "the next tool":
					must(t, g.OpenWindow(places, nil, false))
					if !g.IsPending(gate) || !g.EndRun() {
						t.Error("it is not held back in the session")
					}
				case "another session":
					if ask, _ := another.Judge(map[string]Scope{gate: ScopeGlobal}, true); len(ask) != 0 || !another.IsPending(gate) {
						t.Error("it is not held back in the other session")
					}
				case "a new session":
					g.Close()
					begun, err := NewGuard(o)
					must(t, err)
					if !begun.IsPending(gate) {
						t.Error("it is not held back in the session that begins")
					}
					begun.Close()
				}
				another.Close()
				g.Close()
				o.Clients = nil // another program
				next, err := NewGuard(o)
				must(t, err)
				if next.IsPending(gate) == byUser {
					t.Errorf("it waits for a person: %v", !byUser)
				}
				next.Close()
			})
		}
	}
}

func TestOnlyWhatAUserWasShownIsAcceptedThoughOthersLook(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	path := filepath.Join(root, "agent/hooks/a.lua")
	g, err := NewGuard(o)
	must(t, err)
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	must(t, os.WriteFile(path, []byte("-- two"), 0o644))
	g.CloseWindow()
	g.TakeNotices()
	shown := g.TakeUnasked()
	must(t, os.WriteFile(path, []byte("-- three"), 0o644))
	var looking sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		looking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					g.ShowPending()
				}
			}
		})
	}
	for range 200 {
		if err := g.AcceptExactly(shown[0]); !errors.Is(err, ErrChangedAgain) {
			t.Errorf("another version was accepted: %v", err)
			break
		}
	}
	close(done)
	looking.Wait()
}

// TestALinkThatLeadsElsewhereSinceItWasShownIsNotAccepted: the files beside the one that it leads to
// are modules of the hook, whatever its own bytes are.
func TestALinkThatLeadsElsewhereSinceItWasShownIsNotAccepted(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one", "project/a.lua": "-- one", "project/.pi/a.lua": "-- one"})
	path := filepath.Join(root, "agent/hooks/a.lua")
	lead := func(to string) { must(t, errors.Join(os.Remove(path), os.Symlink(filepath.Join(root, to), path))) }
	g, err := NewGuard(o)
	must(t, err)
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	lead("project/a.lua")
	g.CloseWindow()
	g.ShowPending()
	lead("project/.pi/a.lua")
	if err := g.Accept(path); !errors.Is(err, ErrChangedAgain) {
		t.Errorf("accepted: %v", err)
	}
	g.ShowPending()
	must(t, g.Accept(path))
}

func TestAWindowWaitsForTheProcessesOfItsTools(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	path, lives := filepath.Join(root, "agent/hooks/a.lua"), true
	o.Alive = func(int) bool { return lives }
	g, err := NewGuard(o)
	must(t, err)
	if looked, waits := g.CloseIdleWindow(); looked || waits {
		t.Error("there is no window")
	}
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	g.Starting()(4711)
	if looked, waits := g.CloseIdleWindow(); looked || waits {
		t.Error("tools run, so nothing waits")
	}
	if g.CloseWindow() {
		t.Error("closed while a process lives")
	}
	if looked, waits := g.CloseIdleWindow(); looked || !waits {
		t.Error("closed while a process lives")
	}
	must(t, os.WriteFile(path, []byte("-- two"), 0o644))
	lives = false
	if looked, waits := g.CloseIdleWindow(); !looked || waits || !g.IsPending(path) {
		t.Error("what the process changed is not held")
	}
}

func TestOfAProjectRunsWhatIsApproved(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"project/.pi/hooks/p.lua": `local m = require "m"`, "project/.pi/hooks/m.lua": "return 1"})
	g, err := NewGuard(o)
	must(t, err)
	at := Places{AgentDir: o.AgentDir, Cwd: o.Project}
	p := at.Discover(g).Sources[1] // after the module, which is a hook too by its place
	if p.Name != "p" || g.MayRun(p) || g.HasApprovals() {
		t.Fatalf("%s runs unapproved", p.Name)
	}
	files := g.ProjectFiles(at)
	g.ApproveRun(files[1:])
	if !g.MayRun(p) {
		t.Error("it does not run")
	}
	find := func() error {
		_, _, err := g.FindModule(Required{Hook: p, Name: "m", Loading: true, Shown: filepath.Base, Looked: func(string, string) {}})
		return err
	}
	if err := find(); !errors.Is(err, ErrNotApproved) {
		t.Errorf("the module is there: %v", err)
	}
	must(t, g.ApproveAlways(files))
	must(t, find())
	again, err := NewGuard(o)
	must(t, err)
	if !again.MayRun(p) {
		t.Error("always is forgotten")
	}
	must(t, again.Refuse())
	if again.MayRun(p) || !again.IsRefused() {
		t.Error("never is forgotten")
	}
	must(t, os.WriteFile(filepath.Join(root, "project/.pi/hooks/p.lua"), []byte("-- other"), 0o644))
	must(t, again.Revoke())
	if again.IsRefused() || again.MayRun(p) {
		t.Error("it runs unapproved")
	}
}

// recordHarms are what a tool may do to what the program with its agent directory at dir wrote down.
func recordHarms(dir string) map[string]func() error {
	file, folder := filepath.Join(dir, "trust.json"), filepath.Join(dir, "trust")
	window := func(do func(path string) error) func() error {
		return func() error {
			paths, err := filepath.Glob(filepath.Join(folder, "running-*"))
			if err != nil || len(paths) != 1 {
				return fmt.Errorf("the windows are %v, %v", paths, err)
			}
			return do(paths[0])
		}
	}
	rewrite := func(path, with string) error { // in place, as many bytes as it has
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.Repeat([]byte(with), int(info.Size())), 0o600)
	}
	return map[string]func() error{
		"window removed":      window(os.Remove),
		"window emptied":      window(func(path string) error { return os.Truncate(path, 0) }),
		"window moved":        window(func(path string) error { return os.Rename(path, path+"x") }),
		"window replaced":     window(func(path string) error { return errors.Join(os.Rename(path, path+"x"), os.WriteFile(path, nil, 0o600)) }),
		"window longer":       window(func(path string) error { return os.Truncate(path, 1<<20) }),
		"window forbidden":    window(func(path string) error { return os.Chmod(path, 0) }),
		"window rewritten":    window(func(path string) error { return rewrite(path, "x") }),
		"window a folder":     window(func(path string) error { return errors.Join(os.Remove(path), os.MkdirAll(path+"/x", 0o700)) }),
		"directory forbidden": func() error { return os.Chmod(folder, 0) },
		"directory removed":   func() error { return os.RemoveAll(folder) },
		"directory renamed":   func() error { return os.Rename(folder, folder+"x") },
		"directory a link":    func() error { return errors.Join(os.Rename(folder, folder+"x"), os.Symlink(folder+"x", folder)) },
		"directory a file":    func() error { return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)) },
		"store removed":       func() error { return os.Remove(file) },
		"store emptied":       func() error { return os.Truncate(file, 0) },
		"store rewritten":     func() error { return rewrite(file, "{") },
		"store forbidden":     func() error { return os.Chmod(file, 0) },
		"store forged": func() error {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, bytes.ReplaceAll(text, []byte(Sum([]byte("-- one"))), []byte(Sum([]byte("-- evil")))), 0o600)
			}
			return err
		},
		"the file and windows": window(func(path string) error { return errors.Join(os.Remove(path), os.Remove(file)) }),
		"all":                  func() error { return errors.Join(os.RemoveAll(folder), os.RemoveAll(file)) },
	}
}

// TestWhatIsDoneToTheRecordsHoldsEverythingBack: a program that ends puts right what it can. Where
// it was killed a version may be lost, but none that a tool wrote is active.
func TestWhatIsDoneToTheRecordsHoldsEverythingBack(t *testing.T) {
	t.Parallel()
	for name := range recordHarms("") {
		for _, end := range []string{"ended", "killed", "killed, and a process lives"} {
			root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one", "agent/hooks/gate.lua": "-- gate"})
			hook, gate, lives := filepath.Join(root, "agent/hooks/a.lua"), filepath.Join(root, "agent/hooks/gate.lua"), true
			o.Alive = func(int) bool { return lives }
			g, err := NewGuard(o)
			must(t, err)
			must(t, g.OpenWindow(g.state.home.places(), nil, false))
			g.Starting()(4711)
			must(t, recordHarms(o.AgentDir)[name]())
			if end == "ended" {
				g.EndRun()
				g.Close()
			} else {
				g.TestOnlyKill()
			}
			must(t, errors.Join(os.WriteFile(hook, []byte("-- evil"), 0o600), os.Remove(gate)))
			lives = end == "killed, and a process lives"
			again, _ := NewGuard(o) // of what is lost it says so
			v, was, pending := again.Read(hook), again.Read(gate), again.ShowPending()
			switch {
			case string(v.Code) == "-- evil":
				t.Errorf("%s, %s: what a tool wrote is active", name, end)
			case again.Damaged() == nil && was.Sum == "":
				t.Errorf("%s, %s: the gate is gone, and nobody says so", name, end)
			case len(pending) == 0:
				t.Errorf("%s, %s: nothing waits", name, end)
			case end == "ended" && (string(v.Code) != "-- one" || string(was.Code) != "-- gate" || !again.IsPending(hook) || !again.IsPending(gate)):
				t.Errorf("%s, %s: active is %q, %v; pending is %+v", name, end, v.Code, v.Err, pending)
			}
			again.Close()
		}
	}
}
