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

// dispatch is an event's way along the handlers of some hooks. Its position is kept in
// fields, not in a stack of calls, because a handler that does not stop keeps its
// goroutine, and another goroutine continues the dispatch. Loops in a coroutine
// (iter.Pull) would allow that too, but cost 1 µs more for each event and 0.3 µs
// more for each handler.
type dispatch struct {
	dispatcher *dispatcher
	ctx        context.Context
	spec       *event.Spec
	event      agent.Event // nil for one that a hook emits, which has data
	hooks      []*hook     // after the current one

	hook     *hook          // the current one; nil before the first
	mode     string         // not "": at this hook the gate of this mode is asked, and no handler of the event
	gateOf   string         // the mode for the next hook; only before the first
	closed   *closedGates   // of it, when in was looked for
	in       *instance      // of it
	handlers []*api.Handler // of that
	limit    int            // how many of them are run at most
	n        int            // index of the handler that runs or is next
	tries    int            // how often that did not begin because its VM was gone
	ran      bool           // a handler of this hook began
	running  bool           // a job was returned by next, and has not ended
	fn       *lua.LFunction // of that job
	began    time.Time      // when it was handed over

	slot *slot           // of a telling event at the current hook; nil: it has none
	data json.RawMessage // of an event that a hook emits

	asking asking // about an asking event
	// answered carries out on an asking event what the last handler, which ended with err,
	// returned; stop ends it. left is called after the handlers of a hook, also if it
	// has none; nil does nothing. Both are called outside of jobs. They find in the dispatch what
	// they work on: a function that captures variables is allocated anew for each event.
	answered func(ds *dispatch, err error) (stop bool)
	left     func(ds *dispatch) (stop bool)

	asked *askedEvent // of an asking event; nil: nobody waits
}

// maxReplaced is how often something is tried anew because its VM was replaced
// just then.
const maxReplaced = 20

// run runs the handlers that the hooks have for the event, one after the other, each
// at most once, and reports their errors. It skips a handler that its hook removes
// meanwhile. Where a hook is replaced before one of its handlers began, those of the
// new version run. Afterwards the event is finished on the version that it began on,
// or on a fresh copy of that if its VM had to be given up.
func (ds *dispatch) run() {
	inner := ds.ctx
	if ds.event != nil { // an event of the agent is not what somebody asked for
		inner = agent.WithOrigin(inner, agent.Origin{Kind: agent.FromHook})
	}
	switch ds.spec.Kind {
	case agent.KindContext:
		inner = api.WithContextEvent(inner)
	case agent.KindAppStart:
		inner = api.WithAppStart(inner)
	case agent.KindProjectTrust:
		inner = api.WithProjectTrust(inner)
	}
	if ds.spec.Asking && ds.spec.Kind != agent.KindMessageUpdate {
		ds.asked = &askedEvent{began: time.Now()}
		ds.dispatcher.asked.Store(ds.asked)
		defer ds.dispatcher.asked.CompareAndSwap(ds.asked, nil)
	}
	ds.dispatcher.workers.Run(inner, ds.next)
}

// next returns the job of the next handler, after the one before ended with err. It
// is a [luavm.Next].
func (ds *dispatch) next(err error) (vm *luavm.VM, job luavm.Job, more bool) {
	if ds.running {
		ds.running = false
		if ds.ended(err) {
			return nil, luavm.Job{}, false
		}
	}
	for {
		for ; ds.n < ds.limit; ds.n++ {
			h := ds.handlers[ds.n]
			isGone := ds.tries == 0 && h.IsGone()
			if !isGone && (h.Group == nil || !ds.asking.groups.hasEnded(h.Group)) {
				return ds.in.vm, ds.start(h), true
			}
		}
		if ds.hook != nil {
			if ds.slot != nil {
				ds.slot.end()
				ds.slot = nil
			}
			if ds.left != nil && ds.left(ds) {
				return nil, luavm.Job{}, false
			}
		}
		if len(ds.hooks) == 0 {
			return nil, luavm.Job{}, false
		}
		ds.enter(ds.hooks[0])
		ds.hooks = ds.hooks[1:]
	}
}

// enter makes h the current hook, at its first handler. For an asking event it waits until
// the telling events that were queued for h before have started.
func (ds *dispatch) enter(h *hook) {
	ds.hook, ds.tries, ds.ran = h, 0, false
	ds.mode, ds.gateOf = ds.gateOf, ""
	if ds.asked != nil {
		ds.asked.at.Store(h)
	}
	ds.use()
	if ds.limit > 0 && ds.spec.Asking && ds.spec.Kind != agent.KindMessageUpdate { // deltas have a queue of their own
		h.queue.catchUp(ds.ctx, ds.dispatcher.behind)
	}
}

// use takes the handlers of the instance that runs, from the first. Those that run are all; in the second
// round of a gate, of the hook of the last rewriter those before it, if the same version still
// runs: which of another one are before it cannot be told. A telling event needs its slot, else
// it goes through the queue of the hook.
func (ds *dispatch) use() {
	ds.closed = ds.hook.closed.Load() // first: gates are opened when there are handlers
	in := ds.hook.current()
	ds.in, ds.handlers, ds.n = in, ds.handlersOf(in), 0
	ds.limit = len(ds.handlers)
	if until := &ds.asking.until; ds.isAt(*until) && in == until.in {
		ds.limit = min(ds.limit, until.n)
	}
	if ds.limit > 0 && !ds.spec.Asking && ds.event != nil && !ds.takesSlot() {
		ds.limit = 0
	}
}

// handlersOf lists the handlers of an instance that are run at the current hook.
func (ds *dispatch) handlersOf(in *instance) []*api.Handler {
	if ds.mode == "" {
		return in.handlers(ds.spec.Name)
	}
	return in.mode(ds.mode).Gate()
}

// isAt reports whether the dispatch is at the hook of a position, there where the position is.
func (ds *dispatch) isAt(p position) bool { return ds.hook == p.hook && ds.mode == p.mode }

// start returns the job that runs a handler.
func (ds *dispatch) start(h *api.Handler) luavm.Job {
	ds.running, ds.began, ds.fn = true, time.Now(), h.Fn
	j := luavm.Job{Name: ds.spec.Name, Timeout: ds.dispatcher.timeout, Clock: ds.spec.Clock, Continues: ds.ran && !ds.hook.off.Load()}
	if !ds.spec.Asking {
		j.Run = ds.telling()
		return j
	}
	a := &ds.asking
	if a.seen == nil {
		a.seen = ds.spec.Copy(ds.event)
	}
	a.last = &question{in: ds.in, spec: ds.spec, event: ds.event, seen: a.seen, fn: h.Fn}
	if h.Group != nil {
		a.last.member = a.groups.join(h.Group)
	}
	j.Run = a.last.run
	return j
}

// telling returns the function of a job that tells the current handler of an event. It may
// still run when the dispatch has continued without it.
func (ds *dispatch) telling() func(L *lua.LState) error {
	in, fn, spec, e, slot, data := ds.in, ds.fn, ds.spec, ds.event, ds.slot, ds.data
	return func(L *lua.LState) error {
		if e == nil {
			in.script.Call(L, fn, in.script.Emitted(L, spec.Name, data))
			return nil
		}
		slot.end()
		in.script.Call(L, fn, spec.Table(in.events, L, e))
		return nil
	}
}

// ended records that the current handler ended with err, or revives its hook if the
// handler did not begin because the VM is gone. stop ends it.
func (ds *dispatch) ended(err error) (stop bool) {
	if !api.IsReplaced(err) {
		ds.ran = true
	} else if ds.tries < maxReplaced {
		ds.tries++
		ds.dispatcher.keeper.revive(ds.ctx, ds.hook, ds.in)
		if ds.moveOn() {
			return false
		}
		ds.limit, err = 0, errLost
	}
	result := "no opinion"
	if err == nil && ds.spec.Asking {
		result = cmp.Or(ds.asking.last.result, result)
	}
	ds.dispatcher.audience.ran(ds.ctx, ds.hook, ds.spec.Name, result, time.Since(ds.began), err)
	if err != nil {
		ds.dispatcher.keeper.failed(ds.ctx, ds.hook, ds.in, ds.spec.Name, ds.fn, err)
	}
	stop = ds.spec.Asking && ds.answered(ds, err)
	ds.n++
	ds.tries = 0
	return stop
}

// errLost is the error of a hook whose remaining handlers cannot be identified.
var errLost = errors.New("the hook was given up after some of its handlers had run; the others were left out")

// moveOn replaces an instance whose VM is gone by the one that runs now. If no handler
// of the hook began, the event begins anew there. Otherwise the remaining handlers
// run in it, if it is a copy with the same handlers; moveOn is false if it is another
// version, or a copy that has not registered all of them yet.
func (ds *dispatch) moveOn() bool {
	in := ds.hook.current()
	handlers := ds.handlersOf(in)
	switch {
	case !ds.ran:
		ds.use()
	case ds.hook.off.Load():
		ds.limit = 0
	case in == nil || !bytes.Equal(ds.in.code, in.code) || !slices.EqualFunc(ds.handlers, handlers, (*api.Handler).IsCopyOf):
		return false
	default:
		ds.in, ds.handlers = in, handlers
	}
	return true
}

// asking is what a dispatch knows of the handlers that it asks.
type asking struct {
	seen agent.Event // the copy that handlers get; nil: the event has changed, so start makes one
	last *question   // of the handler that was asked last

	groups *groups // of the handlers; nil: none was in one so far

	until    position // at a gate: the handlers before it are asked; no hook: all
	rewriter position // at a gate: of the last handler that rewrote the arguments
}

// apply carries out on the event what the last handler, which ended with err, returned. With
// an error, as of a handler that is late, that has no effect. stop reports whether no later
// handler is to be asked.
func (ds *dispatch) apply(err error) (stop bool) {
	if err != nil {
		return false
	}
	a := &ds.asking
	if m := a.last.member; m != nil {
		if a.groups == nil {
			a.groups = &groups{spec: ds.spec, event: ds.event}
		}
		for _, key := range slices.Sorted(slices.Values(m.omitted)) {
			ds.dispatcher.log.write(ds.hook.Name, fmt.Sprintf("%s: %s is left out: another handler of the group %s gave one first", ds.spec.Name, key, m.group.Name))
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

// position is a handler's position in the chain.
type position struct {
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
