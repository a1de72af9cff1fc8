package agent

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"pi/session/message"
)

// inbox is what was sent and waits: for its place in a run, for the next prompt, or
// for the front end; and who may send. All methods may be called from any
// goroutine, but for those of which it is said that the caller has the lock.
type inbox struct {
	sorting sync.Mutex // guards what follows: a message is in one place, and is admitted and put there in one step

	queueing  bool // a prompt runs that will look at the queues again
	steer     []queued
	followUp  []queued
	nextTurn  []*message.Message // custom messages that go with the next prompt
	submitted []Prompt           // for the front end
	compact   *compactRequest    // that a hook waits for; nil for none
	closed    bool               // nobody looks at what is sent any more
	wake      chan struct{}      // signalled when something is submitted, holds one
	brake     brake              // for hooks that would keep the agent at work
}

// post has take, which has the lock, put a message where it belongs, if it may
// come: the error is a *[HeldBackError] or that of take. notice is what the person is
// told of a refusal. limit is how many requests hooks may add.
func (b *inbox) post(o Origin, limit int, now time.Time, take func() error) (notice string, err error) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if notice, err = b.brake.admit(o, limit, now); err != nil {
		return notice, err
	}
	return "", take()
}

// HeardFrom notes that somebody had a say otherwise than in a prompt: what hooks add
// is counted anew.
func (b *inbox) HeardFrom(o Origin) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.brake.heardFrom(o)
}

// addRequest counts a model request that is made because of a message, or
// because a hook wants to go on. It is a *[LimitError] if hooks have added limit.
func (b *inbox) addRequest(o Origin, limit int) error {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if o.Kind != FromHook {
		b.brake.heardFrom(o)
		return nil
	}
	if b.brake.added < limit {
		b.brake.added++
		return nil
	}
	b.brake.pulled = true
	text := fmt.Sprintf("stopped: %s wants the model asked once more, and hooks may add %d requests until somebody says something (max_continuations)",
		hookName(o.Hook), limit)
	if n := b.dropSent(); n > 0 {
		text += fmt.Sprintf("; messages of hooks that waited are dropped: %d", n)
	}
	return &LimitError{"max_continuations", text}
}

// dropSent takes what hooks sent of themselves out of all queues and counts it;
// the caller has the lock.
func (b *inbox) dropSent() (dropped int) {
	sent := func(p Prompt) bool {
		drop := p.Origin.Kind == FromHook && !p.compact
		if drop {
			dropped++
		}
		return drop
	}
	b.steer = slices.DeleteFunc(b.steer, func(m queued) bool { return sent(m.Prompt) })
	b.followUp = slices.DeleteFunc(b.followUp, func(m queued) bool { return sent(m.Prompt) })
	b.submitted = slices.DeleteFunc(b.submitted, sent)
	return dropped
}

// enqueue puts a prompt into a queue, and reports false if no run will look at it.
func (b *inbox) enqueue(p Prompt, q Queue) bool {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if !b.queueing {
		return false
	}
	if p.Origin.Kind != FromHook {
		b.brake.heardFrom(p.Origin)
	}
	b.put(queued{p, true}, q)
	return true
}

// put appends to a queue; the caller has the lock.
func (b *inbox) put(m queued, q Queue) {
	if q == Steer {
		b.steer = append(b.steer, m)
	} else {
		b.followUp = append(b.followUp, m)
	}
}

// deferToFrontEnd appends a prompt to those that the front end runs, and wakes it;
// the caller has the lock.
func (b *inbox) deferToFrontEnd(p Prompt) {
	b.submitted = append(b.submitted, p)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// isOpen reports whether a run will look at the queues again.
func (b *inbox) isOpen() bool {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	return b.queueing
}

// openQueues is called when a run begins, which looks at the queues until they are
// closed.
func (b *inbox) openQueues() {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.queueing = true
}

// closeQueues leaves what is sent from now on to the front end.
func (b *inbox) closeQueues() {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.queueing = false
}

// waits reports whether a message is queued.
func (b *inbox) waits() bool {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	return len(b.steer)+len(b.followUp) > 0
}

// endRun reports whether messages are queued. If none are, it closes the queues in
// the same step, so that nothing is accepted that the run would not deliver.
func (b *inbox) endRun() (queued bool) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.queueing = len(b.steer)+len(b.followUp) > 0
	return b.queueing
}

// Pending counts the messages that wait to be delivered, those among them that
// hooks handed in and that the front end has not taken yet.
func (b *inbox) Pending() int {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	return b.pending()
}

// pending is Pending; the caller has the lock.
func (b *inbox) pending() int {
	n := len(b.steer) + len(b.followUp)
	for _, p := range b.submitted {
		if !p.compact {
			n++
		}
	}
	return n
}

// take removes what is to be delivered now from a queue: one message, or all.
func take(queue *[]queued, all bool) []queued {
	n := min(1, len(*queue))
	if all {
		n = len(*queue)
	}
	taken := (*queue)[:n:n]
	*queue = (*queue)[n:]
	return taken
}

// due removes from the queues what is to be delivered now: the steering
// messages, and, when the run would stop otherwise, the follow-ups; of each one, or
// all.
func (b *inbox) due(stopping, steerAll, followUpAll bool) ([]queued, Queue) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if messages := take(&b.steer, steerAll); len(messages) > 0 || !stopping {
		return messages, Steer
	}
	return take(&b.followUp, followUpAll), FollowUp
}

// TakeQueued takes the texts of people out of both queues and returns them, so
// that an interrupt can give unsent text back. What is more than a text that
// somebody typed stays queued for the next run: custom messages, what hooks sent,
// and what a program sent with attachments. The files of a typed text are named
// in it, and come along again.
func (b *inbox) TakeQueued() []string {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	var texts []string
	for _, queue := range []*[]queued{&b.steer, &b.followUp} {
		var kept []queued
		for _, m := range *queue {
			if m.typed() {
				texts = append(texts, m.Text)
			} else {
				kept = append(kept, m)
			}
		}
		*queue = kept
	}
	return texts
}

// takeForPrompt takes what goes with the next prompt.
func (b *inbox) takeForPrompt() []*message.Message {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	messages := b.nextTurn
	b.nextTurn = nil
	return messages
}

// forget drops what waited for a prompt of a session that was left.
func (b *inbox) forget() {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.steer, b.followUp, b.nextTurn = nil, nil, nil
}

// Submitted is signalled when a prompt was handed in; the front end then calls
// [Agent.TakeSubmitted] when it is idle.
func (b *inbox) Submitted() <-chan struct{} { return b.wake }

// TakeSubmitted takes the prompts that were handed in one after the other, oldest
// first, until none is left. They are as typed: a command among them runs as a
// command, unless it is [Prompt.Literal].
func (b *inbox) TakeSubmitted() iter.Seq[Prompt] {
	return func(yield func(Prompt) bool) {
		for {
			p, ok := b.nextSubmitted()
			if !ok || !yield(p) {
				return
			}
		}
	}
}

// TakeNoMore refuses from now on what is handed in. It is false, and changes
// nothing, if something waits: the front end runs that first.
func (b *inbox) TakeNoMore() bool {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if len(b.submitted) > 0 {
		return false
	}
	b.closed = true
	return true
}

// nextSubmitted removes and returns the oldest prompt for the front end.
func (b *inbox) nextSubmitted() (p Prompt, ok bool) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if len(b.submitted) == 0 {
		return Prompt{}, false
	}
	p, b.submitted = b.submitted[0], b.submitted[1:]
	return p, true
}

// dropAll takes no more, and counts the messages for which nobody came.
func (b *inbox) dropAll() (dropped int) {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	b.closed = true
	dropped = b.pending()
	b.followUp, b.steer, b.submitted = nil, nil, nil
	return dropped
}

// putCompact has a compaction wait for its turn, and reports false if another one
// waits already.
func (b *inbox) putCompact(r *compactRequest) bool {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	if b.compact != nil {
		return false
	}
	b.compact = r
	b.deferToFrontEnd(Prompt{Source: "hook", compact: true}) // for which a run that ends in another way leaves it
	return true
}

// waitingCompact returns the compaction that waits, or nil.
func (b *inbox) waitingCompact() *compactRequest {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	return b.compact
}

// takeCompact removes and returns the compaction that waits, or nil.
func (b *inbox) takeCompact() *compactRequest {
	b.sorting.Lock()
	defer b.sorting.Unlock()
	request := b.compact
	b.compact = nil
	return request
}
