package stdlib

import (
	"context"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// heldTimers is a rig whose timers start on goroutines that can be waited for,
// and whose callbacks wait until they are let go.
type heldTimers struct {
	*rig
	started []chan struct{} // closed at the end of each timer's goroutine
	due     chan struct{}   // has a value when a callback is due
	goOn    chan struct{}
}

func holdTimers(t *testing.T) *heldTimers {
	h := &heldTimers{rig: newRig(t), due: make(chan struct{}, 1), goOn: make(chan struct{})}
	spawn, call := h.env.Spawn, h.env.Call
	h.env.Spawn = func(f func(context.Context)) bool {
		ended := make(chan struct{})
		h.started = append(h.started, ended)
		return spawn(func(ctx context.Context) { defer close(ended); f(ctx) })
	}
	h.env.Call = func(ctx context.Context, name string, f func(*lua.LState) error) error {
		select {
		case h.due <- struct{}{}:
		default: // nobody waits for another
		}
		<-h.goOn
		return call(ctx, name, f)
	}
	return h
}

func TestATimerThatIsCancelledWhenItIsDueDoesNotRun(t *testing.T) {
	for _, kind := range []string{"after", "every"} {
		h := holdTimers(t)
		fired, cancelled := false, false
		err := h.run("hook.lua", `
			local cancel = require "pi.timer".`+kind+`(1, fire)
			is_due()
			cancelled(cancel())`, false, map[string]lua.LValue{
			"fire":      h.vm.Func("fire", func() { fired = true }),
			"is_due":    h.vm.Func("is_due", func(ctx context.Context) error { <-h.due; return nil }),
			"cancelled": h.vm.Func("cancelled", func(was bool) { cancelled = was }),
		})
		close(h.goOn)
		<-h.started[0]
		if err != nil || fired || !cancelled {
			t.Errorf("%s: %v; it ran: %v, there was something to cancel: %v", kind, err, fired, cancelled)
		}
	}
}

func TestACancelledTimerLeavesNothingBehind(t *testing.T) {
	h := holdTimers(t)
	close(h.goOn)
	err := h.run("hook.lua", `
		local timer = require "pi.timer"
		timer.after(3600000, print)()
		timer.every(3600000, print)()`, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ended := range h.started { // the hook goes on
		<-ended
	}
}
