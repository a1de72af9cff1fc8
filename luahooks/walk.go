package luahooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// walk is an event's way along the handlers of some hooks. Its position is kept in
// fields, not in a stack of calls, because a handler that does not stop keeps its
// goroutine, and another goroutine continues the walk. Loops in a coroutine
// (iter.Pull) would allow that too, but cost 1 µs more for each event and 0.3 µs
// more for each handler.
type walk struct {
	dispatcher *dispatcher
	ctx        context.Context
	spec       *event.Spec
	event      agent.Event // nil for one that a hook emits, which has data
	hooks      []*hook     // after the current one

	hook     *hook          // the current one; nil before the first
	mode     string         // not "": at this hook the gate of this mode is asked, and no handler of the event
	gateOf   string         // the mode for the next hook; only before the first
	in       *instance      // of it
	handlers []*api.Handler // of that
	limit    int            // how many of them are run at most
	n        int            // index of the handler that runs or is next
	tries    int            // how often that did not begin because its VM was gone
	ran      bool           // a handler of this hook began
	running  bool           // a job was returned by next, and has not ended
	fn       *lua.LFunction // of that job
	began    time.Time      // when it was handed over

	turn *turn           // of a telling event at the current hook; nil: it has none
	data json.RawMessage // of an event that a hook emits

	asking asking // about an asking event
	// answered carries out on an asking event what the last handler, which ended with err,
	// returned; stop ends the walk. left is called after the handlers of a hook, also if it
	// has none; nil does nothing. Both are called outside of jobs. They find in the walk what
	// they work on: a function that captures variables is allocated anew for each event.
	answered func(w *walk, err error) (stop bool)
	left     func(w *walk) (stop bool)

	journey *journey // of an asking event; nil: nobody waits
}

// maxReplaced is how often something is tried anew because its VM was replaced
// just then.
const maxReplaced = 20

// run runs the handlers that the hooks have for the event, one after the other, each
// at most once, and reports their errors. It skips a handler that its hook removes
// meanwhile. Where a hook is replaced before one of its handlers began, those of the
// new version run. Afterwards the event is finished on the version that it began on,
// or on a fresh copy of that if its VM had to be given up.
func (w *walk) run() {
	inner := w.ctx
	if w.event != nil { // an event of the agent is not what somebody asked for
		inner = agent.WithOrigin(inner, agent.Origin{Kind: agent.FromHook})
	}
	if w.spec.Kind == agent.KindContext {
		inner = api.WithContextEvent(inner)
	}
	if w.spec.Asking && w.spec.Kind != agent.KindMessageUpdate {
		w.journey = &journey{began: time.Now()}
		w.dispatcher.asked.Store(w.journey)
		defer w.dispatcher.asked.CompareAndSwap(w.journey, nil)
	}
	w.dispatcher.workers.Run(inner, w.next)
}

// next returns the job of the next handler, after the one before ended with err. It
// is a [luavm.Next].
func (w *walk) next(err error) (vm *luavm.VM, job luavm.Job, more bool) {
	if w.running {
		w.running = false
		if w.ended(err) {
			return nil, luavm.Job{}, false
		}
	}
	for {
		for ; w.n < w.limit; w.n++ {
			h := w.handlers[w.n]
			isGone := w.tries == 0 && h.IsGone()
			if !isGone && (h.Group == nil || !w.asking.groups.hasEnded(h.Group)) {
				return w.in.vm, w.start(h), true
			}
		}
		if w.hook != nil {
			if w.turn != nil {
				w.turn.end()
				w.turn = nil
			}
			if w.left != nil && w.left(w) {
				return nil, luavm.Job{}, false
			}
		}
		if len(w.hooks) == 0 {
			return nil, luavm.Job{}, false
		}
		w.enter(w.hooks[0])
		w.hooks = w.hooks[1:]
	}
}

// enter makes h the current hook, at its first handler. For an asking event it waits until
// the telling events that were queued for h before have started.
func (w *walk) enter(h *hook) {
	w.hook, w.tries, w.ran = h, 0, false
	w.mode, w.gateOf = w.gateOf, ""
	if w.journey != nil {
		w.journey.at.Store(h)
	}
	w.use(h.current())
	if w.limit > 0 && w.spec.Asking && w.spec.Kind != agent.KindMessageUpdate { // deltas have a queue of their own
		h.queue.catchUp(w.ctx, w.dispatcher.behind)
	}
}

// use takes the handlers of an instance, from the first. Those that run are all; in the second
// round of a gate, of the hook of the last rewriter those before it, if the same version still
// runs: which of another one are before it cannot be told. A telling event needs its turn, else
// it goes through the queue of the hook.
func (w *walk) use(in *instance) {
	w.in, w.handlers, w.n = in, w.handlersOf(in), 0
	w.limit = len(w.handlers)
	if until := &w.asking.until; w.isAt(*until) && in == until.in {
		w.limit = min(w.limit, until.n)
	}
	if w.limit > 0 && !w.spec.Asking && w.event != nil && !w.takesTurn() {
		w.limit = 0
	}
}

// handlersOf lists the handlers of an instance that are run at the current hook.
func (w *walk) handlersOf(in *instance) []*api.Handler {
	if w.mode == "" {
		return in.handlers(w.spec.Name)
	}
	return in.mode(w.mode).Gate()
}

// isAt reports whether the walk is at the hook of a place, there where the place is.
func (w *walk) isAt(p place) bool { return w.hook == p.hook && w.mode == p.mode }

// start returns the job that runs a handler.
func (w *walk) start(h *api.Handler) luavm.Job {
	w.running, w.began, w.fn = true, time.Now(), h.Fn
	j := luavm.Job{Name: w.spec.Name, Timeout: w.dispatcher.timeout, Clock: w.spec.Clock, Continues: w.ran && !w.hook.off.Load()}
	if !w.spec.Asking {
		j.Run = w.telling()
		return j
	}
	a := &w.asking
	if a.seen == nil {
		a.seen = w.spec.Copy(w.event)
	}
	a.last = &question{in: w.in, spec: w.spec, event: w.event, seen: a.seen, fn: h.Fn}
	if h.Group != nil {
		a.last.member = a.groups.join(h.Group)
	}
	j.Run = a.last.run
	return j
}

// telling returns the function of a job that tells the current handler of an event. It may
// still run when the walk has continued without it.
func (w *walk) telling() func(L *lua.LState) error {
	in, fn, spec, e, turn, data := w.in, w.fn, w.spec, w.event, w.turn, w.data
	return func(L *lua.LState) error {
		if e == nil {
			in.script.Call(L, fn, in.script.Emitted(L, spec.Name, data))
			return nil
		}
		turn.end()
		in.script.Call(L, fn, spec.Table(in.events, L, e))
		return nil
	}
}

// ended records that the current handler ended with err, or revives its hook if the
// handler did not begin because the VM is gone. stop ends the walk.
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
	if err == nil && w.spec.Asking {
		result = cmp.Or(w.asking.last.result, result)
	}
	w.dispatcher.audience.ran(w.ctx, w.hook, w.spec.Name, result, time.Since(w.began), err)
	if err != nil {
		w.dispatcher.keeper.failed(w.ctx, w.hook, w.in, w.spec.Name, w.fn, err)
	}
	stop = w.spec.Asking && w.answered(w, err)
	w.n++
	w.tries = 0
	return stop
}

// errLost is the error of a hook whose remaining handlers cannot be identified.
var errLost = errors.New("the hook was given up after some of its handlers had run; the others were left out")

// moveOn replaces an instance whose VM is gone by the one that runs now. If no handler
// of the hook began, the event begins anew there. Otherwise the remaining handlers
// run in it, if it is a copy with the same handlers; moveOn is false if it is another
// version, or a copy that has not registered all of them yet.
func (w *walk) moveOn() bool {
	in := w.hook.current()
	handlers := w.handlersOf(in)
	switch {
	case !w.ran:
		w.use(in)
	case w.hook.off.Load():
		w.limit = 0
	case in == nil || !bytes.Equal(w.in.code, in.code) || !slices.EqualFunc(w.handlers, handlers, (*api.Handler).IsCopyOf):
		return false
	default:
		w.in, w.handlers = in, handlers
	}
	return true
}

// asking is what a walk knows of the handlers that it asks.
type asking struct {
	seen agent.Event // the copy that handlers get; nil: the event has changed, so start makes one
	last *question   // of the handler that was asked last

	groups *groups // of the handlers; nil: none was in one so far

	until    place // at a gate: the handlers before it are asked; no hook: all
	rewriter place // at a gate: of the last handler that rewrote the arguments
}

// apply carries out on the event what the last handler, which ended with err, returned. With
// an error, as of a handler that is late, that has no effect. stop reports whether no later
// handler is to be asked.
func (w *walk) apply(err error) (stop bool) {
	if err != nil {
		return false
	}
	a := &w.asking
	if m := a.last.member; m != nil {
		if a.groups == nil {
			a.groups = &groups{spec: w.spec, event: w.event}
		}
		for _, key := range slices.Sorted(slices.Values(m.omitted)) {
			w.dispatcher.log.write(w.hook.Name, fmt.Sprintf("%s: %s is left out: another handler of the group %s gave one first", w.spec.Name, key, m.group.Name))
		}
	}
	switch {
	case a.last.apply == nil:
		return a.last.stop
	case a.groups == nil:
		a.last.apply()
	default:
		a.groups.apply(a.last.member, a.last.apply)
	}
	a.seen = nil
	return a.last.stop
}

// place is a handler's place in the chain.
type place struct {
	hook *hook
	mode string // "" where n is among the handlers of the event, else it is in the gate of this mode
	in   *instance
	n    int // among the handlers of in
}

// question is one handler asked about an event. apply, stop and result are written by
// its job and read only when the job ended in time. The job reads only its own copy
// of the event, because it may still run when the event continues without it.
type question struct {
	in    *instance
	spec  *event.Spec
	event agent.Event // that apply changes
	seen  agent.Event // the copy that the handler gets
	fn    *lua.LFunction

	member *member // of a group; nil: the handler is in none

	apply  func()
	stop   bool
	result string // its keys, where the hook is traced; "" for no opinion
}

// run calls the handler and reads what it returned into apply, stop and result. It is the
// function of the job.
func (q *question) run(L *lua.LState) error {
	result := q.in.script.Call(L, q.fn, q.spec.Table(q.in.events, L, q.seen))
	if result == lua.LNil {
		return nil
	}
	t, err := q.table(L, result)
	if err == nil {
		q.apply, q.stop, err = q.spec.Merge(q.in.events, L, q.event, q.seen, t)
	}
	if err != nil {
		return api.WithPlace(q.fn, err)
	}
	return nil
}

// table returns what a handler returned as a table, or an error if it is none or has a key
// that a result of the event may not have.
func (q *question) table(L *lua.LState, v lua.LValue) (*lua.LTable, error) {
	t, ok := luavm.TableOf(L, v)
	if !ok {
		return nil, fmt.Errorf("a handler of %s returns nil or a table, not a %s", q.spec.Name, v.Type())
	}
	if meta, ok := t.Metatable.(*lua.LTable); ok && meta.RawGetString("__index") != lua.LNil {
		// The keys that it inherits would be left out, and a block among them with them.
		return nil, fmt.Errorf("the result of %s has __index in its metatable; return a plain table", q.spec.Name)
	}
	var keys []string
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		name, ok := k.(lua.LString)
		if !ok || !q.spec.MayReturn(string(name)) {
			return nil, q.spec.UnknownKey(k.String())
		}
		keys = append(keys, string(name))
	}
	if q.member != nil {
		t, keys = q.member.countingOf(L, t, keys)
	}
	if len(keys) > 0 && q.in.hook.traced.Load() {
		slices.Sort(keys)
		q.result = "{" + strings.Join(keys, ", ") + "}"
	}
	return t, nil
}
