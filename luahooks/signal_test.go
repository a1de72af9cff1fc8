package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pi/agent"
)

func TestASignalTellsThatAHandlerWasStopped(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local kept
		pi.on("tool_call", function(e, ctx)
			kept = ctx.signal
			assert(ctx.signal == kept and not kept.cancelled())
			kept.on_cancel(function() pi.send("stopped " .. tostring(kept.cancelled())) end)
			kept.on_cancel(function() pi.send("never") end)()
			ctx.ui.confirm("?")
		end)
		pi.on("input", function(e, ctx)
			local r, err = pi.exec("sh", { "-c", "echo > begun; sleep 10" }, { signal = kept })
			return { text = (r and tostring(r.killed) or err) .. tostring(ctx.signal.cancelled()) }
		end)`})
	asked, _ := r.ui.dialogs()
	ctx, cancel := context.WithCancel(context.Background())
	var call sync.WaitGroup
	call.Go(func() { _ = r.chain.Handle(ctx, &agent.ToolCall{Name: "x", Input: []byte(`{}`)}) })
	<-asked
	var killed string
	call.Go(func() { killed = r.input("") })
	until(t, func() bool { _, err := os.Stat(filepath.Join(r.cwd, "begun")); return err == nil })
	cancel()
	call.Wait()
	until(t, func() bool { return r.host.texts() != "" })
	if got := r.host.texts(); got != "stopped true" {
		t.Errorf("heard %q", got)
	}
	if later := r.input(""); killed != "truefalse" || later != "start sh: interruptedfalse" {
		t.Errorf("a program with the signal of a handler that is stopped: %q, that was stopped: %q", killed, later)
	}
}

func TestTheSignalOfAHandlerThatEndsByItselfIsNeverCancelled(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local kept
		pi.on("tool_call", function(e, ctx)
			kept = ctx.signal
			kept.on_cancel(function() pi.send("stopped") end)
		end)
		pi.on("input", function() return { text = tostring(kept.cancelled()) } end)`})
	ctx, cancel := context.WithCancel(context.Background())
	mustDo(t, r.chain.Handle(ctx, &agent.ToolCall{Name: "x", Input: []byte(`{}`)}))
	cancel()
	if got := r.input(""); got != "false" || r.host.texts() != "" {
		t.Errorf("cancelled: %s; heard %q", got, r.host.texts())
	}
	r.mustBeQuiet()
}

func TestASignalIsMadeByTheProgram(t *testing.T) {
	r := newRig(t, nil)
	for body, want := range map[string]string{
		`pi.exec("ls", nil, { signal = {} })`:   `option "signal" must be a signal such as ctx.signal, not a table`,
		`pi.exec("ls", nil, { signal = true })`: `option "signal" must be a signal such as ctx.signal, not a boolean`,
		`ctx.signal.on_cancel(1)`:               "function expected, got number",
	} {
		if r.lua(body); !r.said("lua.lua:1: ", want) {
			t.Errorf("%s: %q", body, r.host.notices())
		}
	}
}
