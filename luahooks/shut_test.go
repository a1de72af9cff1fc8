package luahooks

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// userBash passes a command of the person through the gate and returns why it is
// blocked.
func (r *rig) userBash(command string) string {
	r.t.Helper()
	e := &agent.UserBash{Command: command}
	r.emit(e)
	return e.Blocked
}

func TestAGateThatDoesNotLoadAtTheStartIsShut(t *testing.T) {
	const gate = "pi.on(\"tool_call\", function() end)\n"
	for name, c := range map[string]struct {
		files      map[string]string
		tools      bool
		bash       bool
		why, where string
	}{
		"syntax":               {map[string]string{"g.lua": gate + "if then"}, true, false, "syntax error", "g.lua:2:"},
		"single quotes":        {map[string]string{"g.lua": "pi.on('tool_call', x x)"}, true, false, "syntax error", "g.lua:1:"},
		"long brackets":        {map[string]string{"g.lua": "pi.on([==[tool_call]==], x x)"}, true, false, "syntax error", "g.lua:1:"},
		"plain long brackets":  {map[string]string{"g.lua": "pi.on([[tool_call]], x x)"}, true, false, "syntax error", "g.lua:1:"},
		"the person's command": {map[string]string{"g.lua": "pi.on('user_bash', x x)"}, false, true, "syntax error", "g.lua:1:"},
		"both":                 {map[string]string{"g.lua": "for _, e in ipairs { 'user_bash', 'tool_call' } do pi.on(e, x x)"}, true, true, "syntax error", "g.lua:1:"},
		"an error":             {map[string]string{"g.lua": gate + "error('no rules')"}, true, false, "no rules", "g.lua:2:"},
		"an endless loop":      {map[string]string{"g.lua": gate + "while true do end"}, true, false, "ran longer", "g.lua:2:"},
		"another API":          {map[string]string{"g.lua": "-- pi-api: 7\n" + gate}, true, false, "wants pi-api 7", "g.lua:1:"},
		"a lost module":        {map[string]string{"g.lua": gate + "require 'rules'"}, true, false, "module rules not found", "g.lua:2:"},
		"a gate in a module":   {map[string]string{"g/init.lua": "require 'rules'", "g/rules.lua": gate + "x x"}, true, false, "parse error", "rules.lua:2:"},
		"a composed name":      {map[string]string{"g.lua": "pi.on('tool' .. '_call', function() end) error('x')"}, true, false, "x", "g.lua:1:"},
		"no gate":              {map[string]string{"g.lua": "pi.on('turn_start', x x) local tool_call"}, false, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.lua": `pi.on("tool_call", function() end)`}
			for path, code := range c.files {
				files[path] = code
			}
			r := newRig(t, files, func(o *Options) { o.Timeout = 50 * time.Millisecond })
			if r.chain.Wants(agent.KindUserBash) != c.bash {
				t.Error("wants user_bash:", !c.bash)
			}
			call, blocked := r.bash("ls"), r.userBash("ls")
			if call.Block != c.tools || (blocked != "") != c.bash {
				t.Errorf("tools %v: %s; commands: %q", call.Block, call.Reason, blocked)
			}
			for _, part := range []string{"did not load, so its gate stays shut", c.why, c.where, "/hooks disable g"} {
				if reason := call.Reason + blocked; reason != "" && !strings.Contains(reason, part) {
					t.Errorf("%q is not in the reason %q", part, reason)
				}
			}
			if c.tools || c.bash {
				r.mustSay("hook g did not load, its gate stays shut: ")
			}
		})
	}
}

func TestAGateThatDidNotLoadOpensWhen(t *testing.T) {
	const broken = `pi.on("tool_call", x x)`
	for name, open := range map[string]func(r *rig){
		"its file loads":             func(r *rig) { r.write("g.lua", `pi.on("tool_call", function() end)`) },
		"its file is no gate":        func(r *rig) { r.write("g.lua", `pi.on("turn_start", x x)`) },
		"its file is removed":        func(r *rig) { mustDo(r.t, os.Remove(filepath.Join(r.dir, "g.lua"))) },
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

func TestABrokenSaveOfAGateLeavesTheLastGoodVersionInForce(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function(e) if e.input.command == "rm" then return { block = true, reason = "good" } end end)`})
	r.write("g.lua", `pi.on("tool_call", x x)`)
	r.reload()
	if e := r.bash("rm"); !e.Block || e.Reason != "good" {
		t.Errorf("blocked %v: %s", e.Block, e.Reason)
	}
	if e := r.bash("ls"); e.Block {
		t.Errorf("shut: %s", e.Reason)
	}
}

// Root reads everything, so the error is made here.
func TestAFileThatMayNotBeReadCanBeAnyGate(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": "x x", "h.lua": ""})
	h := r.chain.list()[0]
	err := fmt.Errorf("read hook: %w", &fs.PathError{Op: "open", Path: h.Path, Err: fs.ErrPermission})
	r.chain.changes.Lock()
	r.chain.settle(context.Background(), attempt{hook: h, err: err})
	r.chain.changes.Unlock()
	if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, "permission denied") || r.userBash("ls") == "" {
		t.Errorf("the gate is open: %+v", e)
	}
}
