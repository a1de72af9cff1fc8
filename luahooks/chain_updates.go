package luahooks

import (
	"context"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/event"
	"pi/session/message"
)

// A stream never waits for a hook. Each hook with handlers of message_update has
// a goroutine of its own while there is something for it; what comes meanwhile is
// joined. Handle only gives a handler a moment, so that a quick one, which is the
// normal case, stops an answer at the very delta that it objects to.

const (
	// updateMoment is how long Handle waits for the handlers of one delta.
	updateMoment = 10 * time.Millisecond
	// updateFree is what a handler may take without being counted as slow. What
	// goes beyond that comes out of a budget of hook_grace per answer.
	updateFree = time.Millisecond
)

// updates are the deltas of an answer on their way to one hook.
type updates struct {
	mu      sync.Mutex
	ctx     context.Context // of the answer
	answer  int             // counts answers, so that a late abort stops no other one
	pending []joined
	done    chan struct{} // closed when nothing runs any more; nil if nothing does
	last    *agent.MessageUpdate
	held    bool // somebody is about to collect abort
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

func (j *joined) event() *agent.MessageUpdate {
	return agent.NewMessageUpdate(llm.Delta{Kind: j.kind, Index: j.index, Text: strings.Join(j.texts, "")},
		func() *message.Message { return j.message }, nil)
}

// streamed passes a delta to the hooks that listen, and tells the agent what they
// have said so far. The last update of an answer waits for what is under way.
func (c *Chain) streamed(ctx context.Context, spec *event.Spec, e *agent.MessageUpdate) {
	if e.Delta.Kind != llm.DeltaStop {
		c.spread(ctx, spec, e)
	} else {
		c.holdUpdates()
	}
	c.awaitUpdates(ctx, e)
	c.collectAborts(e)
}

func (c *Chain) spread(ctx context.Context, spec *event.Spec, e *agent.MessageUpdate) {
	var message *message.Message
	for _, h := range c.roster.listening(spec.Name) {
		if message == nil {
			message = e.Message()
		}
		if h.updates.add(ctx, e, message) {
			c.startUpdates(h, spec)
		}
	}
}

// add queues a delta, and reports whether somebody has to start on it.
func (u *updates) add(ctx context.Context, e *agent.MessageUpdate, message *message.Message) (start bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := e.Delta
	if u.ctx != ctx { // the answer before was interrupted
		u.forget()
		u.ctx = ctx
	}
	u.last, u.held = e, true
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

// forget ends an answer. u.mu is held.
func (u *updates) forget() {
	u.ctx, u.pending, u.last, u.held, u.abort, u.spent = nil, nil, nil, false, nil, 0
	u.answer++
}

// next takes what is to be handled; nil ends the goroutine.
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

// startUpdates hands a hook its deltas until there are no more.
func (c *Chain) startUpdates(h *hook, spec *event.Spec) {
	began := c.behind.run(func() {
		for {
			j, ctx, answer := h.updates.next()
			if j == nil {
				return
			}
			e := j.event()
			ctx, cancel := c.behind.within(ctx)
			c.offer(ctx, []*hook{h}, spec, e)
			cancel()
			h.updates.stop(answer, e.Abort)
		}
	})
	if !began { // the chain is closed
		h.updates.drop()
	}
}

func (u *updates) drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pending = nil
	close(u.done)
	u.done = nil
}

// stop is told that a handler wants no more of an answer. While Handle waits it
// takes that along, in the order of the chain; otherwise the stream, which may
// have nothing more to say for long, is ended at once.
func (u *updates) stop(answer int, abort *agent.Abort) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case abort == nil || u.answer != answer:
	case !u.held:
		u.last.Stop(abort)
	case u.abort == nil:
		u.abort = abort
	}
}

// awaitUpdates gives the handlers a moment, or at the end of an answer as long as
// a handler may take.
func (c *Chain) awaitUpdates(ctx context.Context, e *agent.MessageUpdate) {
	last := e.Delta.Kind == llm.DeltaStop
	moment := updateMoment
	if last {
		moment = c.opts.Timeout
	}
	var timer *time.Timer
	for _, h := range c.roster.list() {
		done := h.updates.underWay()
		if done == nil || !last && !h.updates.mayWait(c.opts.Grace) {
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

func (u *updates) underWay() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.done
}

func (u *updates) mayWait(budget time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.spent < budget
}

func (u *updates) spend(d time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.spent += max(0, d-updateFree)
}

// collectAborts tells the agent of the first hook in the chain that wants no more
// of the answer. With that, and with its last update, the answer is over.
func (c *Chain) collectAborts(e *agent.MessageUpdate) {
	for _, h := range c.roster.list() {
		if abort := h.updates.takeAbort(); abort != nil && e.Abort == nil {
			e.Abort = abort
		}
	}
	if e.Abort == nil && e.Delta.Kind != llm.DeltaStop {
		return
	}
	for _, h := range c.roster.list() {
		h.updates.mu.Lock()
		h.updates.forget()
		h.updates.mu.Unlock()
	}
}

// holdUpdates makes aborts wait to be collected.
func (c *Chain) holdUpdates() {
	for _, h := range c.roster.list() {
		h.updates.mu.Lock()
		h.updates.held = true
		h.updates.mu.Unlock()
	}
}

func (u *updates) takeAbort() *agent.Abort {
	u.mu.Lock()
	defer u.mu.Unlock()
	abort := u.abort
	u.abort, u.held = nil, false
	return abort
}
