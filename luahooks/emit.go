package luahooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luahooks/event"
	"pi/luahooks/exitwait"
	"pi/session"
)

// shutdownTime is what all handlers of session_shutdown get together.
const shutdownTime = 2 * time.Second

// emit gives a telling event to the hooks one after the other and waits as long
// as the event says; handlers that need longer finish behind the agent.
func (d *dispatcher) emit(ctx context.Context, spec *event.Spec, hooks []*hook, e agent.Event) {
	if spec.IsWaitedFor(ctx) {
		d.runHandlers(ctx, spec, hooks, e, nil)
		return
	}
	patience := d.grace
	if spec.Wait == event.LastChance {
		patience = shutdownTime
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	deadline, _ := wait.Deadline()
	var late []*pendingEvent
	for _, h := range hooks {
		if len(h.current().handlers(spec.Key)) == 0 {
			continue
		}
		l := &pendingEvent{hook: h}
		run := func(own *slot) { d.emitTo(ctx, l, spec, e, deadline, own) }
		l.done = h.queue.add(d.behind, run)
		if !d.waitFor(wait, spec, l.done) {
			late = append(late, l)
		}
	}
	if spec.Wait != event.LastChance {
		return
	}
	for _, l := range late {
		if !d.deferred.IsOpen(l.hook.Path) && !waitDone(wait, l.done) && !d.deferred.IsOpen(l.hook.Path) {
			d.cutOff(l, spec)
		}
	}
	if end, ok := e.(*agent.SessionShutdown); ok && end.IsLast() {
		d.finishDeferred(ctx)
	}
	// Handlers whose hooks had more time than others get the time to return. They go on
	// behind the agent where the program does not end.
	wait, end := context.WithTimeout(ctx, 2*d.grace)
	defer end()
	for _, l := range late {
		if !d.deferred.IsOpen(l.hook.Path) && !waitDone(wait, l.done) {
			d.cutOff(l, spec)
		}
	}
}

// finishDeferred waits for what hooks have to finish before the program ends. The user sees
// what is waited for, and is told of what is cut off, as the hook log is.
func (d *dispatcher) finishDeferred(ctx context.Context) {
	d.deferred.Wait(func(until context.Context, w *exitwait.Work, wait func(context.Context)) {
		doing := "hook " + w.Hook + ": " + w.Text
		ui := d.audience.uiNow()
		if row, ok := ui.(cancellable); ok && agent.HasUser(ui) {
			row.Cancellable(until, doing, wait)
			return
		}
		d.audience.notify(ctx, agent.LevelInfo, "before the end, "+doing)
		wait(until)
	}, func(w *exitwait.Work, why string) {
		for _, h := range d.roster.list() {
			if w.IsOf(h.Path) {
				d.audience.tellCutOff(h, w.Text, why)
			}
		}
	})
}

// cancellable is a front end that shows what is waited for, and lets the user end that.
type cancellable interface {
	Cancellable(ctx context.Context, doing string, do func(context.Context))
}

// pendingEvent is an event that a hook has not handled yet, and may not have the time to.
type pendingEvent struct {
	hook *hook
	done <-chan struct{}
	said sync.Once
}

// cutOff tells, once, that a hook did not get the time that it wanted for an event.
func (d *dispatcher) cutOff(l *pendingEvent, spec *event.Spec) {
	why := "the program has ended"
	if spec.Wait == event.LastChance {
		why = fmt.Sprintf("all hooks together have %v for it", shutdownTime)
	}
	l.said.Do(func() { d.audience.tellCutOff(l.hook, spec.Name, why) })
}

// waitFor waits until a hook has handled an event, and reports whether it has before wait
// ended. At the end of a session no hook is waited for longer than hook_grace, so that one
// that hangs leaves time for the others.
func (d *dispatcher) waitFor(wait context.Context, spec *event.Spec, done <-chan struct{}) bool {
	if spec.Wait == event.LastChance {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(wait, d.grace)
		defer cancel()
	}
	return waitDone(wait, done)
}

// emitTo runs the handlers of one hook for a telling event, when the queue has given it the
// slot own. Handlers that may finish after the agent has gone on do not end with its run, only
// with the chain, or at deadline if it is the last chance; the user is told of that.
func (d *dispatcher) emitTo(ctx context.Context, l *pendingEvent, spec *event.Spec, e agent.Event, deadline time.Time, own *slot) {
	mayBeLate := !spec.IsWaitedFor(ctx)
	if mayBeLate {
		var cancel context.CancelFunc
		ctx, cancel = d.behind.detach(ctx)
		defer cancel()
	}
	if spec.Wait == event.LastChance {
		var cancel context.CancelFunc
		ctx, cancel = d.deferred.Within(ctx, l.hook.Path, deadline, d.grace)
		defer cancel()
	}
	d.runHandlers(ctx, spec, []*hook{l.hook}, e, own)
	if mayBeLate && ctx.Err() != nil {
		d.cutOff(l, spec)
	}
}

// runHandlers runs the handlers of hooks for a telling event and waits for them. A hook with
// earlier events in its queue gets this one through the queue, after them. own is the slot
// of an event that comes out of the queue of its one hook; nil for any other.
func (d *dispatcher) runHandlers(ctx context.Context, spec *event.Spec, hooks []*hook, e agent.Event, own *slot) {
	ds := &dispatch{dispatcher: d, ctx: ctx, spec: spec, event: e, hooks: hooks, slot: own}
	ds.run()
}

// takesSlot reports whether a telling event can be handled by the current hook now. If events of
// before wait there it is put behind them, and takesSlot returns when it was handled.
func (ds *dispatch) takesSlot() bool {
	d, h := ds.dispatcher, ds.hook
	if ds.slot == nil {
		ds.slot = h.queue.begin(d.behind)
	}
	if ds.slot != nil {
		return true
	}
	run := func(own *slot) { d.emitTo(ds.ctx, &pendingEvent{hook: h}, ds.spec, ds.event, time.Time{}, own) }
	waitDone(ds.ctx, h.queue.add(d.behind, run))
	return false
}

// emitCustom passes an event that the hook from emits to the other hooks that listen, and
// returns when their handlers have ended.
func (d *dispatcher) emitCustom(ctx context.Context, from *hook, name string, data json.RawMessage) {
	others := slices.DeleteFunc(d.roster.listening(name), func(h *hook) bool { return h == from })
	if len(others) == 0 {
		return
	}
	spec := &event.Spec{Name: name, Key: name, Rule: "told in chain order; waited for"}
	ds := &dispatch{dispatcher: d, ctx: ctx, spec: spec, data: data, hooks: others}
	ds.run()
}

// greet emits session_start with reason reload to a hook that runs new code, and
// returns what is closed when the hook has handled it.
func (d *dispatcher) greet(ctx context.Context, h *hook, s *session.Session) <-chan struct{} {
	spec := d.roster.events[agent.KindSessionStart]
	in := h.current()
	if len(in.handlers(spec.Key)) == 0 {
		endUnclaimed(in)
		done := make(chan struct{})
		close(done)
		return done
	}
	e := &agent.SessionStart{Reason: "reload", SessionID: s.ID(), SessionFile: s.File()}
	return h.queue.add(d.behind, func(own *slot) {
		ctx, cancel := d.behind.detach(ctx)
		defer cancel()
		d.emitTo(ctx, &pendingEvent{hook: h}, spec, e, time.Time{}, own)
		endUnclaimed(in)
	})
}

// endUnclaimed ends, behind, the programs of the version before that in, which may be nil,
// did not take up in its session_start.
func endUnclaimed(in *instance) {
	if in != nil {
		in.loader.ending.run(in.script.EndUnclaimed)
	}
}

// maxQueued is how many telling events may wait for one hook.
const maxQueued = 1000

// eventQueue starts the telling events of one hook in their order. The next one
// starts when the one before has got the VM or has ended, so that it runs while
// that one waits, but never before it.
type eventQueue struct {
	mu       sync.Mutex // guards what follows
	jobs     []queued
	starting bool // a job was started and has not got the VM yet
	dropped  int
}

// queued is one event for one hook. run ends its slot as soon as it has the VM.
type queued struct {
	run  func(*slot)
	done chan struct{}
}

// add queues a job, and starts it if no other is starting. The channel is closed when it has
// run; also when it never will, because too many wait and it is the oldest.
func (q *eventQueue) add(b *background, run func(*slot)) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := queued{run, make(chan struct{})}
	if len(q.jobs) >= maxQueued {
		close(q.jobs[0].done)
		q.jobs = q.jobs[1:]
		q.dropped++
	}
	q.jobs = append(q.jobs, j)
	if !q.starting {
		q.next(b)
	}
	return j.done
}

// next starts the oldest job on a goroutine, if there is one. Jobs of a chain that is closed
// are dropped. q.mu is held.
func (q *eventQueue) next(b *background) {
	q.starting = len(q.jobs) > 0
	if !q.starting {
		return
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	began := b.run(func() {
		own := &slot{queue: q, behind: b}
		j.run(own)
		own.end()
		close(j.done)
	})
	if !began { // the chain is closed
		close(j.done)
		q.next(b)
	}
}

// begin returns the slot for a job that the caller runs, or nil if other jobs are
// before it. The caller ends the slot as soon as the job has the VM.
func (q *eventQueue) begin(b *background) *slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.starting {
		return nil
	}
	q.starting = true
	return &slot{queue: q, behind: b}
}

// slot belongs to the job that is starting. Its end lets the next one start.
type slot struct {
	queue  *eventQueue
	behind *background
	over   atomic.Bool
}

// end lets the next job of the queue start; only the first call has an effect.
func (s *slot) end() {
	if s.over.Swap(true) {
		return
	}
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.queue.next(s.behind)
}

// catchUp waits until the jobs that are in the queue now have started.
func (q *eventQueue) catchUp(ctx context.Context, b *background) {
	q.mu.Lock()
	behind := q.starting
	q.mu.Unlock()
	if behind {
		waitDone(ctx, q.add(b, (*slot).end))
	}
}

// lost is how many events were dropped.
func (q *eventQueue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
