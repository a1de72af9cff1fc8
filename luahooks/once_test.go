package luahooks

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// once says that it runs, and waits until its VM is given up.
const once = `pi.send("ran") require("pi.timer").sleep(60000)`

// deafStart is a handler whose VM is given up.
const deafStart = `pi.on("agent_start", function() print("hang") end)
`

// What began and was cut off, because another handler of its hook did not stop, is
// not run again in the fresh copy.
func TestWhatBeganIsNotRunAgainWhenItsVMIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		run  func(r *rig) error // what the code registered
	}{
		"a telling handler": {`pi.on("session_new", function() ` + once + ` end)`, func(r *rig) error {
			r.emit(&agent.SessionNew{})
			return nil
		}},
		"an asking handler": {`pi.on("input", function() ` + once + ` return { text = "late" } end)`, func(r *rig) error {
			if got := r.input("x"); got != "x" {
				r.t.Errorf("it answered %q", got)
			}
			return nil
		}},
		"a gate": {`pi.on("tool_call", function() ` + once + ` end)`, func(r *rig) error {
			if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, "hook g.lua failed:") || !strings.Contains(e.Reason, "cut off") {
				r.t.Errorf("a gate that was cut off: block %v, %q", e.Block, e.Reason)
			}
			return nil
		}},
		"a gate of commands": {`pi.on("user_bash", function() ` + once + ` end)`, func(r *rig) error {
			if blocked := r.userBash("ls"); !strings.Contains(blocked, "cut off") {
				r.t.Errorf("a gate that was cut off: %q", blocked)
			}
			return nil
		}},
		"a command": {`pi.command("c", { handler = function() ` + once + ` end })`, func(r *rig) error {
			_, err := r.chain.Commands()[0].Run(context.Background(), "")
			return err
		}},
		"a shortcut": {`pi.shortcut("alt+x", { description = "d", handler = function() ` + once + ` end })`, func(r *rig) error {
			_, err := r.chain.Shortcuts()[0].Run(context.Background())
			return err
		}},
		"a tool": {`pi.tool{ name = "t", description = "d", execute = function() ` + once + ` end }`, func(r *rig) error {
			_, err := r.host.tool(r.t, "t").Run(context.Background(), []byte(`{}`), nil)
			return err
		}},
		"the preparation of a tool": {`pi.tool{ name = "t", description = "d", prepare_arguments = function() ` + once + ` end, execute = function() end }`, func(r *rig) error {
			tool, _ := r.chain.roster.list()[0].registered().Tools.Find("t")
			_, err := tool.Prepare(context.Background(), []byte(`{}`))
			return err
		}},
		"a model": {`pi.provider("s", { models = { "m" }, stream = function(request, emit) emit{ type = "text", text = "Hello" } ` + once + ` end })`, func(r *rig) error {
			got, err := stream(context.Background(), r.provider("s"))
			if got != "text1:Hello" {
				r.t.Errorf("it answered %q", got)
			}
			return err
		}},
		"a timer": {`pi.on("session_new", function() require("pi.timer").after(1, function() ` + once + ` end) end)`, func(r *rig) error {
			r.emit(&agent.SessionNew{})
			for end := time.Now().Add(30 * time.Second); !r.said("timer.after:", "cut off"); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					return fmt.Errorf("nothing was said of it: %q", r.host.notices())
				}
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, map[string]string{"g.lua": deafStart + c.code}, func(o *Options) { o.Timeout = 10 * time.Second })
			hang(t, r)
			result := aside(func() error { return c.run(r) })
			until(t, func() bool { return r.host.texts() == "ran" })
			r.giveUp()
			if err := <-result; err != nil && !strings.Contains(err.Error(), "cut off") {
				t.Errorf("it ended with %v", err)
			}
			r.mustSay("a fresh copy of it goes on")
			if got := r.host.texts(); got != "ran" {
				t.Errorf("it ran more than once: %s", got)
			}
		})
	}
}

// giveUp makes the handler of deafStart run and be interrupted, which it does not
// notice.
func (r *rig) giveUp() {
	r.host.hanging = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-r.host.hanging; cancel() }()
	_ = r.chain.Handle(ctx, &agent.AgentStart{})
}

func aside(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer close(done) // a test that fails inside f ends the goroutine without a result
		done <- f()
	}()
	return done
}

func TestTheHandlersBehindOneThatDoesNotStopRunInTheFreshCopy(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `
		pi.on("input", function(e) pi.send("first") return { text = e.text .. "1" } end)
		pi.on("input", function(e) pi.send("second") print("hang") end)
		pi.on("input", function(e) pi.send("third") return { text = e.text .. "3" } end)`}, soon)
	hang(t, r)
	if got := r.input("x"); got != "x13" || r.host.texts() != "first second third" {
		t.Errorf("got %q, ran %s", got, r.host.texts())
	}
}

// between is an event on its way along the handlers of the first hook, of which
// one has run.
func (r *rig) between(call *agent.ToolCall) *dispatch {
	spec := r.chain.roster.events[agent.KindToolCall]
	ds := r.chain.dispatcher.newGateDispatch(context.Background(), spec, call, position{}, position{})
	ds.enter(r.chain.roster.list()[0])
	ds.ran, ds.n = true, 1
	ds.start(ds.handlers[1])
	return ds
}

func TestAGateGoesOnInTheFreshCopyOnlyIfThatHasTheSameHandlers(t *testing.T) {
	const gates = `pi.on("tool_call", function() pi.send("first") end)
		pi.on("tool_call", function() pi.send("second") end)`
	for name, c := range map[string]struct {
		code  string
		block bool
	}{
		"the same":         {gates, false},
		"registered later": {`pi.on("session_new", function() ` + gates + ` end)`, true},
		"in another order": {`local first = os.getenv("GATE_TEST") and function() pi.send("second") end
			pi.on("tool_call", first or function() pi.send("first") end)
			pi.on("tool_call", function() pi.send("second") end)`, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, map[string]string{"g.lua": deafStart + c.code})
			hang(t, r)
			r.emit(&agent.SessionNew{})
			call := &agent.ToolCall{Name: "bash", Input: []byte(`{}`)}
			ds := r.between(call)
			t.Setenv("GATE_TEST", "1")
			r.giveUp()
			stop := ds.ended(luavm.ErrDead)
			if call.Block != c.block || stop != c.block || c.block && !strings.Contains(call.Reason, "after some of its handlers had run") {
				t.Errorf("stop %v, block %v: %s", stop, call.Block, call.Reason)
			}
			if !c.block && (ds.n != 1 || ds.in != r.chain.roster.list()[0].current()) {
				t.Errorf("it goes on with handler %d", ds.n+1)
			}
		})
	}
}

// A hook may be saved just before it hears of an event, and then not listen any more.
func TestAHookThatIsReplacedBeforeItHearsOfAnEventHearsOfTheNext(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("turn_start", function() end)`})
	h := r.chain.roster.list()[0]
	ds := &dispatch{dispatcher: r.chain.dispatcher, ctx: t.Context(), spec: r.chain.roster.events[agent.KindTurnStart], event: &agent.TurnStart{}}
	ds.enter(h)
	ds.start(ds.handlers[0])
	r.write("a.lua", "")
	r.reload()
	if _, _, more := ds.next(luavm.ErrClosed); more {
		t.Error("it is told though it does not listen")
	}
	next := h.queue.begin(r.chain.behind)
	if next == nil {
		t.Fatal("its queue stands still")
	}
	next.end()
}

func TestAnEventThatBeganOnAHookFinishesOnTheVersionThatItBeganOn(t *testing.T) {
	version := func(name string) string {
		return `pi.on("tool_call", function(e, ctx) ctx.ui.confirm("go?") pi.send("` + name + `1") end)
			pi.on("tool_call", function(e, ctx) pi.send("` + name + `2") end)`
	}
	r := newRig(t, map[string]string{"g.lua": version("old")})
	r.ui.ask = func(context.Context, string, string) (string, bool, error) {
		r.write("g.lua", version("new"))
		r.reload()
		return "", true, nil
	}
	if e := r.bash("ls"); e.Block || r.host.texts() != "old1 old2" {
		t.Errorf("block %v, ran %s", e.Block, r.host.texts())
	}
	r.ui.ask = func(context.Context, string, string) (string, bool, error) { return "", true, nil }
	if r.bash("ls"); r.host.texts() != "old1 old2 new1 new2" {
		t.Errorf("then ran %s", r.host.texts())
	}
}

func TestAHookThatIsTurnedOffInTheMiddleOfAnEventIsOutAtOnce(t *testing.T) {
	r := newRig(t, map[string]string{"g.lua": `pi.on("tool_call", function(e, ctx) ctx.ui.confirm("go?") pi.send("first") end)
		pi.on("tool_call", function(e, ctx) return { block = true } end)`})
	r.ui.ask = func(context.Context, string, string) (string, bool, error) {
		return "", true, r.chain.SetEnabled(context.Background(), "g", false)
	}
	if e := r.bash("ls"); e.Block || r.host.texts() != "first" {
		t.Errorf("block %v, ran %s", e.Block, r.host.texts())
	}
}

// A timer that fails while the program ends may want to replace its VM just then.
func TestTheEndDoesNotWaitForWhatWaitsForIt(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ""})
	r.chain.roster.list()[0].current().spawn(func(life context.Context) {
		<-life.Done()
		r.chain.loader.changes.Lock()
		defer r.chain.loader.changes.Unlock()
	})
	ended := aside(func() error { r.chain.Close(context.Background()); return nil })
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the chain does not end")
	}
}

// A handler that was given up may return while the event continues without it. Its
// answer is read from its own copy of the event. Only -race tells the difference.
func TestALateAnswerIsReadWithoutTheEvent(t *testing.T) {
	for name, c := range map[string]struct {
		event        agent.Event
		late, answer string
	}{
		"headers": {&agent.BeforeProviderHeaders{Headers: map[string]string{"A": "b"}}, `{ headers = { a = "c" } }`, `{ headers = { a = "d" } }`},
		"message": {&agent.MessageEnd{Message: &message.Message{Role: message.RoleUser}}, `{ message = { role = "user", content = "x" } }`, `{ message = { role = "user", content = "y" } }`},
		"tree":    {&agent.SessionBeforeTree{}, `{ summary = { summary = "s" } }`, `{ label = "l" }`},
	} {
		t.Run(name, func(t *testing.T) {
			kind := c.event.Kind().String()
			r := newRig(t, map[string]string{
				"a.lua": `pi.on("` + kind + `", function() return late(` + c.late + `) end)`,
				"b.lua": `pi.on("` + kind + `", function() go_on() return ` + c.answer + ` end)`,
			}, soon)
			hang := make(chan struct{})
			release := sync.OnceFunc(func() { close(hang) })
			t.Cleanup(release)
			setGlobal := func(hook int, name string, fn lua.LGFunction) {
				in := r.chain.roster.list()[hook].current()
				mustDo(t, in.vm.Run(context.Background(), luavm.Job{Name: "test", Run: func(L *lua.LState) error {
					in.vm.SetGlobal(name, L.NewFunction(fn))
					return nil
				}}))
			}
			setGlobal(0, "late", func(L *lua.LState) int { <-hang; L.Push(L.Get(1)); return 1 })
			setGlobal(1, "go_on", func(*lua.LState) int { release(); return 0 })
			r.emit(c.event)
			time.Sleep(50 * time.Millisecond) // the late answer is read by now
			r.mustSay("hook a: "+kind+":", "abandoned")
		})
	}
}

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
