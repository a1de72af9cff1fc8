package luahooks

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// bodies runs the bodies of handlers, one after the other, and compares the text that each gives,
// or of what went wrong the part that is wanted.
func (r *rig) bodies(cases [][2]string) {
	r.t.Helper()
	for _, c := range cases {
		got := r.lua(c[0])
		if got != c[1] && !(strings.Contains(got, "lua.lua:") && strings.Contains(got, c[1])) {
			r.t.Errorf("%s\ngave %q, want %q", c[0], got, c[1])
		}
	}
}

func TestAPromiseIsWaitedForAndSettledOnce(t *testing.T) {
	newRig(t, nil).bodies([][2]string{
		{`local p = pi.promise(); assert(not p.settled()); assert(p.resolve("a")); assert(not p.resolve("b") and not p.reject("c") and p.settled()); return { text = p.wait() .. p.wait() }`, "aa"},
		{`local p = pi.promise(); p.reject("no answer"); local v, err = p.wait(); return { text = tostring(v) .. " " .. err }`, "nil no answer"},
		{`local p = pi.promise(); p.resolve({ deep = { 1 } }); return { text = tostring(p.wait().deep[1]) }`, "1"},
		{`local p = pi.promise(); p.resolve(); local n = select("#", p.wait()); return { text = tostring(p.wait()) .. n }`, "nil1"},
		{`local p = pi.promise(); local v, err = p.wait{ timeout = 5 }; return { text = tostring(v) .. " " .. err }`, "nil timeout"},
		{`local p = pi.promise(); p.resolve("late"); return { text = p.wait{ timeout = 0 } }`, "late"},
		{`local p, s = pi.promise(), pi.signal(); s.cancel(); local v, err = p.wait{ signal = s }; return { text = tostring(v) .. " " .. err }`, "nil cancelled"},
		{`local p, s = pi.promise(), pi.signal{ timeout = 5 }; local v, err = p.wait{ signal = s }; return { text = err .. " " .. s.reason() }`, "cancelled timeout"},
		{`local p = pi.promise(); require("pi.timer").after(1, function() p.resolve("by a timer") end); return { text = p.wait() }`, "by a timer"},
		{`pi.promise().wait{ timeout = -1 }`, `option "timeout" must be a number of milliseconds from 0 to 31536000000, not -1`},
		{`pi.promise().wait{ timeout = 0/0 }`, `option "timeout" must be a number of milliseconds`},
		{`pi.promise().wait{ timout = 1 }`, `did you mean "timeout"`},
		{`pi.promise().wait{ signal = {} }`, `option "signal" must be a signal such as ctx.signal, not a table`},
		{`pi.promise().reject()`, "string expected"},
		{`pi.promise().resolved()`, `did you mean "resolve"`},
	})
}

func TestAFunctionRunsBesideWhatStartedIt(t *testing.T) {
	r := newRig(t, nil)
	r.bodies([][2]string{
		{`local order = {}
		  local p = pi.async(function() order[#order + 1] = "b"; return "value" end)
		  order[#order + 1] = "a"
		  local v = p.wait()
		  return { text = table.concat(order) .. v }`, "abvalue"},
		{`local v, err = pi.async(function() return nil, "no such file" end).wait(); return { text = tostring(v) .. " " .. err }`, "nil no such file"},
		{`local v, err = pi.async(function() error("broken") end).wait(); return { text = err:match("lua.lua.*") }`, "lua.lua:1: broken"},
		{`local v, err = pi.async(function() error("broken", 0) end).wait(); return { text = err }`, "broken"},
		{`local n = select("#", pi.async(function() end).wait()); return { text = tostring(n) }`, "1"},
		{`pi.async(1)`, "function expected, got number"},
		{`local hold, running = pi.promise(), {}
		  for i = 1, 100 do running[i] = pi.async(function() return hold.wait() end) end
		  local ok, err = pcall(pi.async, function() end)
		  hold.resolve("go")
		  for i = 1, 100 do assert(running[i].wait() == "go") end
		  local again = pi.async(function() return "again" end)
		  return { text = tostring(ok) .. " " .. err:match("async: .*") .. again.wait() }`,
			"false async: 100 functions run already, the most that there may be; wait for one of them firstagain"},
	})
}

// Whoever has waited for functions may start as many again.
func TestAFunctionThatWasWaitedForDoesNotRunAnyMore(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function()
			for round = 1, 30 do
				local running = {}
				for i = 1, 100 do running[i] = pi.async(function() return i end) end
				for i = 1, 100 do running[i].wait() end
			end
			return { text = "ran" }
		end)`})
	for range 10 {
		if got := r.input(""); got != "ran" {
			t.Fatalf("the handler gave %q: %q", got, r.host.notices())
		}
	}
}

func TestAnErrorOfAFunctionForWhichNobodyWaitsIsTold(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function()
			local alone = pi.async(function() error("nobody waits") end)
			pi.async(function() return nil, "an ordinary failure" end)
			local done = pi.async(function() return 1 end)
			done.wait()
			while not alone.settled() do require("pi.timer").sleep(1) end
			return { text = "heard" }
		end)`})
	if got := r.input(""); got != "heard" {
		t.Errorf("the handler gave %q", got)
	}
	until(t, func() bool { return len(r.host.notices()) > 0 })
	if n := r.host.notices(); len(n) != 1 || !r.said("a.lua:3: ", "nobody waits") {
		t.Errorf("told: %q", n)
	}
}

func TestAHookHasTenThousandOpenPromises(t *testing.T) {
	newRig(t, nil).bodies([][2]string{
		{`local held = {}
		  for i = 1, 10000 do held[i] = pi.promise() end
		  local ok, err = pcall(pi.promise)
		  held[1].resolve()
		  local last = pi.promise()
		  assert(not pcall(pi.promise) and not pcall(pi.async, function() end))
		  return { text = tostring(ok) .. " " .. err:match("promise: .*") .. #held .. tostring(last.settled()) }`,
			"false promise: 10000 promises are open, the most that there may be; resolve or reject those that nobody waits for10000false"},
	})
}

func TestPromisesThatAHookHasForgottenDoNotCount(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function(e)
			for i = 1, 6000 do pi.promise() end
			return { text = "made" }
		end)`})
	r.input("")
	until(t, func() bool { runtime.GC(); return r.input("") == "made" })
}

func TestTheFirstValueOfSeveralCounts(t *testing.T) {
	r := newRig(t, nil)
	r.bodies([][2]string{
		{`local never = pi.promise()
		  local v, i = pi.any{ never, function() require("pi.timer").sleep(1); return "done" end }
		  return { text = v .. i }`, "done2"},
		{`local a, b = pi.promise(), pi.promise(); b.resolve("b"); a.resolve("a"); local v, i = pi.any{ a, b }; return { text = v .. i }`, "a1"},
		{`local a, b = pi.promise(), pi.promise(); a.reject("no"); b.resolve(nil); local v, i = pi.any{ a, b }; return { text = tostring(v) .. i }`, "nil2"},
		{`local handle = { wait = function() return "waited" end }; local v, i = pi.any{ handle }; return { text = v .. i }`, "waited1"},
		{`local ended
		  local v = pi.any{ function() require("pi.timer").sleep(60000); ended = "never" end, function() return "quick" end }
		  return { text = v .. tostring(ended) }`, "quicknil"},
		{`local v, err = pi.any{ function() return nil, "first" end, function() error("second", 0) end, function() return nil, "first" end }
		  return { text = tostring(v) .. " " .. err }`, "nil first; second"},
		{`pi.any{}`, "list of 1 to 100 functions, promises and handles with wait expected, this has 0"},
		{`pi.any{ 1 }`, "[1] is a number, and no function, promise or handle with wait"},
		{`pi.any{ {} }`, "[1] is a table, and no function, promise or handle with wait"},
	})
}

func TestASignalOfAHookIsCancelled(t *testing.T) {
	r := newRig(t, nil)
	r.bodies([][2]string{
		{`local s = pi.signal(); assert(not s.cancelled() and s.reason() == nil); assert(s.cancel("enough")); assert(not s.cancel("again")); return { text = tostring(s.cancelled()) .. s.reason() }`, "trueenough"},
		{`local s = pi.signal(); s.cancel(); return { text = s.reason() }`, "cancelled"},
		{`local a, b = pi.signal(), pi.signal(); local c = pi.signal{ any = { a, b } }; b.cancel("b"); assert(c.cancelled() and not a.cancelled()); return { text = c.reason() }`, "b"},
		{`local a = pi.signal(); a.cancel("before"); return { text = pi.signal{ any = { a } }.reason() }`, "before"},
		{`local s, told = pi.signal(), pi.promise(); s.on_cancel(function() told.resolve("told") end); s.cancel(); return { text = told.wait() }`, "told"},
		{`local s, told = pi.signal(), pi.promise(); s.cancel(); s.on_cancel(function() told.resolve("late") end); return { text = told.wait() }`, "late"},
		{`local s, heard, last = pi.signal(), "", pi.promise()
		  local off = s.on_cancel(function() heard = heard .. "off" end)
		  for i = 1, 3 do s.on_cancel(function() heard = heard .. i end) end
		  s.on_cancel(function() last.resolve() end)
		  off(); s.cancel(); last.wait()
		  return { text = heard }`, "123"},
		{`local s, told = pi.signal{ timeout = 2 }, pi.promise(); s.on_cancel(function() told.resolve(s.reason()) end); return { text = told.wait() }`, "timeout"},
		{`local s, runs = pi.signal(), pi.promise()
		  pi.async(function() runs.wait(); s.cancel() end)
		  local x = pi.exec("sh", { "-c", "echo; exec sleep 60" }, { signal = s, on_output = function() runs.resolve() end })
		  return { text = tostring(x.killed) }`, "true"},
		{`local ok, err = pcall(function() return ctx.signal.cancel end); return { text = tostring(ok) .. tostring(ctx.signal.reason()) }`, "falsenil"},
		{`pi.signal{ any = { 1 } }`, "any[1] must be a signal such as ctx.signal, not a number"},
		{`pi.signal{ timeout = "soon" }`, "must be a number, not a string"},
		{`pi.signal().cancel("")`, "the reason is empty"},
		{`pi.signal().canceled()`, `did you mean "cancelled"`},
	})
}

func TestAWaitEndsWhenTheHookIsReloaded(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("input", function()
			pi.async(function() pi.promise().wait() end)
			pi.send("waits")
			local _, one = pi.promise().wait()
			local _, all = pi.any{ pi.promise(), pi.promise() }
			return { text = one .. ", " .. all }
		end)`})
	got := make(chan string, 1)
	go func() {
		e := &agent.Input{Text: "wait", Source: "interactive"}
		_ = r.chain.Handle(context.Background(), e)
		got <- e.Text
	}()
	until(t, func() bool { return r.host.texts() == "waits" })
	r.write("a.lua", "-- nothing")
	r.chain.Reload(context.Background(), false)
	select {
	case text := <-got:
		if text != "the hook was reloaded, the hook was reloaded" {
			t.Errorf("the handler gave %q", text)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nobody woke the handler")
	}
}

func TestWhatWaitsRaisesWhileTheFileLoads(t *testing.T) {
	for body, want := range map[string]string{
		"pi.promise().wait()":      "wait: not available while the hook loads",
		"pi.async(function() end)": "async: not available while the hook loads",
		"pi.any{ pi.promise() }":   "any: not available while the hook loads",
		"pi.signal{ timeout = 1 }": "signal{ timeout }: not available while the hook loads",
	} {
		newRig(t, map[string]string{"a.lua": body}).mustSay("a.lua:1: ", want)
	}
	newRig(t, map[string]string{"a.lua": `
		local p, s = pi.promise(), pi.signal()
		assert(p.resolve(1) and s.cancel())`}).mustBeQuiet()
}
