package luahooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/trust"
)

// never is a store that says never to the project.
func (g *guarded) never() string {
	return `{"version": 2, "projects": {"` + g.path("project") + `": {"never": true}}}`
}

// kill is what the system does to a program in the middle of a tool.
func (r *rig) kill(do func()) {
	r.t.Helper()
	mustDo(r.t, r.chain.ToolWatch().Handle(context.Background(), &agent.ToolExecutionStart{}))
	do()
	r.gone()
}

// gone lets go of what the system closes when a program ends.
func (r *rig) gone() {
	r.chain.guard.TestOnlyKill()
}

func (g *guarded) glob(pattern string) []string {
	names, err := filepath.Glob(g.path(pattern))
	mustDo(g.t, err)
	return names
}

// TestWhoseAChangeIs holds whether a change of a hook counts at once, as the user's, or waits, as that
// of a tool: in the program that was there, and at the next start.
func TestWhoseAChangeIs(t *testing.T) {
	t.Parallel()
	const a = "agent/hooks/a.lua"
	for name, c := range map[string]struct {
		do            func(g *guarded, r *rig) // r is a program with a hook that says a
		ended         bool                     // do ends the program
		runs, pending string                   // afterwards
	}{
		"just before a tool": {do: func(g *guarded, r *rig) { // nobody has looked yet
			g.write(a, says("mine"))
			r.tool(func() {})
		}, runs: "mine"},
		"while a tool runs, whoever made it": {do: func(g *guarded, r *rig) {
			r.tool(func() {
				g.write(a, says("mine"))
				r.look() // as the watcher does
				r.mustSay("agent/hooks/a.lua was changed while the agent was at work: the version before stays in force; /hooks approve a shows the difference")
				r.wantInput("a")
				r.wantPending("a changed")
				mustDo(t, r.accept(g.path(a)))
				r.wantInput("mine")
			})
		}, runs: "mine"},
		"between the batches of a run, then in the next": {do: func(g *guarded, r *rig) {
			r.batch(func() {})
			g.write(a, says("mine"))
			r.look()
			r.wantInput("mine")
			r.batch(func() { g.write(a, says("evil")) })
			g.write("agent/hooks/b.lua", says("b"))
		}, runs: "mineb", pending: "a changed"},
		"between two batches, for everybody, and in a tool that is killed": {do: func(g *guarded, r *rig) {
			beside := g.start()
			r.batch(func() { r.chain.guard.Starting()(4711) })
			g.write(a, says("mine"))
			for _, one := range []*rig{r, beside, g.start()} {
				one.look()
				one.wantInput("mine")
				one.wantPending("")
			}
			r.batch(func() {
				third := g.start() // what became live is in force while tools are at work again
				third.wantInput("mine")
				third.wantPending("")
				third.quit()
			})
			r.kill(func() { g.write(a, says("evil")) })
		}, ended: true, runs: "mine", pending: "a changed"},
		"after a kill between two batches": {do: func(g *guarded, r *rig) {
			g.alive.Store(true)
			r.batch(func() {})
			r.gone()
			g.write(a, says("mine"))
		}, ended: true, runs: "mine"},
		"after what was approved in an open window": {do: func(g *guarded, r *rig) {
			g.alive.Store(true)
			r.batch(func() {})
			g.write(a, says("mine"))
			r.look()
			r.batch(func() {
				r.chain.guard.Starting()(4711)
				g.write(a, says("approved"))
			})
			r.wantInput("mine")
			r.wantPending("a changed")
			mustDo(t, r.accept(g.path(a)))
			r.gone()
			g.write(a, says("evil"))
		}, ended: true, runs: "approved", pending: "a changed"},
		"by a process of a tool, and undone": {do: func(g *guarded, r *rig) {
			g.alive.Store(true)
			r.tool(func() { r.chain.guard.Starting()(4711) })
			g.write(a, says("evil"))
			r.look()
			r.wantPending("a changed")
			g.write(a, says("a"))
			r.wantPending("")
		}, runs: "a"},
		"by a process that outlives the program, one that only looks, and the next": {do: func(g *guarded, r *rig) {
			g.alive.Store(true)
			r.tool(func() { r.chain.guard.Starting()(4711) })
			r.quit()
			_, err := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project"), Alive: func(int) bool { return true }})
			mustDo(t, err)
			next := g.start()
			g.write(a, says("evil"))
			next.look()
			next.wantInput("a")
			next.quit()
			g.alive.Store(false)
		}, ended: true, runs: "a", pending: "a changed"},
		"after the program, by a process that has ended since": {do: func(g *guarded, r *rig) {
			g.alive.Store(true)
			r.tool(func() { r.chain.guard.Starting()(4711) })
			r.quit()
			g.write(a, says("b"))
			g.write("agent/hooks/c.lua", says("c"))
			g.alive.Store(false)
		}, ended: true, runs: "a", pending: "a changed, c added"},
		"after the program": {do: func(g *guarded, r *rig) {
			r.tool(func() { r.chain.guard.Starting()(4711) })
			r.quit()
			g.write(a, says("b"))
			g.write("agent/hooks/c.lua", says("c"))
		}, ended: true, runs: "bc"},
		"that waits, undone, and done again": {do: func(g *guarded, r *rig) { // a window begins with what is in force
			r.tool(func() { g.write(a, says("evil")) })
			g.alive.Store(true)
			r.tool(func() { r.chain.guard.Starting()(4711) }) // the window stays open
			r.tool(func() { g.write(a, says("a")) })
			r.look()
			r.wantPending("")
			r.tool(func() {})
			r.look()
			r.wantInput("a")
			g.write(a, says("evil"))
		}, runs: "a", pending: "a changed"},
		"by a tool of another program, undone, and the user's": {do: func(g *guarded, r *rig) {
			two := g.start()
			r.tool(func() {
				g.write(a, says("evil"))
				two.look()
			})
			two.wantInput("a")
			two.wantPending("a changed")
			r.wantPending("a changed")
			g.write(a, says("a"))
			r.wantPending("")
			g.write(a, says("mine"))
		}, runs: "mine"},
		"by tools of two programs at once": {do: func(g *guarded, r *rig) {
			two := g.start()
			r.tool(func() {
				g.write(a, says("evil"))
				g.write("agent/hooks/b.lua", says("evil"))
				two.tool(two.look)
				two.wantInput("a")
			})
			two.wantInput("a")
			two.wantPending("a changed, b added")
		}, runs: "a", pending: "a changed, b added"},
		"after another program was killed, of which nothing lives": {do: func(g *guarded, r *rig) {
			killed := g.start()
			killed.kill(func() {})
			r.tool(func() {})
			r.look()
			g.write("agent/hooks/b.lua", says("b"))
			r.look()
			r.wantPending("") // what it left was compared
			r.wantInput("ab")
			g.write(a, says("mine"))
		}, runs: "mineb"},
		"in a project that nobody approved": {do: func(g *guarded, r *rig) {
			r.quit()
			g.write("project/.pi/hooks/p.lua", says("p"))
			next := g.start()
			next.tool(func() { g.write("project/.pi/hooks/p.lua", says("q")); g.write("project/.pi/hooks/new.lua", says("n")) })
			next.wantPending("")
			next.quit()
		}, ended: true, runs: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			g.write(a, says("a"))
			r := g.start()
			c.do(g, r)
			if !c.ended {
				r.look()
				r.wantInput(c.runs)
				r.wantPending(c.pending)
				r.quit()
			}
			again := g.start()
			again.wantInput(c.runs)
			again.wantPending(c.pending)
			if left := again.chain.guard.Store().OtherWindows(nil); len(left) != 0 && !g.alive.Load() {
				t.Errorf("a window is still there: %v", left)
			}
		})
	}
}

func TestWhatFlagsLeaveOutOfARunIsWatched(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	g.write("project/.pi/hooks/p.lua", says("p"))
	g.write("own/o.lua", says("o"))
	configured := func(o *Options) { o.Places.Configured = []string{g.path("own/o.lua")} }
	g.start(always, configured).quit()
	r := g.start(configured, func(o *Options) { o.Places.NoHooks, o.Places.NoProject = true, true })
	r.tool(func() {
		g.write("agent/hooks/b.lua", says("evil"))
		for _, name := range []string{"agent/hooks/a.lua", "project/.pi/hooks/p.lua", "own/o.lua"} {
			mustDo(t, os.Remove(g.path(name)))
		}
	})
	r.quit()
	again := g.start(configured)
	again.wantInput("apo")
	again.wantPending("a removed, b added, o removed, p removed")
}

func TestNoCrowdHidesAHookThatAToolAdded(t *testing.T) {
	t.Parallel()
	crowd := func(g *guarded, dir string) {
		mustDo(g.t, os.MkdirAll(g.path(dir), 0o755))
		for i := range trust.MaxEntries + 100 {
			mustDo(g.t, os.WriteFile(g.path(fmt.Sprintf("%s/%05d", dir, i)), nil, 0o644))
		}
	}
	for name, hide := range map[string]func(g *guarded){
		"files":          func(g *guarded) { crowd(g, "agent/hooks") },
		"a folder":       func(g *guarded) { crowd(g, "agent/hooks/many") },
		"a link to /":    func(g *guarded) { mustDo(g.t, os.Symlink("/", g.path("agent/hooks/aaa"))) },
		"a link to /usr": func(g *guarded) { mustDo(g.t, os.Symlink("/usr", g.path("agent/hooks/aaa"))) },
		"two links": func(g *guarded) {
			g.write("agent/hooks/aaa/init.lua", says("evil"))
			mustDo(g.t, os.Symlink("aaa", g.path("agent/hooks/aab")))
		},
		"a link within": func(g *guarded) {
			g.write("agent/hooks/aaa/b/init.lua", says("evil"))
			mustDo(g.t, os.Symlink("aaa/b", g.path("agent/hooks/c")))
		},
		"a folder with too much in it that is a hook": func(g *guarded) {
			crowd(g, "agent/hooks/zz")
			g.write("agent/hooks/zz/init.lua", says("evil"))
		},
	} {
		g := newGuarded(t)
		g.write("agent/hooks/own.lua", says("own"))
		r := g.start()
		r.tool(func() {
			hide(g)
			g.write("agent/hooks/zzz.lua", says("evil"))
		})
		if !strings.Contains(r.pending(), "zzz added") {
			t.Errorf("%s: pending is %q", name, r.pending())
		}
		r.quit()
		again := g.start()
		if got := again.input(""); got != "own" {
			t.Errorf("%s: the hooks say %q", name, got)
		}
		for _, p := range again.chain.Pending() {
			mustDo(t, again.accept(p.Path))
		}
		if got := again.input(""); !strings.HasSuffix(got, "evil") {
			t.Errorf("%s: approved, the hooks say %q", name, got)
		}
	}
}

func TestAModuleInAFolderThatIsTooLargeCountsWhereItIsNamed(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	mustDo(t, os.MkdirAll(g.path("agent/hooks/lib"), 0o755))
	for i := range trust.MaxEntries + 1 {
		mustDo(t, os.WriteFile(g.path(fmt.Sprintf("agent/hooks/lib/%05d", i)), nil, 0o644))
	}
	g.write("agent/hooks/lib/word.lua", "return 'word'")
	g.write("agent/hooks/lib/other.lua", "return 'other'")
	g.write("agent/hooks/a.lua", `local w = require "word"; pi.on("input", function(e) local ok, o = pcall(require, "oth" .. "er"); return { text = w .. tostring(o) } end)`)
	r := g.start()
	if got := r.input(""); !strings.HasPrefix(got, "word") || !strings.Contains(got, "too many to be watched") {
		t.Errorf("the hook says %q", got)
	}
	r.tool(func() { g.write("agent/hooks/lib/word.lua", "return 'evil'") })
	r.mustSay("agent/hooks/lib has more than 5000 entries, too many to be watched")
	r.mustSay("word.lua was changed while the agent was at work")
	r.wantPending("word.lua changed")
}

func TestAFolderOfHooksWithMoreThanCanBeJudgedIsNotRead(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	for i := range 20_001 {
		mustDo(t, os.WriteFile(g.path(fmt.Sprintf("agent/hooks/%05d", i)), nil, 0o644))
	}
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.wantInput("")
	r.mustSay("too many entries: more than 20000")
	if !r.bash("x").Block {
		t.Error("what stands there may be a gate, and nothing is shut")
	}
}

func TestAModuleThatAToolPutThereIsPendingBeforeAnybodyRequiresIt(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", `pi.on("input", function(e) local ok, m = pcall(require, "ex" .. "tra"); return { text = e.text .. (ok and m or "a") } end)`)
	r := g.start()
	r.tool(func() { g.write("agent/hooks/lib/extra.lua", "return 'evil'") })
	r.wantInput("a")
	r.wantPending("extra.lua added")
	r.quit()
	again := g.start()
	again.wantInput("a")
	again.chain.Pending()
	mustDo(t, again.accept(g.path("agent/hooks/lib/extra.lua")))
	again.wantInput("evil")
}

func TestToolsOfAProgramThatHasEndedCount(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(g *guarded, one *rig){
		"settled": func(g *guarded, one *rig) { one.tool(func() { g.write("agent/hooks/a.lua", says("evil")) }) },
		"gone": func(g *guarded, one *rig) {
			one.tool(func() { g.write("agent/hooks/a.lua", says("evil")) })
			one.quit()
		},
		"killed": func(g *guarded, one *rig) { one.kill(func() { g.write("agent/hooks/a.lua", says("evil")) }) },
	} {
		for look, at := range map[string]func(*rig){
			"on a look":        (*rig).look,
			"as a tool begins": func(two *rig) { two.tool(two.look) },
		} {
			g := newGuarded(t)
			g.write("agent/hooks/a.lua", says("a"))
			one, two := g.start(), g.start()
			change(g, one)
			at(two)
			if got := two.input(""); got != "a" {
				t.Errorf("%s, %s: the hooks say %q", name, look, got)
			}
			two.wantPending("a changed")
			two.mustSay("a.lua was changed while the agent was at work")
		}
	}
}

func TestAProgramThatStartsWhileToolsOfAnotherRun(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	g.write("agent/config.toml", "thinking = 'low'\n")
	one := g.start()
	one.tool(func() {
		g.write("agent/hooks/a.lua", says("evil"))
		g.write("agent/config.toml", "disable = ['a']\n")
		two := g.start()
		two.wantInput("a")
		if code, ok := two.chain.guard.Config(g.path("agent/config.toml")); !ok || string(code) != "thinking = 'low'\n" {
			t.Errorf("its settings are %q", code)
		}
		two.wantPending("config.toml changed, a changed")
		two.quit()
		g.write("agent/trust.json", g.never())
		three := g.start() // nothing of what a tool wrote counts, and nothing else is known here
		three.wantInput("")
		if three.chain.guard.Store().IsRefused(g.path("project")) {
			t.Error("what a tool wrote to the store counts")
		}
		three.wantPending("trust.json lost")
		three.quit()
	})
	one.wantInput("a")
	one.wantPending("config.toml changed, a changed, trust.json changed")
	four := g.start()
	four.wantInput("a")
	four.wantPending("config.toml changed, a changed, trust.json changed")
}

func TestAnOpenWindowDoesNotHideOneThatWasLeft(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	one, two := g.start(), g.start()
	one.kill(func() { g.write("agent/trust.json", g.never()) })
	two.tool(func() {
		three := g.start()
		if three.chain.guard.Store().IsRefused(g.path("project")) {
			t.Error("what a tool wrote to the store counts")
		}
		three.wantPending("trust.json changed")
		three.quit()
	})
}

func TestAProcessCannotUseTheTimeWhileTheNextProgramStarts(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	g.alive.Store(true)
	r := g.start()
	r.tool(func() { r.chain.guard.Starting()(4711) })
	r.quit()
	again := g.start(func(*Options) { // a user is asked something meanwhile
		g.write("agent/hooks/a.lua", says("evil"))
		g.write("agent/hooks/b.lua", says("evil"))
		g.write("agent/trust.json", g.never())
	})
	again.wantInput("a")
	if again.chain.guard.Store().IsRefused(g.path("project")) {
		t.Error("what a tool wrote to the store counts")
	}
	again.quit()
	last := g.start()
	last.wantInput("a")
	last.wantPending("a changed, b added, trust.json changed")
}

func TestWhatCannotBeMarkedIsKnownToTheWindow(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.tool(func() {
		g.write("agent/hooks/a.lua", says("evil"))
		r.chain.guard.Store().TestOnlyFails = errors.New("no space left")
	})
	r.wantInput("a")
	r.mustSay("what waits for approval is held back, but not marked")
	r.mustSay("a.lua was changed while the agent was at work")
	r.quit()
	again := g.start()
	again.wantInput("a")
	again.wantPending("a changed")
	if left := again.chain.guard.Store().OtherWindows(nil); len(left) != 0 {
		t.Errorf("the window is still there: %v", left)
	}
}

func TestAHomeThatCannotBeWrittenSaysNothingOfWhatDoesNotWait(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r, killed := g.start(), g.start()
	mustDo(t, killed.chain.ToolWatch().Handle(context.Background(), &agent.ToolExecutionStart{}))
	killed.gone() // its window is to be ended
	r.chain.guard.Store().TestOnlyFails = errors.New("read-only file system")
	r.tool(func() {})
	r.mustSay("a change of a hook is noticed only while this program runs")
	if r.said("what waits for approval") {
		t.Error("nothing waits")
	}
}

func TestADamagedStoreIsMendedWithWhatAUserSaw(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.kill(func() { mustDo(t, os.Remove(g.path("agent/trust.json"))) })
	guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: g.path("agent"), Project: g.path("project")})
	if err == nil || guard.Damaged() == nil {
		t.Fatalf("it is not damaged: %v", err)
	}
	store := guard.Store().Path()
	if err := guard.Accept(store); err == nil {
		t.Error("approved unseen")
	}
	p := guard.ShowPending()
	if len(p) != 1 || !strings.Contains(p[0].Diff, `+pi.on("input", function(e) return { text = e.text .. "a" }`) {
		t.Fatalf("pending is %+v", p)
	}
	g.write("agent/hooks/a.lua", says("evil"))
	if err := guard.Accept(store); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("approved something else: %v", err)
	}
	g.write("agent/hooks/a.lua", says("a"))
	guard.ShowPending()
	mustDo(t, guard.Accept(store))
	g.write("agent/hooks/a.lua", says("b")) // what was shown is in force until somebody looks
	if v := guard.Read(g.path("agent/hooks/a.lua")); string(v.Code) != says("a") {
		t.Errorf("in force is %s", v.Code)
	}
	again := g.start()
	again.wantPending("")
	again.wantInput("b")
}

func TestAToolCannotForgeAWindow(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.tool(func() {
		forger, err := trust.Open(g.path("agent"))
		mustDo(t, err)
		sum, err := forger.Keep([]byte(says("evil")))
		mustDo(t, err)
		w, err := forger.Begin(trust.Window{}, func(_, _ trust.Data) bool { return true }, func(d *trust.Data) {
			d.Known.Files[g.path("agent/hooks/a.lua")] = trust.File{Sum: sum, Scope: string(trust.ScopeGlobal)}
		})
		mustDo(t, err)
		w.Abandon()
	})
	r.quit()
	again := g.start()
	again.wantInput("a")
	again.wantPending("trust.json changed")
}

func TestALinkThatLeadsElsewhereIsShown(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	g.write("project/a.lua", says("a"))
	r := g.start()
	r.tool(func() {
		mustDo(t, os.Remove(g.path("agent/hooks/a.lua")))
		mustDo(t, os.Symlink(g.path("project/a.lua"), g.path("agent/hooks/a.lua")))
	})
	want := g.path("agent/hooks/a.lua") + " led to " + g.path("agent/hooks/a.lua") + " and leads to " + g.path("project/a.lua") + " now\n"
	if p := r.chain.Pending(); len(p) != 1 || p[0].Diff != want {
		t.Errorf("pending is %+v", p)
	}
	r.quit()
	again := g.start()
	if p := again.chain.Pending(); len(p) != 1 || !strings.HasPrefix(p[0].Diff, want) {
		t.Errorf("after a restart pending is %+v", p)
	}
	g.write("project/a.lua", says("evil"))
	if p := again.chain.Pending(); len(p) != 1 || !strings.HasPrefix(p[0].Diff, want) || !strings.Contains(p[0].Diff, `+pi.on("input", function(e) return { text = e.text .. "evil" }`) {
		t.Errorf("with other bytes pending is %+v", p)
	}
}

func TestCopiesThatNothingNeedsArePruned(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	for _, say := range []string{"a", "b", "c"} {
		g.write("agent/hooks/a.lua", says(say))
		r := g.start()
		r.tool(func() {})
		r.quit()
		for _, path := range g.glob("agent/trust/kept/*") {
			old := time.Now().Add(-24 * time.Hour)
			mustDo(t, os.Chtimes(path, old, old))
		}
	}
	r := g.start()
	r.tool(func() { g.write("agent/hooks/a.lua", says("evil")) })
	r.quit()
	for say, want := range map[string]int{"a": 0, "b": 0, "c": 1} {
		if n := len(g.glob("agent/trust/kept/" + trust.Sum([]byte(says(say))))); n != want {
			t.Errorf("there are %d copies of %s, want %d", n, say, want)
		}
	}
	again := g.start()
	again.wantInput("c")
	again.wantPending("a changed")
}

func TestWhatAHooksOwnToolStartsKeepsTheWindowOpen(t *testing.T) {
	t.Parallel()
	for code, open := range map[string]bool{
		`pi.tool{ name = "bash", description = "d", parameters = { properties = { command = { type = "string" } } },
			execute = function(p) return pi.exec("true").stdout .. "ran" end }`: true,
		`pi.on("tool_call", function() pi.exec("true") end)`: false,
	} {
		guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: t.TempDir(), Project: t.TempDir(), Alive: func(int) bool { return true }})
		mustDo(t, err)
		a, r := programWith(t, map[string]string{"c.lua": caller, "h.lua": code}, guard, echoTool{})
		a.Listen(r.chain.ToolWatch(), r.chain)
		mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "x"}))
		if closed := guard.CloseWindow(); closed == open {
			t.Errorf("the window is closed: %v, want open %v: %s", closed, open, code)
		}
	}
}

// batch is a batch of tools in the middle of a run.
func (r *rig) batch(do func()) {
	r.t.Helper()
	window := &toolWindow{edits: r.chain.edits, open: r.chain.loader.openWindow}
	w := window.join(func() bool { return false })
	mustDo(r.t, w.Handle(context.Background(), &agent.ToolExecutionStart{}))
	do()
	mustDo(r.t, w.Handle(context.Background(), &agent.ToolExecutionEnd{}))
	mustDo(r.t, w.Handle(context.Background(), &agent.TurnEnd{}))
}

// TestABatchOfToolsMakesNoFile looks at the folders too, whose times change with each file
// that is made, replaced or removed in them.
func TestABatchOfToolsMakesNoFile(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.batch(func() {})
	type seen struct {
		info os.FileInfo
		at   time.Time
	}
	look := func() map[string]seen {
		all := map[string]seen{}
		mustDo(t, filepath.WalkDir(g.path("agent"), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			all[path] = seen{info, info.ModTime()}
			return err
		}))
		return all
	}
	before := look()
	for range 3 {
		r.batch(func() { r.chain.guard.Starting()(4711) })
	}
	after := look()
	for path, is := range after {
		was, there := before[path]
		if !there || !os.SameFile(was.info, is.info) || is.info.IsDir() && !was.at.Equal(is.at) {
			t.Errorf("%s is another one, or has other files", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there were %d files, and are %d", len(before), len(after))
	}
}

func TestAMarkThatIsLostHoldsUntilAUserHasApproved(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("agent/hooks/a.lua", says("a"))
	r := g.start()
	r.kill(func() {
		r.chain.guard.Starting()(4711)
		mustDo(t, os.Remove(g.glob("agent/trust/running-*")[0]))
	})
	again := g.start()
	again.wantPending("")
	g.write("agent/hooks/a.lua", says("evil")) // by a process of which nobody knows any more
	again.look()
	again.wantInput("a")
	again.wantPending("a changed")
	mustDo(t, again.accept(g.path("agent/hooks/a.lua")))
	again.wantInput("evil")
	again.quit()
	last := g.start()
	g.write("agent/hooks/a.lua", says("mine"))
	last.look()
	last.wantInput("mine")
}
