package luahooks

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"pi/agent"
)

// busyHook registers of everything and leaves things running.
const busyHook = `local timer = require "pi.timer"
	local rules = require "rules"
	pi.state.n = (pi.state.n or 0) + 1
	pi.on("session_start", function(e, ctx) timer.every(1000, function() end) ctx.ui.set_status("n", tostring(pi.state.n)) end)
	pi.on("input", function(e) return { text = tostring(pi.state.n) } end)
	pi.on("tool_call", function(e) if rules.forbid(e) then return { block = true } end end)
	pi.command("busy", { handler = function() end })
	pi.flag("busy", { description = "x", type = "string", default = "y" })
	pi.tool { name = "busy", description = "x", parameters = { type = "object" }, execute = function() return "x" end }
	pi.register_message_renderer("busy", function() return "x" end)
	pi.provider("busy", { models = { { id = "m" } }, stream = function() end })
	local mine = {} for i = 1, 1000 do mine[i] = { i } end
	-- version %d`

func TestAThousandReloadsLeaveNothingBehind(t *testing.T) {
	r := newRig(t, map[string]string{"lib/rules.lua": `return { forbid = function(e) return e.input.command == "rm" end }`, "a.lua": fmt.Sprintf(busyHook, 0)},
		func(o *Options) { o.Grace = 5 * time.Second })
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		sample := [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample[:])
		return sample[0].Value.Uint64()
	}
	reload := func(from, to int) {
		for i := from; i < to; i++ {
			code := fmt.Sprintf(busyHook, i)
			if i%7 == 0 {
				code += "\nerror('this version does not load')"
			}
			r.write("a.lua", code)
			r.reload()
			if !r.bash("rm").Block {
				t.Fatalf("the gate is open after reload %d", i)
			}
		}
		r.host.forget()
	}
	reload(1, 100)
	heap, goroutines := live(), runtime.NumGoroutine()
	reload(100, 1100)
	if got := r.input(""); got != "943" { // those that loaded, and the first
		t.Errorf("version %s runs", got)
	}
	until(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 })
	if now := live(); now > heap+2<<20 {
		t.Errorf("%d KiB before, %d KiB after", heap>>10, now>>10)
	}
	if r.chain.roster.wanted[agent.KindToolCall].Load() != 1 || len(r.chain.Hooks()[0].Commands) != 1 {
		t.Error("registrations of old versions are left")
	}
	r.chain.Close(context.Background())
}
