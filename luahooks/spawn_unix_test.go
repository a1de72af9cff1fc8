//go:build unix

package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/internal/process"
	"pi/luahooks/trust"
)

// echoer is a hook that starts a program which answers what it is told with the name of the
// version that hears of it.
func echoer(version, start string) string {
	return `
		local p
		local function note(word)
			local f = require("pi.fs")
			f.write("heard", (f.read("heard") or "") .. "` + version + ` " .. word .. "\n")
		end
		pi.on("session_start", function()
			local calls = { on_stdout = note, on_exit = function(e) note("exit " .. (e.signal or e.code)) end }
			` + start + `
			if p then require("pi.fs").write("pid", tostring(p.pid)) end
		end)
		pi.on("my:say", function() end)
		pi.on("input", function(event) p.write(event.text .. "\n") end)`
}

const (
	startKept = `calls.keep = "cat"; p = pi.spawn("cat", {}, calls)`
	takeUp    = `p = assert(pi.spawned("cat", calls))`
	startSelf = `p = pi.spawn("cat", {}, calls)`
)

// heard waits until what the hook has noted ends with a line.
func (r *rig) heard(line string) {
	r.t.Helper()
	file := filepath.Join(r.cwd, "heard")
	for range 2000 {
		if b, _ := os.ReadFile(file); strings.HasSuffix("\n"+string(b), "\n"+line+"\n") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	b, _ := os.ReadFile(file)
	r.t.Fatalf("heard\n%swant the last line %q; notices are %s", b, line, strings.Join(r.host.notices(), "\n"))
}

// pid is the process of the program that the hook has started last.
func (r *rig) pid() int {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.cwd, "pid"))
	mustDo(r.t, err)
	pid, err := strconv.Atoi(string(b))
	mustDo(r.t, err)
	return pid
}

// mustEnd waits until a process group is empty.
func (r *rig) mustEnd(pid int) {
	r.t.Helper()
	for range 2000 {
		if !process.Alive(pid) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Error("the program goes on")
}

func (r *rig) save(code string) {
	r.t.Helper()
	r.write("a.lua", code)
	r.chain.Reload(context.Background(), false)
}

func newEchoer(t *testing.T, start string) *rig {
	t.Helper()
	t.Parallel()
	r := newRig(t, map[string]string{"a.lua": echoer("v1", start)})
	r.chain.Reload(context.Background(), true) // greets it
	r.input("hello")
	r.heard("v1 hello")
	return r
}

func TestAKeptProgramGoesOnInTheNextVersion(t *testing.T) {
	r := newEchoer(t, startKept)
	pid := r.pid()
	r.input("one\ntwo")
	r.heard("v1 two")
	for _, version := range []string{"v2", "v3"} {
		r.save(echoer(version, takeUp))
		r.input("still " + version)
		r.heard(version + " still " + version)
	}
	if r.pid() != pid || !process.Alive(pid) {
		t.Errorf("process %d and not %d", r.pid(), pid)
	}
	r.save("-- nothing any more")
	r.mustEnd(pid)
	if b, _ := os.ReadFile(filepath.Join(r.cwd, "heard")); strings.Contains(string(b), "exit") {
		t.Errorf("a version that is gone is told of the end: %s", b)
	}
}

func TestAKeptProgramThatNobodyTakesUpEnds(t *testing.T) {
	r := newEchoer(t, startKept)
	pid := r.pid()
	r.save(echoer("v2", startSelf))
	r.mustEnd(pid)
	r.input("other")
	r.heard("v2 other")
	if r.pid() == pid {
		t.Error("it is the same program")
	}
}

func TestAProgramEndsWithItsVersion(t *testing.T) {
	r := newEchoer(t, startSelf)
	pid := r.pid()
	r.save(echoer("v2", "p = pi.spawned('cat', calls)"))
	r.mustEnd(pid)
}

func TestAKeptProgramThatEndsBetweenVersionsIsTold(t *testing.T) {
	r := newEchoer(t, startKept)
	mustDo(t, func() error { p, _ := os.FindProcess(r.pid()); return p.Kill() }())
	r.heard("v1 exit KILL")
	r.save(echoer("v2", `p, why = pi.spawned("cat", calls) calls.on_stdout(why)`))
}

func TestAKeptProgramEndsWhenItsHookIsRemovedOrOff(t *testing.T) {
	for name, end := range map[string]func(r *rig){
		"removed": func(r *rig) {
			mustDo(r.t, os.Remove(filepath.Join(r.dir, "a.lua")))
			r.chain.Reload(context.Background(), true)
		},
		"off": func(r *rig) { mustDo(r.t, r.chain.SetEnabled(context.Background(), "a", false)) },
		"the program ends": func(r *rig) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			r.chain.Close(ctx)
			if process.Alive(r.pid()) {
				r.t.Error("it lives when the chain is closed")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEchoer(t, startKept)
			end(r)
			r.mustEnd(r.pid())
		})
	}
}

func TestAVersionThatDoesNotLoadKeepsItsPrograms(t *testing.T) {
	r := newEchoer(t, startKept)
	r.save("not Lua")
	r.input("on")
	r.heard("v1 on")
}

func TestNothingThatAProgramWroteIsLostOrDoubledOverAReload(t *testing.T) {
	t.Parallel()
	// A program that counts as fast as it is read, over several versions.
	code := func(start string) string {
		return `pi.on("session_start", function()
			local calls = { on_stdout = function(line) pi.emit("n:line", tonumber(line)) end }
			` + start + `
		end)`
	}
	r := newRig(t, map[string]string{
		"a.lua": code(`pi.spawn("sh", { "-c", "i=0; while :; do i=$((i+1)); echo $i; done" }, { keep = "n", on_stdout = calls.on_stdout })`),
		"b.lua": `
			local last, wrong = 0
			pi.on("n:line", function(event)
				if event.data ~= last + 1 then wrong = last .. " then " .. event.data end
				last = event.data
			end)
			pi.on("input", function() return { text = wrong or tostring(last) } end)`,
	})
	r.chain.Reload(context.Background(), true)
	last, deadline := 0, time.Now().Add(time.Minute)
	for i := range 6 {
		for before := last; last < before+200; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("after %d versions nothing comes behind %d; notices are %s", i, last, strings.Join(r.host.notices(), "\n"))
			}
			n, err := strconv.Atoi(r.input(""))
			if err != nil {
				t.Fatalf("after %d versions: %v", i, err)
			}
			last = n
		}
		r.save(code(`assert(pi.spawned("n", calls))` + strings.Repeat(" ", i)))
	}
	for _, n := range r.host.notices() {
		if !strings.HasSuffix(n, "hook a loaded") && !strings.HasSuffix(n, "hook b loaded") {
			t.Error(n)
		}
	}
}

// What a tool leaves behind to be started, or lets another program do, is its own as well.
func TestWhatAHooksOwnToolLeavesBehindKeepsTheWindowOpen(t *testing.T) {
	t.Parallel()
	for name, execute := range map[string]string{
		"a timer":               `timer.after(20, function() pi.spawn("sh", late) end)`,
		"a timer that repeats":  `local off off = timer.every(20, function() off() pi.exec("sh", late) end)`,
		"a timer of a timer":    `timer.after(10, function() timer.after(10, function() pi.spawn("sh", late) end) end)`,
		"a callback":            `pi.spawn("echo", { "x" }, { on_stdout = function() timer.sleep(100) pi.spawn("sh", late) end })`,
		"a kept program":        `pi.spawn("sleep", { "0.5" }, { keep = "k" })`,
		"a program from before": `before.write(late[2] .. "\n")`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			guard, err := trust.NewGuard(trust.GuardOptions{AgentDir: t.TempDir(), Project: t.TempDir(), Alive: process.Alive})
			mustDo(t, err)
			a, r := programWith(t, map[string]string{"c.lua": caller, "h.lua": `
				local timer, late, before = require("pi.timer"), { "-c", "echo $$ >late; exec sleep 100" }
				pi.on("tool_call", function() before = pi.spawn("sh") end)
				pi.on("session_start", function() pi.spawned("k", { on_exit = function() timer.sleep(100) pi.spawn("sh", late) end }) end)
				pi.tool{ name = "bash", description = "d", parameters = { properties = { command = { type = "string" } } },
					execute = function(p) ` + execute + ` return "ran" end }`}, guard, echoTool{})
			a.Listen(r.chain.ToolWatch(), r.chain)
			mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "x"}))
			if name == "a kept program" {
				r.chain.Reload(t.Context(), true)
			}
			for range 1000 {
				if _, err := os.Stat(filepath.Join(r.cwd, "late")); err == nil && !guard.CloseWindow() {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
			t.Error("the window is closed while the program runs")
		})
	}
}
