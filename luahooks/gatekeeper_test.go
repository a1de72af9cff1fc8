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
)

// userBash passes a command of the user through the gate and returns why it is
// blocked.
func (r *rig) userBash(command string) string {
	r.t.Helper()
	e := &agent.UserBash{Command: command}
	r.emit(e)
	return e.Blocked
}

// toolIsShut passes a call of a tool through the gate and returns why it is blocked.
func (r *rig) toolIsShut(name string) string {
	r.t.Helper()
	e := &agent.ToolCall{ID: "c", Name: name, Input: []byte(`{}`)}
	r.emit(e)
	return e.Reason
}

// The files that cannot be read are cases of the whole program: e2e/testdata/attack/gate-*.
func TestWhatDoesNotLoadAtTheStartMayBeAGate(t *testing.T) {
	const gate = "pi.on(\"tool_call\", function() end)\n"
	for name, c := range map[string]struct {
		files      map[string]string
		why, where string
	}{
		"syntax":             {map[string]string{"g.lua": gate + "if then"}, "syntax error", "g.lua:2:"},
		"an error":           {map[string]string{"g.lua": gate + "error('no rules')"}, "no rules", "g.lua:2:"},
		"an endless loop":    {map[string]string{"g.lua": gate + "while true do end"}, "ran longer", "g.lua:2:"},
		"another API":        {map[string]string{"g.lua": "-- pi-api: 7\n" + gate}, "wants pi-api 7", "g.lua:1:"},
		"a lost module":      {map[string]string{"g.lua": gate + "require 'rules'"}, "module rules not found", "g.lua:2:"},
		"a gate in a module": {map[string]string{"g/init.lua": "require 'rules'", "g/rules.lua": gate + "x x"}, "syntax error", "rules.lua:2:"},
		"no gate at all":     {map[string]string{"g.lua": "pi.on('turn_start', x x)"}, "syntax error", "g.lua:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.lua": gate, "z.lua": `pi.tool{ name = "find", description = "d", execute = function() end }`}
			for path, code := range c.files {
				files[path] = code
			}
			r := newRig(t, files, func(o *Options) {
				if name == "an endless loop" {
					o.testOnlyLoadTime = 50 * time.Millisecond
				}
			})
			for _, tool := range []string{"bash", "write", "edit", "find", "deploy"} { // find is a hook's
				reason := r.toolIsShut(tool)
				for _, part := range []string{"did not load, so only read, grep, find and ls work", c.why, c.where, "/hooks disable g"} {
					if !strings.Contains(reason, part) {
						t.Errorf("%s: %q is not in the reason %q", tool, part, reason)
					}
				}
			}
			for _, tool := range []string{"read", "grep", "ls"} {
				if reason := r.toolIsShut(tool); reason != "" {
					t.Errorf("%s is shut: %s", tool, reason)
				}
			}
			if reason := r.userBash("ls"); !strings.Contains(reason, c.where) {
				t.Errorf("a command of the person is blocked by %q", reason)
			}
			r.mustSay("hook g did not load, tools are shut: ", c.where)
			r.mustSay("until g loads, only read, grep, find and ls work", `mend or remove g`, "`disable = [\"g\"]`")
		})
	}
}

func TestTheGatesOfSeveralHooksAreShutUntilEachLoads(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": "x x", "b.lua": "x x", "read.lua": `pi.tool{ name = "read", description = "d", execute = function() end }`})
	r.mustSay("until a and b load, only read, grep, find and ls work")
	if r.toolIsShut("read") == "" {
		t.Error("a hook's read may do anything")
	}
}

func TestAGateThatLoadsBehindTheBackOfACallBlocksIt(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": "x x"})
	d, h, e := r.chain.dispatcher, r.chain.roster.list()[0], &agent.ToolCall{ID: "c", Name: "bash", Input: []byte(`{}`)}
	ds := d.newGateDispatch(t.Context(), d.roster.events[agent.KindToolCall], e, position{}, position{})
	ds.enter(h) // it has no handlers
	r.write("g.lua", `pi.on("tool_call", function() return { block = true, reason = "asked" } end)`)
	r.chain.Reload(t.Context(), false)
	if !ds.left(ds) || !strings.Contains(e.Reason, "did not load") {
		t.Errorf("nobody was asked, and the reason is %q", e.Reason)
	}
	if reason := r.toolIsShut("bash"); reason != "asked" {
		t.Errorf("the next call is blocked by %q", reason)
	}
}

// It may have been a gate for anything.
func TestAHookWhoseVersionInForceIsLostIsShutAtAllGates(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ""})
	h := r.chain.roster.list()[0]
	r.chain.roster.closeLost(h)
	for what, reason := range map[string]string{"a tool": r.toolIsShut("read"), "a command of the person": r.userBash("ls")} {
		if !strings.Contains(reason, "the version in force is lost") {
			t.Errorf("%s: %q", what, reason)
		}
	}
	if r.chain.roster.openGates(h); r.toolIsShut("bash") != "" || r.chain.Wants(agent.KindUserBash) {
		t.Error("it is not open again")
	}
}

// What was in force stays in force while the program runs.
func TestWhatDoesNotLoadInARunningSessionChangesNothing(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"a new file":       func(r *rig) { r.write("new.lua", `pi.on("tool_call", x x)`) },
		"a new folder":     func(r *rig) { r.write("new/init.lua", `require "gone"`) },
		"a new lost link":  func(r *rig) { mustDo(r.t, os.Symlink("gone", filepath.Join(r.dir, "new.lua"))) },
		"a broken save":    func(r *rig) { r.write("g.lua", `pi.on("tool_call", x x)`) },
		"a link to itself": func(r *rig) { r.remove("g.lua"); mustDo(r.t, os.Symlink("g.lua", filepath.Join(r.dir, "g.lua"))) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function(e) if e.input.command == "rm" then return { block = true, reason = "good" } end end)`})
			change(r)
			r.reload()
			if e := r.bash("rm"); !e.Block || e.Reason != "good" {
				t.Errorf("blocked %v: %s", e.Block, e.Reason)
			}
			if e := r.bash("ls"); e.Block {
				t.Errorf("shut: %s", e.Reason)
			}
			r.mustSay("did not load", ".lua")
		})
	}
}

func (r *rig) remove(name string) {
	r.t.Helper()
	mustDo(r.t, os.Remove(filepath.Join(r.dir, name)))
}

func TestAGateThatDidNotLoadOpensWhen(t *testing.T) {
	const broken = `pi.on("tool_call", x x)`
	for name, open := range map[string]func(r *rig){
		"its file loads":             func(r *rig) { r.write("g.lua", `pi.on("tool_call", function() end)`) },
		"its file is removed":        func(r *rig) { r.remove("g.lua") },
		"the person turns it off":    func(r *rig) { mustDo(r.t, r.chain.SetEnabled(context.Background(), "g", false)) },
		"the settings turn it off":   func(r *rig) { r.chain.opts.Places.Disable = []string{"g"} },
		"it is broken in other ways": func(r *rig) { r.write("g.lua", broken+" y"); r.reload(); r.write("g.lua", "") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"g.lua": broken})
			if !r.bash("ls").Block {
				t.Fatal("the gate is open")
			}
			open(r)
			r.reload()
			if e := r.bash("ls"); e.Block {
				t.Errorf("shut: %s", e.Reason)
			}
			if r.chain.Wants(agent.KindToolCall) != (name == "its file loads") {
				t.Error("the count of handlers is wrong")
			}
		})
	}
}

func (r *rig) reload() { r.chain.Reload(context.Background(), false) }

func TestAGateThatIsTurnedOnAndDoesNotLoadIsShut(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function() end)`})
	mustDo(t, r.chain.SetEnabled(context.Background(), "g", false))
	r.write("g.lua", `pi.on("tool_call", x x)`)
	if r.reload(); r.bash("ls").Block {
		t.Error("a hook that is off blocks")
	}
	if err := r.chain.SetEnabled(context.Background(), "g", true); err == nil || !strings.Contains(err.Error(), "g.lua:1:") {
		t.Errorf("turned on: %v", err)
	}
	if e := r.bash("ls"); !e.Block || e.BlockedBy != "g" {
		t.Errorf("the gate is open: %+v", e)
	}
}

// A hook that could not be found at the start, and then is found and does not load, is
// no newcomer: there is no moment in which its gate is open.
func TestAHookThatIsFoundAfterTheStartIsShutUntilItLoads(t *testing.T) {
	const broken, sound = `pi.on("tool_call", x x)`, `pi.on("tool_call", function() end)`
	for name, c := range map[string]struct{ lose, find func(dir string) error }{
		"the hooks folder is a file": {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, func(dir string) error {
			return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o755))
		}},
		"the hooks folder is a lost link": {func(dir string) error { return os.Symlink(dir+".mounted", dir) }, func(dir string) error {
			return os.Mkdir(dir+".mounted", 0o755)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, func(o *Options) {
				dir := o.Places.GlobalDir()
				mustDo(t, errors.Join(os.Remove(dir), c.lose(dir)))
			})
			if !strings.Contains(r.toolIsShut("bash"), "hooks in "+r.dir) {
				t.Fatalf("the gate is open: %q", r.toolIsShut("bash"))
			}
			mustDo(t, c.find(r.dir))
			r.write("g.lua", broken)
			r.reload()
			if !strings.Contains(r.toolIsShut("bash"), "g.lua:1:") {
				t.Fatalf("the gate is open: %q", r.toolIsShut("bash"))
			}
			r.write("g.lua", sound)
			r.reload()
			if reason := r.toolIsShut("bash"); reason != "" {
				t.Errorf("shut: %s", reason)
			}
			if r.chain.roster.wanted[agent.KindUserBash].Load() != 0 || r.chain.roster.wanted[agent.KindToolCall].Load() != 1 {
				t.Error("the counts of handlers are wrong")
			}
		})
	}
}

func TestAConfiguredHookThatIsMissingIsShutUntilItIsThere(t *testing.T) {
	var path string
	r := newRig(t, nil, func(o *Options) {
		path = filepath.Join(o.Places.AgentDir, "named.lua")
		o.Places.Configured = []string{path}
	})
	if !strings.Contains(r.toolIsShut("bash"), "named.lua: no such file") || r.chain.Hooks()[0].State != "failed" {
		t.Fatalf("the gate is open: %q", r.toolIsShut("bash"))
	}
	mustDo(t, os.WriteFile(path, nil, 0o600))
	r.reload()
	if reason := r.toolIsShut("bash"); reason != "" {
		t.Errorf("shut: %s", reason)
	}
	mustDo(t, os.Remove(path))
	r.reload()
	if reason := r.toolIsShut("bash"); reason != "" || len(r.chain.Hooks()) != 0 {
		t.Errorf("shut by a hook that was removed: %s", reason)
	}
}

func TestAProjectThatBecomesTooLargeKeepsTheGatesThatRun(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.write("project/.pi/hooks/gate.lua", `pi.on("tool_call", function() return { block = true, reason = "no" } end)`)
	r := g.start(always)
	if !r.bash("x").Block {
		t.Fatal("the gate is open before")
	}
	for i := range 1000 {
		g.write(fmt.Sprintf("project/.pi/hooks/lib/m%d.lua", i), "")
	}
	r.reload()
	if !r.bash("x").Block {
		t.Error("the gate is open")
	}
	r.mustSay("at most 1000 are judged", "the hooks stay as they are")
	if files := r.chain.guard.ProjectFiles(r.chain.opts.Places); len(files) > 0 {
		t.Errorf("%d files can be approved", len(files))
	}
}
