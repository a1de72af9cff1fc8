package luahooks

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
)

// texts are the prompts that hooks sent: the tests' way of hearing Lua.
func (h *fakeHost) texts() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var t []string
	for _, p := range h.sent {
		t = append(t, p.Text)
	}
	return strings.Join(t, " ")
}

// dialogs makes the user answer when the test says so.
func (u *fakeUI) dialogs() (asked <-chan string, answer chan<- bool) {
	a, b := make(chan string, 100), make(chan bool)
	u.ask = func(ctx context.Context, _, title string) (string, bool, error) {
		a <- title
		select {
		case yes := <-b:
			return "text", yes, nil
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
	return a, b
}

func TestStartEventsAreWaitedFor(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("turn_start", function(e) pi.exec("sleep", {"0.1"}); pi.send("a" .. e.turn_index .. e.timestamp) end)`,
		"b.lua": `pi.on("turn_start", function(e) pi.send("b") end)`,
	}, func(o *Options) { o.Grace = time.Millisecond })
	r.emit(&agent.TurnStart{TurnIndex: 0, Timestamp: 7})
	if got := r.host.texts(); got != "a07 b" {
		t.Errorf("heard %q", got)
	}
}

func TestEndEventsAreWaitedForOnlyAsLongAsTheGraceAndFinishBehindIt(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("session_new", function(e, ctx) ctx.ui.confirm("slow"); pi.send("slow" .. e.session_id) end)
			pi.on("turn_start", function() pi.send("start") end)`,
		"b.lua": `pi.on("session_new", function(e) pi.send("quick" .. e.session_id) end)`,
	}, func(o *Options) { o.Grace = 30 * time.Millisecond })
	asked, answer := r.ui.dialogs()
	ctx, cancel := context.WithCancel(context.Background())
	mustDo(t, r.chain.Handle(ctx, &agent.SessionNew{SessionID: "1"}))
	cancel()
	<-asked
	r.emit(&agent.TurnStart{})
	r.emit(&agent.SessionNew{SessionID: "2"})
	answer <- true
	<-asked // a second dialog waits for the first
	answer <- true
	r.chain.Close(context.Background())
	got := r.host.texts()
	for _, want := range []string{"quick1", "quick2", "slow1", "slow2"} {
		if !strings.Contains(got, want) {
			t.Errorf("heard %q", got)
		}
	}
	if strings.Index(got, "start") > strings.Index(got, "slow") {
		t.Errorf("the start of a turn waited for the end of another: %q", got)
	}
	r.mustBeQuiet()
}

func TestEventsOfOneHookStartInTheirOrder(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("session_new", function(e) pi.state[#pi.state + 1] = tonumber(e.session_id) end)
		pi.on("input", function() return { text = table.concat(pi.state, " ") } end)`}, func(o *Options) { o.Grace = 0 })
	var want []string
	for i := range 500 {
		r.emit(&agent.SessionNew{SessionID: fmt.Sprint(i)})
		want = append(want, fmt.Sprint(i))
	}
	<-r.chain.roster.list()[0].queue.add(r.chain.behind, func(*slot) {})
	if got := r.input(""); got != strings.Join(want, " ") {
		t.Errorf("order is %s", got)
	}
}

func TestAQuestionComesAfterWhatWasToldBefore(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local heard = {}
		pi.on("session_new", function(e, ctx)
			heard[#heard + 1] = "new"
			if #heard == 1 then ctx.ui.confirm("wait") end
			local till = os.clock() + 0.02
			while os.clock() < till do end
		end)
		pi.on("tool_call", function() return { block = true, reason = table.concat(heard, " ") } end)
		pi.on("input", function(e) return { text = table.concat(heard, " ") } end)`}, func(o *Options) { o.Grace = time.Millisecond })
	asked, answer := r.ui.dialogs()
	for range 5 {
		r.emit(&agent.SessionNew{})
	}
	<-asked // one that waits is not waited for
	const all = "new new new new new"
	if got := r.input(""); got != all {
		t.Errorf("the question came after %q", got)
	}
	for range 5 {
		r.emit(&agent.SessionNew{})
	}
	if got := r.bash("ls").Reason; got != all+" "+all {
		t.Errorf("the gate was asked after %q", got)
	}
	answer <- true
}

func TestTooManyEventsDropTheOldest(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("agent_start", function() print("hang") end)
		pi.on("session_new", function(e) pi.state[#pi.state + 1] = tonumber(e.session_id) end)
		pi.on("input", function() return { text = pi.state[1] .. " " .. pi.state[2] } end)`}, func(o *Options) { o.Grace = 0 })
	r.host.hang, r.host.hanging = make(chan struct{}), make(chan struct{})
	var started sync.WaitGroup
	started.Go(func() { r.emit(&agent.AgentStart{}) })
	<-r.host.hanging
	h := r.chain.roster.list()[0]
	for i := range maxQueued + 5 {
		r.emit(&agent.SessionNew{SessionID: fmt.Sprint(i)})
	}
	close(r.host.hang)
	started.Wait()
	until(t, func() bool {
		h.queue.mu.Lock()
		defer h.queue.mu.Unlock()
		return !h.queue.starting
	})
	if n := r.chain.Hooks()[0].Dropped; n != 4 {
		t.Errorf("%d were dropped", n)
	}
	if got := r.input(""); got != "0 5" { // 0 stood before the VM already
		t.Errorf("the first that were heard are %s", got)
	}
}

func TestAtTheEndOfASessionOneHookThatHangsDoesNotSilenceTheOthers(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("session_shutdown", function(e, ctx) ctx.ui.confirm("really?") end)`,
		"b.lua": `pi.on("session_shutdown", function(e) pi.send(e.reason .. e.target_session_file) end)`,
	}, func(o *Options) { o.Grace = 10 * time.Millisecond })
	asked, answer := r.ui.dialogs()
	var gone sync.WaitGroup
	gone.Go(func() { r.emit(&agent.SessionShutdown{Reason: "new", TargetSessionFile: "/f"}) })
	<-asked
	answer <- false
	gone.Wait()
	if got := r.host.texts(); got != "new/f" {
		t.Errorf("heard %q", got)
	}
}

func TestCloseCutsOffWhatDoesNotFinish(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("session_new", function(e, ctx) ctx.ui.confirm("never"); pi.send("after") end)`})
	asked, _ := r.ui.dialogs()
	r.emit(&agent.SessionNew{})
	<-asked
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.chain.Close(ctx)
	r.emit(&agent.SessionNew{})
	if got := r.host.texts(); got != "" {
		t.Errorf("heard %q", got)
	}
}

func TestADialogLeavesTheHookFreeForOtherEvents(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("tool_call", function(e, ctx) if ctx.ui.confirm("sure?") then return end return { block = true, reason = "no" } end)
		pi.on("input", function(e) return { text = "meanwhile" } end)`})
	asked, answer := r.ui.dialogs()
	var e *agent.ToolCall
	var asking sync.WaitGroup
	asking.Go(func() { e = r.bash("x") })
	<-asked
	if got := r.input(""); got != "meanwhile" {
		t.Errorf("got %q", got)
	}
	answer <- false
	asking.Wait()
	if e.Reason != "no" {
		t.Errorf("call is %+v", e)
	}
}

func TestHooksThatCallEachOthersEventsDoNotDeadlock(t *testing.T) {
	code := `
		pi.on("tool_call", function(e, ctx) local m = ctx.rebuild_context(); return { additional_context = pi.hook.name .. #m } end)
		pi.on("context", function(e, ctx)
			local ok, err = pcall(ctx.rebuild_context)
			assert(not ok and err:find("not inside a context handler"), err)
			local l = e.messages
			l[#l + 1] = { role = "user", content = pi.hook.name }
			return { messages = l }
		end)`
	r := newRig(t, map[string]string{"a.lua": code, "b.lua": code, "c.lua": code})
	r.host.user("x")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if e := r.bash("ls"); e.Block || strings.Join(e.AdditionalContext, " ") != "a4 b4 c4" {
				t.Errorf("call is %+v", e)
			}
		})
	}
	all.Wait()
	r.mustBeQuiet()
}

func TestManyEventsAtOnceDuringReloads(t *testing.T) {
	code := `
		pi.on("tool_call", function(e, ctx) if e.input.command == "rm" then return { block = true, reason = "gate" } end end)
		pi.on("input", function(e, ctx) local n = #ctx.messages + #ctx.entries; return { text = e.text .. "." } end)
		pi.on("session_new", function(e) pi.state.n = (pi.state.n or 0) + 1 end)
		pi.command("c", { handler = function() return { status = "done" } end })
		pi.tool{ name = "t", description = "d", execute = function() return "ran" end }`
	r := newRig(t, map[string]string{"a.lua": code, "b.lua": code})
	r.host.user("x")
	ctx, cancel := context.WithCancel(context.Background())
	var reloads, events sync.WaitGroup
	reloads.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			r.write("a.lua", code+fmt.Sprintf("\n-- %d", i))
			r.chain.Reload(ctx, false)
		}
	})
	for range 200 {
		events.Go(func() {
			if e := r.bash("rm"); e.Reason != "gate" {
				t.Errorf("call is %+v", e)
			}
			if got := r.input(""); got != ".." {
				t.Errorf("got %q", got)
			}
			r.emit(&agent.SessionNew{})
			if out, err := r.chain.Commands()[0].Run(ctx, ""); err != nil || out.Status != "done" {
				t.Errorf("command: %v %v", out, err)
			}
			if res, err := r.host.tool(t, "t").Run(ctx, []byte(`{}`), nil); err != nil || len(res.Content) != 1 {
				t.Errorf("tool: %v %v", res, err)
			}
		})
	}
	events.Wait()
	cancel()
	reloads.Wait()
	for _, n := range r.host.notices() {
		if !strings.Contains(n, " loaded") && !strings.Contains(n, "/c:2") && !strings.Contains(n, "replaces the tool t of hook a") {
			t.Errorf("notice %q", n)
		}
	}
}

func TestCloseDuringWork(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.on("tool_call", function(e) for i = 1, 1000 do local x = i end end)
		pi.on("session_new", function(e) for i = 1, 1000 do local x = i end end)`}, func(o *Options) { o.Grace = 0 })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 20 {
				r.bash("ls")
				r.emit(&agent.SessionNew{})
			}
		})
	}
	r.chain.Close(context.Background())
	all.Wait()
	if e := r.bash("ls"); !e.Block {
		t.Error("a call passes a closed chain")
	}
}
