package luahooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"pi/agent"
	"pi/luahooks/trust"
)

// guarded are rigs whose agent directory has a store; each is a program of its
// own in the same place.
type guarded struct {
	t     *testing.T
	root  string
	alive atomic.Bool // what tools started
}

func newGuarded(t *testing.T) *guarded {
	root, err := filepath.EvalSymlinks(t.TempDir())
	mustDo(t, err)
	g := &guarded{t: t, root: root}
	for _, dir := range []string{"agent/hooks", "project/.pi/hooks", "project/.git"} {
		mustDo(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	return g
}

func (g *guarded) path(name string) string { return filepath.Join(g.root, filepath.FromSlash(name)) }

func (g *guarded) write(name, code string) {
	g.t.Helper()
	mustDo(g.t, os.MkdirAll(filepath.Dir(g.path(name)), 0o755))
	mustDo(g.t, os.WriteFile(g.path(name), []byte(code), 0o644))
}

// start is a program; answers are what the user says to its questions.
func (g *guarded) start(change ...func(*Options)) *rig {
	g.t.Helper()
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project"), Alive: func(int) bool { return g.alive.Load() }})
	if err != nil {
		g.t.Log(err) // whoever harmed the store on purpose looks at what counts
	}
	places := trust.Places{AgentDir: g.path("agent"), Cwd: g.path("project")}
	r := newRig(g.t, nil, append([]func(*Options){func(o *Options) {
		o.Places, o.Cwd, o.Guard = places, places.Cwd, guard
	}}, change...)...)
	r.dir, r.cwd = g.path("agent/hooks"), places.Cwd
	return r
}

// look is what the watcher does when something changed.
func (r *rig) look() { r.chain.Reload(context.Background(), false) }

func (r *rig) quit() { r.chain.Close(context.Background()) }

// tool runs what a tool does, in a run of its own.
func (r *rig) tool(do func()) {
	r.t.Helper()
	w := r.chain.ToolWatch()
	mustDo(r.t, w.Handle(context.Background(), &agent.ToolExecutionStart{}))
	do()
	mustDo(r.t, w.Handle(context.Background(), &agent.ToolExecutionEnd{}))
	mustDo(r.t, w.Handle(context.Background(), &agent.TurnEnd{}))
	mustDo(r.t, w.Handle(context.Background(), &agent.AgentSettled{}))
}

func always(o *Options) {
	o.AskProject = func(context.Context, trust.Question) trust.Answer { return trust.AnswerAlways }
}

// pending are the names and changes that wait.
func (r *rig) pending() string {
	var parts []string
	for _, p := range r.chain.Pending() {
		parts = append(parts, p.Name+" "+p.Change)
	}
	return strings.Join(parts, ", ")
}

func (r *rig) wantPending(want string) {
	r.t.Helper()
	if got := r.pending(); got != want {
		r.t.Errorf("pending is %q, want %q", got, want)
	}
}

func (r *rig) wantInput(want string) {
	r.t.Helper()
	if got := r.input(""); got != want {
		r.t.Errorf("the hooks say %q, want %q", got, want)
	}
}

func TestWhatAToolChangedWaitsAndTheOldVersionRuns(t *testing.T) {
	t.Parallel()
	changes := []struct {
		name    string
		do      func(g *guarded)
		pending string
		after   string // what runs when all is approved
	}{
		{"edited", func(g *guarded) { g.write("agent/hooks/a.lua", says("evil")) }, "a changed", "evilb"},
		{"removed", func(g *guarded) { mustDo(g.t, os.Remove(g.path("agent/hooks/a.lua"))) }, "a removed", "b"},
		{"emptied", func(g *guarded) { g.write("agent/hooks/a.lua", "") }, "a changed", "b"},
		{"renamed", func(g *guarded) { mustDo(g.t, os.Rename(g.path("agent/hooks/a.lua"), g.path("agent/hooks/c.lua"))) }, "a removed, c added", "ba"},
		{"added", func(g *guarded) { g.write("agent/hooks/0.lua", says("evil")) }, "0 added", "evilab"},
		{"added as a directory", func(g *guarded) { g.write("agent/hooks/0/init.lua", says("evil")) }, "0 added", "evilab"},
		{"a module", func(g *guarded) { g.write("agent/hooks/b/word.lua", "return 'evil'") }, "word.lua changed", "aevil"},
		{"a module before the one in use", func(g *guarded) {
			mustDo(g.t, os.MkdirAll(g.path("agent/hooks/b/lib"), 0o755))
			mustDo(g.t, os.Rename(g.path("agent/hooks/b/word.lua"), g.path("agent/hooks/b/lib/word.lua")))
		}, "word.lua added, word.lua removed", "ab"},
		{"linked elsewhere", func(g *guarded) {
			g.write("project/evil.lua", says("evil"))
			mustDo(g.t, os.Remove(g.path("agent/hooks/a.lua")))
			mustDo(g.t, os.Symlink(g.path("project/evil.lua"), g.path("agent/hooks/a.lua")))
		}, "a changed", "evilb"},
		{"unreadable", func(g *guarded) {
			mustDo(g.t, os.Remove(g.path("agent/hooks/a.lua")))
			mustDo(g.t, os.Mkdir(g.path("agent/hooks/a.lua"), 0o755))
		}, "a changed", ""},
		{"the directory", func(g *guarded) { mustDo(g.t, os.RemoveAll(g.path("agent/hooks"))) }, "a removed, b removed, word.lua removed", ""},
		{"settings", func(g *guarded) { g.write("agent/config.toml", "disable = ['a']") }, "config.toml added", "ab"},
		{"settings of the project", func(g *guarded) { g.write("project/.pi/config.toml", "model = 'x'") }, "config.toml added", "ab"},
		{"nothing", func(g *guarded) { g.write("agent/hooks/a.lua", says("a")) }, "", "ab"},
		{"editors' leftovers", func(g *guarded) { g.write("agent/hooks/.a.lua.swp", "x"); g.write("agent/hooks/a.lua~", "x") }, "", "ab"},
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			g.write("agent/hooks/a.lua", says("a"))
			g.write("agent/hooks/b/init.lua", `local w = require "word"; `+strings.Replace(says("b"), `"b"`, "w", 1))
			g.write("agent/hooks/b/word.lua", "return 'b'")
			r := g.start()
			r.wantInput("ab")
			r.tool(func() { tt.do(g) })
			r.wantInput("ab")
			r.look()
			r.chain.Reload(context.Background(), true)
			r.wantInput("ab")
			r.wantPending(tt.pending)
			r.quit()

			again := g.start() // a restart approves nothing
			again.wantInput("ab")
			again.wantPending(tt.pending)
			if tt.after == "" || tt.pending == "" {
				return
			}
			for _, p := range again.chain.Pending() {
				mustDo(t, again.accept(p.Path))
			}
			again.wantPending("")
			again.wantInput(tt.after)
			again.quit()
			last := g.start()
			last.wantPending("")
			last.wantInput(tt.after)
		})
	}
}

func TestWhatAProcessChangedIsToldThoughOneOfAKilledProgramLives(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	var ours, theirs atomic.Bool
	ours.Store(true)
	theirs.Store(true)
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project"), Alive: func(group int) bool {
		return group == 1 && ours.Load() || group == 2 && theirs.Load()
	}})
	mustDo(t, err)
	r := g.start(func(o *Options) { o.Guard = guard })
	r.host.heard = make(chan struct{}, 1)
	r.tool(func() { guard.Starting()(1) })
	killed := g.start()
	killed.kill(func() { killed.chain.guard.Starting()(2) })
	g.write("agent/hooks/a.lua", says("evil"))
	ours.Store(false)
	told := func() bool { return r.said("a.lua was changed while the agent was at work") }
	r.waitUntil(told, func() string { return "nobody was told" })
	r.wantInput("a")
	theirs.Store(false)
}

// A process may move the hooks away and back all the time: no look at the disk may see
// what the one before did not.
func TestWhatAProcessTakesAwayForAMomentIsInForce(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]struct{ away, back string }{
		"a file":         {"agent/hooks/a.lua", "agent/kept"},
		"the folder":     {"agent/hooks", "agent/kept"},
		"a module":       {"agent/hooks/m/word.lua", "agent/kept"},
		"a folder in it": {"agent/hooks/m", "agent/kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			g.write("agent/hooks/a.lua", says("a"))
			g.write("agent/hooks/m/init.lua", `local word = require("word") pi.on("input", function(e) return { text = e.text .. word } end)`)
			g.write("agent/hooks/m/word.lua", `return "m"`)
			g.alive.Store(true)
			r := g.start()
			r.tool(func() { r.chain.guard.Starting()(4711) })
			r.quit()
			r = g.start(func(*Options) { mustDo(t, os.Rename(g.path(move.away), g.path(move.back))) })
			r.wantInput("am")
			mustDo(t, os.RemoveAll(g.path(move.away)))
			mustDo(t, os.Rename(g.path(move.back), g.path(move.away)))
			r.tool(func() {})
			r.look()
			r.wantInput("am")
			r.wantPending("")
			r.quit()
			r = g.start()
			r.wantInput("am")
			r.wantPending("")
		})
	}
}

func TestAHookIsGoneOnceItsRemovalWasJudged(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	g.write("agent/hooks/b/init.lua", says("b"))
	r := g.start()
	mustDo(t, os.Rename(g.path("agent/hooks"), g.path("agent/away")))
	if hooks, gone := r.chain.loader.compare(); len(hooks) != 2 || len(gone) != 0 {
		t.Errorf("%d hooks, %d gone", len(hooks), len(gone))
	}
	r.look()
	r.wantInput("")
	mustDo(t, os.Rename(g.path("agent/away"), g.path("agent/hooks")))
	r.look()
	r.wantInput("ab")
	mustDo(t, os.RemoveAll(g.path("agent/hooks/b")))
	g.write("agent/hooks/b.lua", says("c"))
	mustDo(t, os.Remove(g.path("agent/hooks/a.lua")))
	g.write("agent/hooks/a.lua/init.lua", says("d"))
	r.look()
	r.wantInput("dc")
}

// accept puts in force what waits at a path, as it was listed last.
func (r *rig) accept(path string) error {
	err := r.chain.guard.Accept(path)
	if err == nil {
		r.look()
	}
	return err
}

func TestApprovalIsOfWhatWasShown(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.tool(func() { g.write("agent/hooks/a.lua", says("b")) })
	if err := r.accept(g.path("agent/hooks/a.lua")); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("approved unseen: %v", err)
	}
	list := r.chain.Pending()
	if len(list) != 1 || !strings.Contains(list[0].Diff, `-pi.on("input", function(e) return { text = e.text .. "a" } end)`) || !strings.Contains(list[0].Diff, `.. "b"`) {
		t.Fatalf("pending is %+v", list)
	}
	g.write("agent/hooks/a.lua", says("evil"))
	if err := r.accept(g.path("agent/hooks/a.lua")); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("approved something else: %v", err)
	}
	r.wantInput("a")
	stale := list[0]
	r.chain.Pending() // whoever lists it meanwhile shows it to nobody
	if err := r.chain.Approve(context.Background(), stale); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("approved what was not in the question: %v", err)
	}
	mustDo(t, r.chain.Approve(context.Background(), r.chain.Pending()[0]))
	r.wantInput("evil")
}

func TestAKeptCopyThatIsLostOpensNoGate(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/gate.lua", `pi.on("tool_call", function() return { block = true, reason = "no" } end)`)
	r := g.start()
	r.tool(func() { mustDo(t, os.Remove(g.path("agent/hooks/gate.lua"))) })
	r.quit()
	mustDo(t, os.RemoveAll(g.path("agent/trust/kept")))
	again := g.start()
	if e := again.bash("x"); !e.Block || !strings.Contains(e.Reason, "gate.lua") {
		t.Errorf("the gate is open: %+v", e)
	}
	again.mustSay("hook gate did not load", "the kept copy is lost")
	if p := again.chain.Pending(); len(p) != 1 || !p[0].Lost {
		t.Errorf("pending is %+v", p)
	}
}

// answers has the user answer each confirmation, and notes the titles.
func (r *rig) answers(yes *atomic.Bool) (asked func() int) {
	var n atomic.Int32
	r.host.heard = make(chan struct{}, 1)
	r.ui.ask = func(context.Context, string, string) (string, bool, error) {
		answer := yes.Load()
		n.Add(1)
		return "", answer, nil
	}
	return func() int { return int(n.Load()) }
}

func TestTheFirstEditOfAProjectHookAsksAndThenItIsLive(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/p.lua", says("p"))
	g.write("project/.pi/hooks/q.lua", says("q"))
	g.write("project/.git/HEAD", "ref: refs/heads/main\n")
	r := g.start(always)
	var yes atomic.Bool
	asked := r.answers(&yes)
	edit := func(want string, questions int, files ...string) {
		t.Helper()
		before := asked()
		r.chain.loader.changes.Lock() // no look, not even that after an answer, falls in between
		for i := 0; i < len(files); i += 2 {
			g.write("project/.pi/hooks/"+files[i], says(files[i+1]))
		}
		r.chain.loader.changes.Unlock()
		r.look()
		r.waitFor(want)
		r.waitUntil(func() bool { return asked()-before == questions }, func() string { return fmt.Sprint(asked()-before, " questions, want ", questions) })
	}
	r.wantInput("pq")
	edit("pq", 1, "p.lua", "1") // answered No
	yes.Store(true)
	edit("2q", 1, "p.lua", "2")
	edit("3q", 0, "p.lua", "3")               // live
	edit("34", 1, "q.lua", "4")               // another file
	edit("56", 1, "p.lua", "5", "q.lua", "6") // several at once
	g.write("project/.git/HEAD", "ref: refs/heads/other\n")
	edit("76", 1, "p.lua", "7")
	edit("86", 0, "p.lua", "8")
	edit("869", 1, "r.lua", "9") // a new one
	mustDo(t, os.Remove(g.path("project/.pi/hooks/r.lua")))
	edit("86", 0)
	r.quit()
	again := g.start() // without a user: the new bytes are approved
	again.wantInput("86")
}

func TestWithoutAUserAnEditOfAProjectHookWaits(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/p.lua", says("p"))
	r := g.start(always)
	r.ui.absent = true
	g.write("project/.pi/hooks/p.lua", says("changed"))
	r.look()
	r.wantInput("p")
	r.wantPending("p changed")
	r.mustSay(".pi/hooks/p.lua was changed and is not approved: the version before stays in force; `pi trust` in a terminal shows the difference")
}

func TestAProgramThatAnswersIsNotAskedWhetherAChangedHookRuns(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/p.lua", says("p"))
	r := g.start(always)
	var yes atomic.Bool
	yes.Store(true)
	asked := r.answers(&yes)
	r.ui.client = true
	r.tool(func() { g.write("project/.pi/hooks/p.lua", says("changed")) })
	r.look()
	r.wantInput("p")
	r.wantPending("p changed")
	r.mustSay(".pi/hooks/p.lua was changed while the agent was at work: the version before stays in force; `pi trust` in a terminal shows the difference")
	if asked() != 0 {
		t.Error("the program was asked")
	}
}

func TestHookEditsAskAsksForEveryChange(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	ask := func(o *Options) { o.Guard.AskEdits() }
	r := g.start(ask)
	var yes atomic.Bool
	asked := r.answers(&yes)
	g.write("agent/hooks/a.lua", says("no"))
	r.look()
	r.waitUntil(func() bool { return asked() == 1 }, func() string { return "not asked" })
	r.quit()
	r = g.start(ask)
	r.wantInput("a")
	r.wantPending("a changed")
	yes.Store(true)
	asked = r.answers(&yes)
	g.write("agent/hooks/a.lua", says("yes"))
	r.look()
	r.waitFor("yes")
	g.write("agent/hooks/a.lua", says("again"))
	r.look()
	r.waitFor("again")
	if asked() != 2 {
		t.Errorf("asked %d times, want 2", asked())
	}
	r.quit()

	g.write("agent/hooks/a.lua", says("in between"))
	g.write("agent/hooks/new.lua", says("new"))
	r = g.start(ask)
	r.wantInput("again")
	r.wantPending("a changed, new added")
}

func TestAHookThatWaitsIsListedSo(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a")+" require 'm'")
	g.write("agent/hooks/lib/m.lua", "")
	g.write("agent/hooks/b.lua", says("b"))
	r := g.start()
	r.tool(func() { g.write("agent/hooks/lib/m.lua", "return 1"); g.write("agent/hooks/c.lua", "") })
	var got []string
	for _, h := range r.chain.Hooks() {
		got = append(got, h.Name+" "+h.State)
	}
	if want := "a pending, b active"; strings.Join(got, ", ") != want {
		t.Errorf("hooks are %q, want %q", got, want)
	}
}

func TestSettingsThatAToolWroteAreNotInForce(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	global, project := g.path("agent/config.toml"), g.path("project/.pi/config.toml")
	g.write("agent/config.toml", "thinking = 'low'\n")
	r := g.start()
	r.tool(func() {
		g.write("agent/config.toml", "disable = ['gate']\n")
		g.write("project/.pi/config.toml", "model = 'theirs/m'\n")
	})
	r.quit()
	guard := g.start().chain.guard
	if code, ok := guard.Config(global); !ok || string(code) != "thinking = 'low'\n" {
		t.Errorf("the settings in force are %q, %v", code, ok)
	}
	if code, ok := guard.Config(project); !ok || code != nil {
		t.Errorf("the project's are %q, %v", code, ok)
	}
	guard.ShowPending()
	mustDo(t, guard.Accept(global))
	if code, ok := guard.Config(global); !ok || string(code) != "disable = ['gate']\n" {
		t.Errorf("approved, and in force are %q, %v", code, ok)
	}
}

func TestALinkedProjectHookIsJudgedByWhereItLeads(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("elsewhere/h.lua", says("one")+"; require 'beside'")
	g.write("elsewhere/beside.lua", "")
	mustDo(t, os.Symlink(g.path("elsewhere/h.lua"), g.path("project/.pi/hooks/h.lua")))
	mustDo(t, os.Symlink("h.lua", g.path("project/.pi/hooks/loop")))
	r := g.start(always)
	r.wantInput("one")
	var paths []string
	for _, f := range r.chain.guard.ProjectFiles(r.chain.opts.Places) {
		paths = append(paths, strings.TrimPrefix(f.Path, g.root))
	}
	if want := "/elsewhere/beside.lua /project/.pi/hooks/h.lua"; filepath.ToSlash(strings.Join(paths, " ")) != want {
		t.Errorf("approval covers %q, want %q", paths, want)
	}
	r.quit()
	g.write("elsewhere/h.lua", says("two"))
	r = g.start()
	r.wantInput("")
	if h := r.chain.Hooks(); len(h) != 0 {
		t.Errorf("hooks are %+v", h)
	}
	r.quit()
	g.write("elsewhere/h.lua", says("one")+"; require 'beside'")
	g.write("elsewhere/beside.lua", "return 2")
	r = g.start()
	r.wantInput("")
	r.mustSay("module beside is not approved")
}

func TestWhatTheQuestionIsAbout(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/a.lua", "this is no Lua")
	g.write("project/.pi/hooks/b/init.lua", `pi.on("input", f); require("x.y")`)
	g.write("project/.pi/hooks/b/lib/x/y.lua", "")
	g.write("project/.pi/hooks/b/lib/unused.lua", "")
	g.write("project/.pi/hooks/b/notes.txt", "")
	g.write("project/.pi/hooks/.hidden.lua", "")
	g.write("project/tools/c.lua", `require "d"; require "pi.fs"; require(name)`)
	g.write("project/tools/d.lua", `require "e"`)
	g.write("project/tools/lib/e.lua", `require "d"`)
	g.write("project/tools/f.lua", "")
	var q trust.Question
	r := g.start(func(o *Options) {
		o.Places.ConfiguredIn = []string{g.path("project/tools/c.lua")}
		o.AskProject = func(_ context.Context, asked trust.Question) trust.Answer {
			q = asked
			return trust.AnswerNo
		}
	})
	var got []string
	for _, f := range q.Files {
		line := fmt.Sprint(strings.TrimPrefix(filepath.ToSlash(f.Path), filepath.ToSlash(g.path("project"))+"/"), " ", f.Size, " ", f.Events, " ", f.More, " ", f.Problem != "")
		got = append(got, line)
		if len(f.SHA256) != 64 || f.Approved {
			t.Errorf("%+v", f)
		}
	}
	want := `.pi/hooks/a.lua 14 [] true true
.pi/hooks/b/init.lua 33 [input] false false
.pi/hooks/b/lib/unused.lua 0 [] false false
.pi/hooks/b/lib/x/y.lua 0 [] false false
tools/c.lua 43 [] true false
tools/d.lua 11 [] false false
tools/lib/e.lua 11 [] false false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if len(r.chain.Hooks()) != 0 {
		t.Error("something runs")
	}
	g.write("project/.pi/hooks/late.lua", `error("ran")`) // said No: nobody is asked about it
	r.chain.Reload(context.Background(), true)
	r.mustBeQuiet()
}

func TestNothingOfAProjectRunsBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	marker := g.path("ran")
	g.write("project/.pi/hooks/a.lua", `require "side"`)
	g.write("project/.pi/hooks/side.lua", `pi.log("ran")`)
	g.start(func(o *Options) {
		o.LogPath = marker
		o.AskProject = func(context.Context, trust.Question) trust.Answer {
			if _, err := os.Stat(marker); err == nil {
				t.Error("it ran before the answer")
			}
			return trust.AnswerOnce
		}
	})
	if _, err := os.Stat(marker); err != nil {
		t.Error("it did not run after it")
	}
}

func TestAHomeWithoutAnAgentDirectoryIsLeftAloneUntilSomethingHappens(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	mustDo(t, os.RemoveAll(g.path("agent")))
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project"), Alive: func(int) bool { return g.alive.Load() }})
	mustDo(t, err)
	places := trust.Places{AgentDir: g.path("agent"), Cwd: g.path("project")}
	r := newRig(t, nil, func(o *Options) { o.Places, o.Cwd, o.Guard, o.LogPath = places, places.Cwd, guard, "" })
	r.tool(func() {})
	if _, err := os.Stat(g.path("agent")); err == nil {
		t.Error("something was written")
	}
	g.alive.Store(true)
	r.tool(func() { r.chain.guard.Starting()(4711) })
	r.quit()
	g.alive.Store(false)
	g.write("agent/hooks/evil.lua", says("evil"))
	again := g.start()
	again.wantPending("evil added")
	again.wantInput("")
}

func TestAUserIsAskedOnceWhenTheToolsHaveEnded(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	var yes atomic.Bool
	asked := r.answers(&yes)
	wantAsked := func(want int) {
		t.Helper()
		r.waitUntil(func() bool { return asked() == want }, func() string { return fmt.Sprint(asked(), " questions, want ", want) })
	}
	r.tool(func() { g.write("agent/hooks/a.lua", says("b")) })
	wantAsked(1)
	r.waitUntil(func() bool { return r.said("/hooks approve a asks again") }, func() string { return "no answer" })
	r.wantInput("a")
	r.tool(func() {}) // said No: nobody is asked again
	r.wantPending("a changed")
	yes.Store(true)
	r.tool(func() { g.write("agent/hooks/c.lua", says("c")) })
	wantAsked(2)
	r.waitFor("ac")
	r.wantPending("a changed")
}
