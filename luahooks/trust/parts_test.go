package trust

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// The parts of a Guard, each without it.

func TestProcessesOfAProgramThatEndedAreWaitedFor(t *testing.T) {
	t.Parallel()
	here := BootID()
	for name, c := range map[string]struct {
		left          Window
		open          bool // a window of this program is
		ended, atWork bool
		waits         []int
	}{
		"nothing lives":                   {left: Window{Groups: []int{8}, Boot: here}, ended: true},
		"of another start of the machine": {left: Window{Groups: []int{7}, Boot: "before"}, ended: true},
		"every change is asked about":     {left: Window{Boot: here, Asks: true}},
		"a process lives":                 {left: Window{Groups: []int{7}, Boot: here}, atWork: true, waits: []int{7}},
		"and is waited for":               {left: Window{Groups: []int{7}, Boot: here}, open: true, ended: true, waits: []int{7}},
		"nothing is known of it":          {left: Window{lost: true, Boot: here}, open: true, atWork: true},
		"its program lives":               {left: Window{lives: true, Groups: []int{7}, Boot: here}, atWork: true},
		"it lives, and rests":             {left: Window{lives: true, rests: true, Boot: here}},
	} {
		s := &state{others: programs{alive: func(group int) bool { return group == 7 }}}
		if c.open {
			s.window, s.mark = &openWindow{}, &Running{}
		}
		ended := s.endedWindows(map[string]Window{"left": c.left})
		waits := s.others.inherited
		if c.open {
			waits = s.window.groups
		}
		if len(ended) == 1 != c.ended || s.others.atWork != c.atWork || !slices.Equal(waits, c.waits) {
			t.Errorf("%s: ended %v, at work %v, waits for %v", name, ended, s.others.atWork, waits)
		}
	}
}

func TestAProgramThatAToolStartedIsOneOfItsWindow(t *testing.T) {
	t.Parallel()
	windows := []Window{{}, {Groups: []int{1, 7}}}
	for _, c := range []struct {
		own  []int
		want bool
	}{{[]int{7, 3}, true}, {[]int{3, 7}, true}, {[]int{8, 9}, false}, {[]int{1, 0}, false}, {nil, false}} {
		p := programs{own: c.own}
		if got := p.includeThis(windows); got != c.want {
			t.Errorf("group and session %v: %v", c.own, got)
		}
	}
}

// guardsOfTwo are the guard of a program with an open window, and a function that returns that of
// another program, of a group of its own.
func guardsOfTwo(t *testing.T) (first *Guard, another func(group int) *Guard) {
	t.Helper()
	_, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	o.Alive = func(int) bool { return true }
	first, err := NewGuard(o)
	must(t, err)
	must(t, first.OpenWindow(first.state.home.places(), nil, false))
	t.Cleanup(first.Close) // it lives until then
	return first, func(group int) *Guard {
		o.Own = []int{group, group}
		g, err := NewGuard(o)
		must(t, err)
		return g
	}
}

// TestWhatIsBeingStartedApprovesNothing stops a program between the start of a process and the
// moment in which it has its group: nobody approves meanwhile, and the process never does.
func TestWhatIsBeingStartedApprovesNothing(t *testing.T) {
	t.Parallel()
	first, another := guardsOfTwo(t)
	of := another(4711)
	must(t, another(815).ApproveAlways(nil)) // a user, while tools are at work
	ended, started := first.Starting(), first.Starting()
	ended(0) // could not be started; the other one still is
	answers := make(chan error)
	go func() { answers <- of.ApproveAlways(nil) }()
	started(4711) // before it asked or after
	if err := <-answers; !errors.Is(err, errOfTool) {
		t.Errorf("the process: %v", err)
	}
	if err := of.Refuse(); !errors.Is(err, errOfTool) {
		t.Errorf("the process refuses: %v", err)
	}
	must(t, another(815).ApproveAlways(nil))
	if text := markText(t, first); !strings.HasSuffix(text, "\ngroup 4711\n") {
		t.Errorf("the mark is %q", text)
	}
}

func markText(t *testing.T, g *Guard) string {
	t.Helper()
	text, err := os.ReadFile(g.state.mark.path())
	must(t, err)
	return string(text)
}

// TestAProgramThatStandsStillLetsNobodyApprove holds that there is an end to the waiting for what
// a program has to write down, and that it is a refusal.
func TestAProgramThatStandsStillLetsNobodyApprove(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(g *Guard){
		"starting":      func(g *Guard) { g.Starting() },
		"a harmed mark": func(g *Guard) { must(t, os.Truncate(g.state.mark.path(), 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, another := guardsOfTwo(t)
			harm(first)
			if err := another(815).ApproveAlways(nil); !errors.Is(err, errUnsure) {
				t.Errorf("approved: %v", err)
			}
		})
	}
}

// TestAKillWhileAProcessIsStartedHoldsUntilAUserHasApproved: of what was started nobody knows
// the group.
func TestAKillWhileAProcessIsStartedHoldsUntilAUserHasApproved(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
	path := filepath.Join(root, "agent/hooks/a.lua")
	write := func(text string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }
	start := func() *Guard {
		g, err := NewGuard(o)
		must(t, err)
		return g
	}
	first := start()
	must(t, first.OpenWindow(first.state.home.places(), nil, false))
	first.Starting()
	first.TestOnlyKill()
	second := start()
	write("-- two") // by what was being started
	look := func(g *Guard, want string, pending bool) {
		t.Helper()
		g.Judge(map[string]Scope{path: ScopeGlobal}, true)
		if v := g.Read(path); string(v.Code) != want || g.IsPending(path) != pending {
			t.Errorf("in force is %q, pending %v", v.Code, g.IsPending(path))
		}
	}
	second.Read(path)
	look(second, "-- one", true)
	second.ShowPending()
	must(t, second.Accept(path))
	third := start()
	look(third, "-- two", false)
	write("-- three")
	look(third, "-- three", false)
}

// TestAWindowWaitsForWhatIsBeingStarted holds that no window is closed between the start of a
// process and the moment in which its group is known.
func TestAWindowWaitsForWhatIsBeingStarted(t *testing.T) {
	t.Parallel()
	first, _ := guardsOfTwo(t)
	started := first.Starting()
	if first.CloseWindow() || first.EndRun() {
		t.Error("closed")
	}
	if looked, waits := first.CloseIdleWindow(); looked || !waits {
		t.Errorf("looked %v, waits %v", looked, waits)
	}
	started(0)
	if looked, waits := first.CloseIdleWindow(); !looked || waits {
		t.Errorf("with nothing started: looked %v, waits %v", looked, waits)
	}
}

func TestAHomeKnowsWhatAFileIs(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{
		"agent/auth.json":   `{"a": {"key": "!cat key"}, "b": {"key": "secret"}}`,
		"agent/config.toml": "key = 1",
	})
	at := func(name string) string { return filepath.Join(root, name) }
	o.Mask = func(settings []byte) ([]byte, bool) { return []byte("masked"), string(settings) == "key = 1" }
	h := newHome(o)
	h.named[at("elsewhere/h.lua")] = true
	for name, want := range map[string]string{
		"agent/hooks/a.lua":         "hook a",
		"agent/hooks/a_test.lua":    "module a_test.lua", // a test is no hook
		"agent/hooks/b/init.lua":    "hook b",
		"agent/hooks/b/m.lua":       "module m.lua",
		"project/.pi/hooks/p.lua":   "hook p",
		"elsewhere/h.lua":           "hook h",
		"elsewhere/m.lua":           "module m.lua",
		"agent/config.toml":         "settings config.toml",
		"project/.pi/config.toml":   "settings config.toml",
		"agent/auth.json":           "commands of keys auth.json",
		"project/hooks/a/b/init.go": "module init.go",
	} {
		if p := h.pending(at(name), &pendingFile{now: Version{Sum: "x"}}); p.Kind+" "+p.Name != want || p.Change != "added" {
			t.Errorf("%s: %s %s %s", name, p.Change, p.Kind, p.Name)
		}
	}
	if v := h.onDisk(h.keys); string(v.Code) != "!cat key" {
		t.Errorf("of the keys count %q", v.Code)
	}
	if v := h.onDisk(at("agent/config.toml")); string(h.shownCode(at("agent/config.toml"), v)) != "masked" {
		t.Error("a key is shown")
	}
	if !h.inHooks(at("agent/hooks/x/y.lua")) || h.inHooks(at("agent/y.lua")) {
		t.Error("the folders of hooks are others")
	}
}

func TestApprovalsAreForBytes(t *testing.T) {
	t.Parallel()
	_, o := homeOf(t, nil)
	h := newHome(o)
	a := newApprovals(h)
	a.run["/p/a.lua"] = "1"
	for sum, want := range map[string]bool{"1": true, "2": false, "": false, Unreadable: false} {
		if a.isApproved("/p/a.lua", sum) != want || a.isApproved("/p/b.lua", sum) {
			t.Errorf("%q is approved: %v", sum, !want)
		}
	}
	a.run["/p/a.lua"] = Unreadable
	if a.isApproved("/p/a.lua", Unreadable) {
		t.Error("what cannot be read is approved")
	}
	store, err := Open(o.AgentDir)
	must(t, err)
	h.store = store
	must(t, store.Change(always, approve(o.Project, "/p/b.lua", "b")))
	if !a.isApproved("/p/b.lua", Sum([]byte("b"))) || a.isApproved("/p/b.lua", "1") {
		t.Error("the store does not count")
	}
}

func TestApprovalIsForWhatWasListedOrAcceptedSince(t *testing.T) {
	t.Parallel()
	a := newApprovals(&home{})
	a.run["later"] = "2"
	files := []ProjectFile{{Path: "same", SHA256: "1"}, {Path: "later", SHA256: "1"}, {Path: "changed", SHA256: "1"}, {Path: "gone", SHA256: "1"},
		{Path: "unread", SHA256: "1"}, {Path: "unreadable", SHA256: Unreadable}}
	got := a.approvable(files, map[string]Version{"same": {Sum: "1"}, "later": {Sum: "2"}, "changed": {Sum: "2"}, "gone": {Err: os.ErrNotExist}, "unreadable": {Sum: Unreadable}})
	want := map[string]string{"same": "1", "later": "2", "changed": "1", "unread": "1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestFilesOfAProjectThatChangeWithinMomentsChangeAtOnce(t *testing.T) {
	t.Parallel()
	code := Version{Sum: "new", Code: []byte("x")}
	p, q := change{path: "p", scope: ScopeProject, is: code}, change{path: "q", scope: ScopeProject, is: code}
	old := change{path: "o", scope: ScopeProject, is: Version{Sum: "approved", Code: []byte("o")}}
	mine, gone := change{path: "m", scope: ScopeGlobal, is: code}, change{path: "g", scope: ScopeProject}
	type look struct {
		after   time.Duration
		changes []change
	}
	looks := func(l ...look) []look { return l }
	for name, c := range map[string]struct {
		looks []look
		crowd bool // at the last of them
	}{
		"one":                            {looks(look{0, []change{p}}), false},
		"two in one look":                {looks(look{0, []change{p, q}}), true},
		"a look in between":              {looks(look{0, []change{p}}, look{atOnce - 1, []change{q}}), true},
		"the same again":                 {looks(look{0, []change{p}}, look{1, []change{p}}), false},
		"the other much later":           {looks(look{0, []change{p}}, look{atOnce, []change{q}}), false},
		"and then one alone":             {looks(look{0, []change{p, q}}, look{atOnce, []change{p}}), false},
		"one that is approved":           {looks(look{0, []change{old, p}}), false},
		"one of the agent directory":     {looks(look{0, []change{p}}, look{1, []change{mine}}), false},
		"one of each":                    {looks(look{0, []change{mine, p}}), false},
		"one that is gone":               {looks(look{0, []change{gone, p}}), false},
		"with a look that finds nothing": {looks(look{0, []change{p}}, look{1, nil}, look{1, []change{q}}), true},
	} {
		a, now, crowd := newApprovals(&home{}), time.Now(), false
		a.run["o"] = "approved"
		for _, l := range c.looks {
			now = now.Add(l.after)
			crowd = a.noteChanges(l.changes, now)
		}
		if crowd != c.crowd {
			t.Errorf("%s: %v", name, crowd)
		}
	}
}

func TestANoticeIsToldOnce(t *testing.T) {
	t.Parallel()
	g := NewForRun(t.TempDir())
	g.state.noteInstructions("/a/AGENTS.md")
	g.state.noteInstructions("/a/AGENTS.md")
	if n := g.TakeNotices(); len(n.Lines) != 1 || len(g.TakeNotices().Lines) != 0 {
		t.Errorf("%+v", n)
	}
}

// TestWhatAToolStartedApprovesNothingOfADamagedStore: the files of the windows tell who started it.
func TestWhatAToolStartedApprovesNothingOfADamagedStore(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		_, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
		o.Alive = func(int) bool { return true }
		first, err := NewGuard(o)
		must(t, err)
		must(t, first.OpenWindow(first.state.home.places(), nil, false))
		first.Starting()(4711)
		store := first.Store().Path()
		must(t, os.Remove(store))
		if killed {
			first.TestOnlyKill()
		}
		for group, want := range map[int]error{4711: errOfTool, 815: nil} {
			o.Own = []int{group, group}
			g, err := NewGuard(o)
			if err == nil || g.Damaged() == nil {
				t.Fatal("it is not damaged")
			}
			g.ShowPending()
			if err := g.Accept(store); !errors.Is(err, want) {
				t.Errorf("group %d, killed %v: %v", group, killed, err)
			}
			must(t, os.RemoveAll(store))
		}
		first.Close()
	}
}

func TestOnlyAUserMendsADamagedStore(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one", "agent/AGENTS.md": "one", "project/.pi/hooks/p.lua": "-- p"})
	s, err := Open(o.AgentDir)
	must(t, err)
	must(t, s.Change(always, func(*Data) {}))
	must(t, os.Truncate(s.Path(), 0))
	g, err := NewGuard(o)
	if err == nil {
		t.Fatal("it is not damaged")
	}
	must(t, g.OpenWindow(g.state.home.places(), nil, false))
	must(t, os.WriteFile(filepath.Join(root, "agent/AGENTS.md"), []byte("two"), 0o600))
	g.EndRun()
	for name, decide := range map[string]func() error{
		"always": func() error { return g.ApproveAlways(g.ProjectFiles(g.state.home.places())) },
		"never":  g.Refuse,
		"revoke": g.Revoke,
	} {
		if err := decide(); err == nil || !strings.Contains(err.Error(), "nothing in it counts") {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.Close()
	if _, err := Open(o.AgentDir); err == nil {
		t.Error("it was mended, and nobody has seen what there is")
	}
}

// TestWhileToolsAreAtWorkAStoreMayOnlySayMore holds which store of another program, or of a tool,
// replaces what this one knows.
func TestWhileToolsAreAtWorkAStoreMayOnlySayMore(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- a"})
	hooks, project := filepath.Join(root, "agent/hooks"), filepath.Join(root, "project")
	sum, evil := Sum([]byte("-- a")), Sum([]byte("evil"))
	at := func(name string) string { return filepath.Join(hooks, name) }
	mine := func() Data {
		d := empty()
		d.Project(project).Files[project+"/p.lua"] = sum
		d.Known.Files[at("a.lua")], d.Known.Dirs[hooks] = File{Sum: sum}, string(ScopeGlobal)
		d.Pending[at("a.lua")] = Mark{Old: sum, New: evil}
		d.Pending[at("b.lua")] = Mark{Old: evil, New: sum}
		return d
	}
	for name, c := range map[string]struct {
		change func(d *Data)
		counts bool
	}{
		"the same":                            {func(*Data) {}, true},
		"another window":                      {func(d *Data) { d.Windows["running-2"] = Window{} }, true},
		"files of another project":            {func(d *Data) { d.Known.Files["/q/p.lua"], d.Known.Dirs["/q"] = File{Sum: sum}, string(ScopeProject) }, true},
		"a mark in another project":           {func(d *Data) { d.Pending["/q/p.lua"] = Mark{Old: evil, Scope: string(ScopeProject)} }, true},
		"a mark that is right":                {func(d *Data) { d.Pending[at("new.lua")] = Mark{New: evil} }, true},
		"without the mark of what was undone": {func(d *Data) { delete(d.Pending, at("a.lua")) }, true},
		"another approval":                    {func(d *Data) { d.Project("/q").Files["/q/p.lua"] = sum }, false},
		"an approval less":                    {func(d *Data) { d.Projects = map[string]*Project{} }, false},
		"a refusal":                           {func(d *Data) { d.Project(project).Never = true }, false},
		"another active version":              {func(d *Data) { d.Known.Files[at("a.lua")] = File{Sum: evil} }, false},
		"an active version less":              {func(d *Data) { delete(d.Known.Files, at("a.lua")) }, false},
		"a directory less":                    {func(d *Data) { d.Known.Dirs = map[string]string{} }, false},
		"a version of what was not there":     {func(d *Data) { d.Known.Files[at("new.lua")] = File{Sum: evil} }, false},
		"without the mark of what differs":    {func(d *Data) { delete(d.Pending, at("b.lua")) }, false},
		"a mark with another version":         {func(d *Data) { d.Pending[at("b.lua")] = Mark{Old: sum, New: sum} }, false},
		"a mark with another copy":            {func(d *Data) { d.Pending[at("b.lua")] = Mark{Old: evil, Kept: sum, New: sum} }, false},
		"a mark that makes active":            {func(d *Data) { d.Pending[at("new.lua")] = Mark{Old: evil} }, false},
		"a mark beyond what is known":         {func(d *Data) { d.Pending["/q/p.lua"] = Mark{Old: evil} }, false},
	} {
		g, err := NewGuard(o)
		must(t, err)
		s := &g.state
		s.window = &openWindow{}
		s.ledger.pending[at("a.lua")] = &pendingFile{active: onDisk(at("a.lua"))} // it is again what it was
		theirs := mine()
		if c.change(&theirs); s.mayCount(mine(), theirs) != c.counts {
			t.Errorf("%s: it counts: %v", name, !c.counts)
		}
		s.window = nil
		if !s.mayCount(mine(), theirs) {
			t.Errorf("%s: it does not count though no tool is at work", name)
		}
		if s.others.atWork = true; s.mayCount(mine(), theirs) != c.counts {
			t.Errorf("%s: tools of another program are at work, and it counts: %v", name, !c.counts)
		}
	}
}

func TestAWindowThatSomebodyTookOutOfTheStoreIsThereAgain(t *testing.T) {
	t.Parallel()
	first, another := guardsOfTwo(t)
	must(t, another(815).Store().Change(always, func(d *Data) { clear(d.Windows) }))
	first.WithholdChanges()
	if windows := another(815).Store().OtherWindows(nil); len(windows) != 1 {
		t.Errorf("windows are %+v", windows)
	}
	// Where it cannot be written again, the mark at least says that tools are at work.
	first.CloseWindow()
	must(t, another(815).Store().Change(always, func(d *Data) { clear(d.Windows) }))
	first.Store().TestOnlyFails = errors.New("no space left")
	if first.OpenWindow(first.state.home.places(), nil, false) == nil {
		t.Error("the disk is full")
	}
	if text := markText(t, first); !strings.HasPrefix(text, "+ ") {
		t.Errorf("the mark is %q", text)
	}
	first.Store().TestOnlyFails = nil
}

// TestAProgramRemovesNoMarkOfAnother holds that a file which a program once held back, and which a
// user approved there or elsewhere, is held back when tools of another one change it again.
func TestAProgramRemovesNoMarkOfAnother(t *testing.T) {
	t.Parallel()
	for _, approvedHere := range []bool{true, false} {
		root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "-- one"})
		path := filepath.Join(root, "agent/hooks/a.lua")
		start := func() *Guard {
			t.Helper()
			g, err := NewGuard(o)
			must(t, err)
			return g
		}
		run := func(g *Guard, tool func()) {
			t.Helper()
			must(t, g.OpenWindow(g.state.home.places(), nil, false))
			tool()
			if !g.EndRun() {
				t.Fatal("the window is open")
			}
		}
		write := func(text string) func() { return func() { must(t, os.WriteFile(path, []byte(text), 0o600)) } }
		here := start()
		run(here, write("-- two"))
		there := start()
		approver, other := there, here
		if approvedHere {
			approver, other = here, there
		}
		approver.ShowPending()
		must(t, approver.Accept(path))
		run(other, func() {})
		if here.IsPending(path) || there.IsPending(path) {
			t.Fatal("it still waits where nobody approved it")
		}
		run(there, write("-- three"))
		must(t, here.ApproveAlways(nil)) // of files of the project
		if _, marked := there.Store().Marks()[path]; !marked {
			t.Fatal("its mark is not known to the program itself")
		}
		next := start()
		if v := next.Read(path); !next.IsPending(path) || string(v.Code) != "-- two" {
			t.Errorf("approved here %v: the next start runs %q", approvedHere, v.Code)
		}
	}
}

func TestAStoreThatWasRemovedIsAcceptedOnlyAsItWasShown(t *testing.T) {
	t.Parallel()
	first, _ := guardsOfTwo(t)
	store := first.Store().Path()
	must(t, os.Remove(store))
	first.WithholdChanges()
	first.CloseWindow()
	if err := first.Accept(store); !errors.Is(err, ErrChangedAgain) {
		t.Errorf("accepted unseen: %v", err)
	}
	first.ShowPending()
	must(t, first.Accept(store))
}
