package luahooks

import (
	"context"
	"strings"
	"testing"
	"time"

	"pi/agent"
)

// stuck is a call into Go that does not look up from what it does until the
// test is over.
const stuck = `print("hang")`

// hang makes stuck hang.
func hang(t *testing.T, r *rig) {
	r.host.hang = make(chan struct{})
	t.Cleanup(func() { close(r.host.hang) })
}

func soon(o *Options) { o.Timeout = 100 * time.Millisecond }

// adding is a hook that adds its name to a prompt, hears when a session starts,
// and has a gate.
const adding = `
	pi.on("input", function(e) return { text = e.text .. pi.hook.name } end)
	pi.on("session_start", function(e) print("heard " .. e.reason) end)
	pi.on("tool_call", function(e) print("asked") end)`

func TestTheHooksAfterOneThatDoesNotStopStillRun(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": adding, "c.lua": adding, "b.lua": `pi.on("input", function(e)
		if e.text == "xa" then ` + stuck + ` end
		return { text = e.text .. "b" }
	end)`}, soon)
	hang(t, r)
	if got := r.input("x"); got != "xac" {
		t.Errorf("got %q", got)
	}
	r.mustSay("hook b: input:", "abandoned")
	r.mustSay("hook b did not stop; a fresh copy of it goes on")
	if got := r.input("y"); got != "yabc" {
		t.Errorf("afterwards got %q", got)
	}
}

func TestAGateThatDoesNotStopBlocks(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": adding, "c.lua": adding, "b.lua": `pi.on("tool_call", function(e)
		if e.input.command == "hang" then ` + stuck + ` end
	end)`}, soon)
	hang(t, r)
	if e := r.bash("hang"); !e.Block || e.BlockedBy != "b" || !strings.Contains(e.Reason, "abandoned") {
		t.Errorf("block %v by %q: %s", e.Block, e.BlockedBy, e.Reason)
	}
	r.mustSay("a: asked")
	if r.said("c: asked") {
		t.Error("a blocked call went on")
	}
	if e := r.bash("ls"); e.Block || !r.said("c: asked") {
		t.Errorf("the fresh copy blocks: %s", e.Reason)
	}
}

func TestAllHearOfAnEventThatOneOfThemHangsAt(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": adding, "c.lua": adding, "b.lua": `pi.on("session_start", function(e)
		if e.reason == "new" then ` + stuck + ` end
	end)`}, soon)
	hang(t, r)
	r.emit(&agent.SessionStart{Reason: "new"})
	r.mustSay("a: heard new")
	r.mustSay("c: heard new")
	r.mustSay("hook b: session_start:", "abandoned")
	r.emit(&agent.SessionStart{Reason: "resume"})
	r.mustSay("c: heard resume")
}

func TestAHandlerThatIsLateInAnotherHooksDialogHarmsNobody(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": adding, "c.lua": adding,
		"b.lua": `pi.on("input", function(e, ctx)
			if e.text == "xa" then ctx.rebuild_context() end
			return { text = e.text .. "b" }
		end)`,
		"d.lua": `pi.on("context", function(e, ctx) ctx.ui.confirm("deaf?") end)`,
	}, func(o *Options) { o.Timeout = time.Second }) // enough for a busy machine to get to the dialog
	release := make(chan struct{})
	r.ui.ask = func(context.Context, string, string) (string, bool, error) {
		<-release
		return "", true, nil
	}
	if got := r.input("x"); got != "xac" {
		t.Errorf("got %q", got)
	}
	r.mustSay("hook b: input:", "ran longer than 1s")
	close(release)
	r.host.Context(context.Background())
	if got := r.input("y"); got != "yabc" {
		t.Errorf("afterwards got %q", got)
	}
	if r.said("fresh copy") {
		t.Error("a VM that only waited was thrown away")
	}
}

func TestAnInterruptEndsTheChainWhereItIs(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": adding, "c.lua": adding,
		"b.lua": `pi.on("input", function(e, ctx)
			ctx.ui.confirm("go?")
			return { text = e.text .. "b" }
		end)`})
	ctx, cancel := context.WithCancel(context.Background())
	deaf := make(chan struct{})
	for _, wait := range []<-chan struct{}{ctx.Done(), deaf} {
		r.ui.ask = func(context.Context, string, string) (string, bool, error) {
			cancel()
			<-wait
			return "", true, nil
		}
		e := &agent.Input{Text: "x"}
		mustDo(t, r.chain.Handle(ctx, e))
		if e.Text != "xa" {
			t.Errorf("got %q", e.Text)
		}
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
	close(deaf)
	r.mustBeQuiet()
}
