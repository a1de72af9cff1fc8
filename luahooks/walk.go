package luahooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// walk is an event's way along the handlers of some hooks. Its position is data
// and no stack of calls, because a handler that does not stop keeps its
// goroutine, and another one goes on from there. Loops in a coroutine (iter.Pull)
// would do that too; they cost 1 to 1.5 µs for each event, and half of one more
// for each handler.
type walk struct {
	dispatcher *dispatcher
	ctx        context.Context
	spec       *event.Spec
	steps      steps
	hooks      []*hook // still to come

	hook     *hook // that it is at, with what runs of it
	in       *instance
	handlers []*api.Handler
	limit    int
	n        int            // of the handler that runs or is next
	tries    int            // of that handler
	ran      bool           // a handler of this hook began
	running  bool           // it was handed to the lane
	fn       *lua.LFunction // that was handed to it last
	began    time.Time
}

// steps are what an event does on its way. They are taken one after the other,
// outside of jobs. Functions that are nil do nothing.
type steps struct {
	// begin is called at a hook that has handlers, and says how many of those in
	// in are run at most; nil runs all. It is called again when in was replaced
	// before any began.
	begin func(h *hook, in *instance) (limit int)
	// asking is what handlers are asked; nil for a telling event.
	asking *asking
	// run returns what runs for a handler of a telling event: inside a job, maybe
	// still when the walk has gone on.
	run func(in *instance, fn *lua.LFunction) func(L *lua.LState) error
	// ended is told the number of a handler of h and how it ended. stop ends the
	// walk.
	ended func(h *hook, n int, err error) (stop bool)
	// done ends a hook, also one without handlers. stop ends the walk.
	done func(h *hook) (stop bool)
}

const allHandlers = math.MaxInt

// maxReplaced is how often something is tried anew because its VM was replaced
// just then.
const maxReplaced = 20

// walk runs the handlers that hooks have for an event, one after the other, each
// at most once. Errors are reported. Handlers that are taken back meanwhile are
// left out. A VM that is replaced at that moment is no reason to leave one out
// that did not begin: a hook of which a handler began finishes the event on the
// version that it began on, and goes on in a fresh copy if that was given up.
func (d *dispatcher) walk(ctx context.Context, spec *event.Spec, hooks []*hook, steps steps) {
	inner := ctx
	if !api.IsCustom(spec.Name) { // what the agent tells of is nobody's wish any more
		inner = agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromHook})
	}
	if spec.Kind == agent.KindContext {
		inner = api.InContextEvent(inner)
	}
	w := &walk{dispatcher: d, ctx: ctx, spec: spec, steps: steps, hooks: hooks}
	d.lanes.Run(inner, w.next)
}

// next is a [luavm.Next].
func (w *walk) next(err error) (vm *luavm.VM, job luavm.Job, more bool) {
	if w.running {
		w.running = false
		if w.ended(err) {
			return nil, luavm.Job{}, false
		}
	}
	for {
		for ; w.hook != nil && w.n < min(len(w.handlers), w.limit); w.n++ {
			if w.tries > 0 || !w.handlers[w.n].IsGone() {
				return w.in.vm, w.start(w.handlers[w.n].Fn), true
			}
		}
		if w.hook != nil && w.steps.done != nil && w.steps.done(w.hook) || len(w.hooks) == 0 {
			return nil, luavm.Job{}, false
		}
		w.enter(w.hooks[0])
		w.hooks = w.hooks[1:]
	}
}

// enter goes on to a hook.
func (w *walk) enter(h *hook) {
	w.hook, w.in, w.n, w.tries, w.limit, w.ran = h, h.current(), 0, 0, 0, false
	if w.handlers = w.in.handlers(w.spec.Name); len(w.handlers) > 0 {
		if w.spec.Asking && w.spec.Kind != agent.KindMessageUpdate { // deltas have a queue of their own
			h.queue.catchUp(w.ctx, w.dispatcher.behind)
		}
		w.begin()
	}
}

// begin sets how many handlers of the instance are run.
func (w *walk) begin() {
	w.limit = allHandlers
	if w.steps.begin != nil {
		w.limit = w.steps.begin(w.hook, w.in)
	}
}

// start makes the job of a handler.
func (w *walk) start(fn *lua.LFunction) luavm.Job {
	w.running, w.began, w.fn = true, time.Now(), fn
	j := luavm.Job{Name: w.spec.Name, Timeout: w.dispatcher.timeout, Clock: w.spec.Clock, Continues: w.ran && !w.hook.off.Load()}
	if w.steps.asking != nil {
		j.Run = w.steps.asking.job(w.in, fn)
	} else {
		j.Run = w.steps.run(w.in, fn)
	}
	return j
}

// ended is told how a handler ended. stop ends the walk.
func (w *walk) ended(err error) (stop bool) {
	if !api.IsReplaced(err) {
		w.ran = true
	} else if w.tries < maxReplaced {
		w.tries++
		w.dispatcher.keeper.revive(w.ctx, w.hook, w.in)
		if w.moveOn() {
			return false
		}
		w.limit, err = 0, errLost
	}
	result := "no opinion"
	if err == nil && w.steps.asking != nil {
		result = cmp.Or(w.steps.asking.last.result, result)
	}
	w.dispatcher.reports.ran(w.ctx, w.hook, w.spec.Name, result, time.Since(w.began), err)
	if err != nil {
		w.dispatcher.keeper.failed(w.ctx, w.hook, w.in, w.spec.Name, w.fn, err)
	}
	stop = w.steps.ended != nil && w.steps.ended(w.hook, w.n, err)
	w.n++
	w.tries = 0
	return stop
}

// errLost is said of a hook whose handlers cannot be told apart any more.
var errLost = errors.New("the hook was given up after some of its handlers had run; the others were left out")

// moveOn goes from a VM that is gone to what runs of the hook now. If no handler
// of it began, the event begins anew there. Otherwise the handlers that are left
// are run, as far as it is known which these are: those of another version, or of
// a copy that has not registered all of its own yet, are none of them.
func (w *walk) moveOn() bool {
	in := w.hook.current()
	handlers := in.handlers(w.spec.Name)
	switch {
	case !w.ran:
		w.n, w.in, w.handlers = 0, in, handlers
		w.begin()
	case w.hook.off.Load():
		w.limit = 0
	case in == nil || !bytes.Equal(w.in.code, in.code) || !slices.EqualFunc(w.handlers, handlers, (*api.Handler).IsCopyOf):
		return false
	default:
		w.in, w.handlers = in, handlers
	}
	return true
}
