package luahooks

import (
	"context"
	"math"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/event"
	"pi/session/message"
)

// The deltas of an answer. A stream never waits for a hook: each with handlers of
// message_update has a goroutine of its own while there is something for it, and deltas
// that arrive meanwhile are joined. The stream only waits a moment for a handler, so that
// a quick one, which is the normal case, stops an answer at the very delta that it objects
// to.

const (
	// updateMoment is how long a stream waits for the handlers of one delta.
	updateMoment = 10 * time.Millisecond
	// updateFree is what a handler may take without being counted as slow. What
	// goes beyond that comes out of a budget of hook_grace per answer.
	updateFree = time.Millisecond
)

// updates are the deltas of an answer on their way to one hook.
type updates struct {
	mu      sync.Mutex      // guards all of it
	ctx     context.Context // of the answer
	answer  int             // counts answers, so that a late abort stops no other one
	pending []joined
	done    chan struct{} // closed when nothing runs any more; nil if nothing does
	last    *agent.MessageUpdate
	collect bool // collectAborts is about to take abort
	abort   *agent.Abort
	spent   time.Duration // of the budget
}

// joined is one or more deltas of the same type and block.
type joined struct {
	kind    llm.DeltaKind
	index   int
	texts   []string
	message *message.Message // as far as it had come with the last of them
}

// passDelta gives a delta to the hooks that listen, and tells the agent what they have
// answered so far. The last update of an answer waits for what is under way.
func (d *dispatcher) passDelta(ctx context.Context, spec *event.Spec, e *agent.MessageUpdate) {
	if e.Delta.Kind == llm.DeltaStop {
		for _, h := range d.roster.list() {
			h.updates.mu.Lock()
			h.updates.collect = true
			h.updates.mu.Unlock()
		}
	} else if hooks := d.roster.listening(spec.Key); len(hooks) > 0 {
		message := e.Message()
		for _, h := range hooks {
			if h.updates.add(ctx, e, message) {
				d.startUpdates(h, spec)
			}
		}
	}
	d.awaitUpdates(ctx, e.Delta.Kind == llm.DeltaStop)
	d.collectAborts(e)
}

// add queues a delta, joined with the one before if that still waits and is of the same
// block. It reports whether nothing handles deltas for the hook yet, so that the caller
// has to start. A new ctx is a new answer.
func (u *updates) add(ctx context.Context, e *agent.MessageUpdate, message *message.Message) (start bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := e.Delta
	if u.ctx != ctx { // the answer before was interrupted
		u.forget()
		u.ctx = ctx
	}
	u.last, u.collect = e, true
	if last := len(u.pending) - 1; last >= 0 && u.pending[last].kind == d.Kind && u.pending[last].index == d.Index {
		j := &u.pending[last]
		j.texts, j.message = append(j.texts, d.Text), message
	} else {
		u.pending = append(u.pending, joined{d.Kind, d.Index, []string{d.Text}, message})
	}
	if u.done != nil {
		return false
	}
	u.done = make(chan struct{})
	return true
}

// forget drops all that belongs to the answer, which is over or was interrupted, so that what
// its handlers still return has no effect. u.mu is held.
func (u *updates) forget() {
	u.ctx, u.pending, u.last, u.collect, u.abort, u.spent = nil, nil, nil, false, nil, 0
	u.answer++
}

// next removes and returns the deltas that a handler gets next, with the context and the
// number of their answer. With nil there are none, and done is closed.
func (u *updates) next() (j *joined, ctx context.Context, answer int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.pending) == 0 {
		close(u.done)
		u.done = nil
		return nil, nil, 0
	}
	first := u.pending[0]
	u.pending = u.pending[1:]
	return &first, u.ctx, u.answer
}

// startUpdates gives a hook its deltas, on a goroutine, until there are no more. If the chain is
// closed they are dropped.
func (d *dispatcher) startUpdates(h *hook, spec *event.Spec) {
	began := d.behind.run(func() {
		for {
			j, ctx, answer := h.updates.next()
			if j == nil {
				return
			}
			e := agent.NewMessageUpdate(llm.Delta{Kind: j.kind, Index: j.index, Text: strings.Join(j.texts, "")},
				func() *message.Message { return j.message }, nil)
			ctx, cancel := d.behind.within(ctx)
			d.ask(ctx, spec, []*hook{h}, e)
			cancel()
			h.updates.stop(answer, e.Abort)
		}
	})
	for more := !began; more; { // the chain is closed
		j, _, _ := h.updates.next()
		more = j != nil
	}
}

// stop ends an answer with the abort that a handler returned; nil, or one of an earlier answer,
// does nothing. While collectAborts is about to run, the abort waits for it, so that the
// first hook of the chain counts; otherwise the stream, which may send nothing for long, is
// ended at once.
func (u *updates) stop(answer int, abort *agent.Abort) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case abort == nil || u.answer != answer:
	case !u.collect:
		u.last.Stop(abort)
	case u.abort == nil:
		u.abort = abort
	}
}

// awaitUpdates waits for the handlers that are busy: a moment for all together, or at the end of an
// answer (last) as long as a handler may take. What a hook takes too long comes out of its
// budget, and without that nobody waits for it any more in this answer.
func (d *dispatcher) awaitUpdates(ctx context.Context, last bool) {
	moment, budget := updateMoment, d.grace
	if last {
		moment, budget = d.timeout, math.MaxInt64
	}
	var timer *time.Timer
	for _, h := range d.roster.list() {
		done := h.updates.underWay(budget)
		if done == nil {
			continue
		}
		if timer == nil {
			timer = time.NewTimer(moment)
			defer timer.Stop()
		}
		began := time.Now()
		select {
		case <-done:
		case <-ctx.Done():
			return
		case <-timer.C:
			h.updates.spend(time.Since(began))
			return
		}
		h.updates.spend(time.Since(began))
	}
}

// underWay returns what is closed when nothing runs any more; nil if nothing does, or
// if the hook has spent the budget.
func (u *updates) underWay(budget time.Duration) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.spent >= budget {
		return nil
	}
	return u.done
}

// spend takes the time for which the stream waited for a hook out of the hook's budget,
// except updateFree of it.
func (u *updates) spend(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spent += max(0, d-updateFree)
}

// collectAborts tells the agent of the first hook in the chain that wants no more
// of the answer. With that, and with its last update, the answer is over.
func (d *dispatcher) collectAborts(e *agent.MessageUpdate) {
	for _, h := range d.roster.list() {
		u := &h.updates
		u.mu.Lock()
		if e.Abort == nil {
			e.Abort = u.abort
		}
		u.abort, u.collect = nil, false // one that comes later ends the stream at once
		u.mu.Unlock()
	}
	if e.Abort == nil && e.Delta.Kind != llm.DeltaStop {
		return
	}
	for _, h := range d.roster.list() {
		h.updates.mu.Lock()
		h.updates.forget()
		h.updates.mu.Unlock()
	}
}
