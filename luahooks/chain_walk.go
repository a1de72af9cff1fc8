package luahooks

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// walk is an event's way along the handlers of some hooks. Where it stands is
// data and no stack of calls, because a handler that does not stop keeps its
// goroutine, and another one goes on from there.
type walk struct {
	chain *Chain
	ctx   context.Context
	spec  *event.Spec
	step  steps
	hooks []*hook // still to come

	hook     *hook // that it is at, with what runs of it
	in       *instance
	handlers []*registration
	limit    int
	n        int            // of the handler that runs or is next
	tries    int            // of that handler
	ran      bool           // a handler of this hook began
	running  bool           // it was handed to the lane
	fn       *lua.LFunction // that was handed to it last
	began    time.Time
}

// steps are what an event does on its way. They are taken one after the other,
// outside of jobs; what job returns runs inside, maybe still when the walk has
// gone on.
type steps interface {
	// enter begins a hook that has handlers, and says how many of those in in are
	// run at most. It is taken again when in was replaced before any began.
	enter(h *hook, in *instance) (limit int)
	job(in *instance, fn *lua.LFunction) func(L *lua.LState) error
	// after is told the number of a handler of h and how it ended. stop ends
	// the hook.
	after(h *hook, n int, err error) (stop bool)
	// leave ends a hook, also one without handlers. stop ends the walk.
	leave(h *hook) (stop bool)
	// answered are the keys of what the last handler returned, where the hook is
	// traced; it is asked after one that ended in time.
	answered() []string
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
func (c *Chain) walk(ctx context.Context, spec *event.Spec, hooks []*hook, step steps) {
	inner := ctx
	if !isCustom(spec.Name) { // what the agent tells of is nobody's wish any more
		inner = agent.WithOrigin(ctx, agent.Origin{Kind: agent.FromHook})
	}
	if spec.Kind == agent.KindContext {
		inner = context.WithValue(inner, contextEventKey{}, true)
	}
	w := &walk{chain: c, ctx: ctx, spec: spec, step: step, hooks: hooks}
	c.lanes.Run(inner, w.next)
}

// next is a [luavm.Next].
func (w *walk) next(err error) (*luavm.VM, luavm.Job, bool) {
	stop := false
	if w.running {
		w.running = false
		stop = w.ended(err)
	}
	for {
		if w.hook != nil && !stop && w.seek() {
			return w.run()
		}
		if w.hook != nil && w.step.leave(w.hook) || len(w.hooks) == 0 {
			return nil, luavm.Job{}, false
		}
		stop = false
		w.begin(w.hooks[0])
		w.hooks = w.hooks[1:]
	}
}

func (w *walk) begin(h *hook) {
	w.hook, w.in, w.n, w.tries, w.limit, w.ran = h, h.current(), 0, 0, 0, false
	if w.handlers = w.in.handlers(w.spec.Name); len(w.handlers) > 0 {
		if w.spec.Asking && w.spec.Kind != agent.KindMessageUpdate { // deltas have a queue of their own
			h.queue.catchUp(w.ctx, w.chain.behind)
		}
		w.limit = w.step.enter(h, w.in)
	}
}

// seek finds the next handler of the hook.
func (w *walk) seek() bool {
	for ; w.n < min(len(w.handlers), w.limit); w.n++ {
		if w.tries > 0 || !w.handlers[w.n].gone.Load() {
			return true
		}
	}
	return false
}

func (w *walk) run() (*luavm.VM, luavm.Job, bool) {
	w.running, w.began, w.fn = true, time.Now(), w.handlers[w.n].fn
	return w.in.vm, luavm.Job{
		Name: w.spec.Name, Timeout: w.chain.opts.Timeout, Clock: w.spec.Clock,
		Continues: w.ran && !w.hook.off.Load(),
		Run:       w.step.job(w.in, w.fn),
	}, true
}

// ended is told how a handler ended. stop ends its hook.
func (w *walk) ended(err error) (stop bool) {
	lost := false
	if !isReplaced(err) {
		w.ran = true
	} else if w.tries < maxReplaced {
		w.tries++
		w.chain.revive(w.ctx, w.hook, w.in)
		if w.moveOn() {
			return false
		}
		lost, err = true, errLost
	}
	w.note(err)
	if err != nil {
		w.chain.failed(w.ctx, w.hook, w.in, w.spec.Name, w.fn, err)
	}
	stop = w.step.after(w.hook, w.n, err)
	w.n++
	w.tries = 0
	return stop || lost
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
		w.n, w.in, w.handlers, w.limit = 0, in, handlers, w.step.enter(w.hook, in)
	case w.hook.off.Load():
		w.limit = 0
	case !w.in.sameCode(in) || !slices.EqualFunc(w.handlers, handlers, (*registration).standsFor):
		return false
	default:
		w.in, w.handlers = in, handlers
	}
	return true
}

func (in *instance) sameCode(other *instance) bool {
	return other != nil && bytes.Equal(in.code, other.code)
}

// standsFor reports whether r is what another copy of the same file registered as
// other.
func (r *registration) standsFor(other *registration) bool {
	a, b := r.fn, other.fn
	if a.IsG || b.IsG {
		return a.IsG == b.IsG
	}
	return a.Proto.SourceName == b.Proto.SourceName && a.Proto.LineDefined == b.Proto.LineDefined &&
		a.Proto.LastLineDefined == b.Proto.LastLineDefined
}

// note counts a handler, and tells of it if its hook is traced.
func (w *walk) note(err error) {
	took := time.Since(w.began)
	w.hook.stats.add(w.spec.Name, took, err != nil && !interrupted(w.ctx, err))
	if !w.hook.traced.Load() {
		return
	}
	var keys []string
	if err == nil {
		keys = w.step.answered()
	}
	w.chain.trace(w.ctx, w.hook, w.spec.Name, keys, took, err)
}

// isReplaced reports whether something did not begin because its VM is no more.
// What began and was cut off ends with another error: it is never run again.
func isReplaced(err error) bool {
	return err != nil && (errors.Is(err, luavm.ErrClosed) || errors.Is(err, luavm.ErrDead))
}
