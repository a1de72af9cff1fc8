package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"pi/session/message"
)

// Inbox has what was sent and waits: for its place in a run, for the next prompt, or
// for the front end; and it decides who may send. All methods may be called from any
// goroutine, but for those of which it is said that the caller has the lock.
type Inbox struct {
	events   *listeners
	now      func() time.Time
	settings *inForce
	wake     chan struct{} // signalled when something is submitted, has room for one
	brake    brake         // for hooks that would keep the agent at work

	telling sync.Mutex // held while listeners get a change of the queues, so that changes come in their order

	mu        sync.Mutex // guards what follows: a message is in one place, and is admitted and put there in one step
	phase     phase
	steer     []queued
	followUp  []queued
	due       [2][]queued        // by queue: they left it for the session, and nobody was told yet
	count     int                // of all that were queued
	changes   []QueueChanged     // that nobody was told of
	noted     QueueChanged       // the last of all changes
	side      []*message.Message // that the run adds at its next occasion, without asking the model for them
	nextTurn  []*message.Message // custom messages that go with the next prompt
	submitted []Prompt           // for the front end
	joined    []*waiter          // commands that wait for the run, with a prompt that is queued for it
	compact   *compactRequest    // that a hook waits for; nil for none
	closed    bool               // all that is sent is refused
}

// newInbox returns an empty inbox without a run.
func newInbox(events *listeners, settings *inForce, b brake, now func() time.Time) *Inbox {
	return &Inbox{events: events, now: now, settings: settings, brake: b, wake: make(chan struct{}, 1)}
}

// The queues of the inbox: when messages may come into them, when they are due, and who
// is told. A change is noted under the lock of the inbox and told without it.

// phase is what becomes of a message that comes now.
type phase uint8

const (
	atRest      phase = iota // nobody will look at the queues: it is for the front end
	inPreflight              // a run may begin, or go on behind its end, and then it looks
	inRun                    // the run will look at the queues again
)

// enter is called when a prompt is about to be checked, when its run begins and ends, and
// between two cycles of it. Outside of a run nothing that was taken is still on its way.
func (b *Inbox) enter(p phase) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase = p; p != inRun {
		b.due = [2][]queued{}
	}
	b.noteQueues()
}

// endPreflight is called when a prompt has started no run. What was queued only for that
// run is handed to the front end, unless the user wanted an end: then it stays.
func (b *Inbox) endPreflight(aborted bool) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.phase = atRest
	if aborted {
		return
	}
	for _, queue := range []*[]queued{&b.steer, &b.followUp} {
		*queue = slices.DeleteFunc(*queue, func(m queued) bool {
			if m.InPreflight {
				b.deferToFrontEnd(m.Prompt)
			}
			return m.InPreflight
		})
	}
	b.noteQueues()
}

// moment is when a run looks at the queues.
type moment uint8

const (
	betweenTurns moment = iota // the model is asked again anyway: what steers is due
	stopping                   // the model has nothing more to do: what steers is due, else the follow-ups
	ending                     // likewise, and it is the end of the work unless something waits
)

// next removes and returns the messages that are due at this moment, and the queue that they
// were in. Settings say whether it is one message at a time or all. may is asked before
// anything is taken; with an error of it, all stays where it is. At the end of the work the
// queues are open if something waits, else they are closed in the same step, so that nothing
// is accepted that the run would not deliver. Front ends are told of each message with
// delivered.
func (b *Inbox) next(at moment, may func() error) (messages []queued, q Queue, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	steers, follows := len(b.steer) > 0, len(b.followUp) > 0
	if at == ending {
		b.phase = atRest
		if steers || follows {
			b.phase = inRun
		}
	}
	if !steers && (at == betweenTurns || !follows) {
		return nil, Steer, nil
	}
	if err := may(); err != nil {
		return nil, Steer, err
	}
	queue, all := &b.steer, b.settings.get().SteerAll
	if !steers {
		queue, q, all = &b.followUp, FollowUp, b.settings.get().FollowUpAll
	}
	n := 1
	if all {
		n = len(*queue)
	}
	messages, *queue = (*queue)[:n:n], (*queue)[n:]
	b.due[q] = append(b.due[q], messages...)
	return messages, q, nil
}

// delivered is called when front ends are about to be told of the entry of m, or when a
// listener has handled m: it is in the queue q no more.
func (b *Inbox) delivered(m queued, q Queue) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due[q] = slices.DeleteFunc(slices.Clone(b.due[q]), func(other queued) bool { return other.number == m.number })
	b.noteQueues()
}

// enqueue puts a prompt into the queue q. It returns false, and changes nothing, if no run
// will look at the queues again and the prompt may not wait for another one.
func (b *Inbox) enqueue(p Prompt, q Queue) bool {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpenFor(p) {
		return false
	}
	if p.Origin.Kind != FromHook {
		b.brake.prompted(p.Origin)
	}
	b.put(p, q)
	return true
}

// takes reports whether p may be queued now.
func (b *Inbox) takes(p Prompt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpenFor(p)
}

// isOpenFor reports whether p may be queued now; the caller has the lock.
func (b *Inbox) isOpenFor(p Prompt) bool {
	return b.phase == inRun || p.WhileIdle || p.InPreflight && b.phase == inPreflight
}

// put appends to a queue; the caller has the lock.
func (b *Inbox) put(p Prompt, q Queue) {
	b.count++
	m := queued{p, b.count}
	if q == Steer {
		b.steer = append(b.steer, m)
	} else {
		b.followUp = append(b.followUp, m)
	}
	b.noteQueues()
}

// post checks whether p may be sent now and, if so, calls put, with the lock held. The error
// is a *[HeldBackError] or that of put. The user is told of some refusals.
func (b *Inbox) post(ctx context.Context, p Prompt, put func() error) error {
	b.mu.Lock()
	notice, err := b.brake.admit(p, b.settings.get().MaxContinuations, b.now())
	if err == nil {
		err = put()
	}
	b.mu.Unlock()
	b.tellQueues()
	if notice != "" {
		b.events.Notify(context.WithoutCancel(ctx), LevelWarning, notice)
	}
	return err
}

// postToRun queues p if a run will look at the queues again, and reports whether it did. A
// message that says nothing is no reason to ask the model: it goes to the side messages.
func (b *Inbox) postToRun(ctx context.Context, p Prompt, q Queue) (posted bool, err error) {
	err = b.post(ctx, p, func() error {
		if posted = b.phase == inRun && !b.closed; !posted {
			return nil
		}
		if p.saysNothing() {
			b.side = append(b.side, p.Custom)
			return nil
		}
		b.put(p, q)
		if p.waiter != nil {
			b.joined = append(b.joined, p.waiter)
		}
		return nil
	})
	return posted, err
}

// postPrompt queues p for the run in progress. If there is none, or p is a command, it is
// handed to the front end, which runs it later. The error is one of [Inbox.post], or
// ErrEnded.
func (b *Inbox) postPrompt(ctx context.Context, p Prompt, q Queue) error {
	return b.post(ctx, p, func() error {
		switch {
		case b.closed:
			return ErrEnded
		case b.phase == inRun && !p.isCommand():
			b.put(p, q)
		default:
			b.deferToFrontEnd(p)
		}
		return nil
	})
}

// deferToFrontEnd appends a prompt to those that the front end runs, and wakes it;
// the caller has the lock.
func (b *Inbox) deferToFrontEnd(p Prompt) {
	b.submitted = append(b.submitted, p)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Submitted is signalled when a prompt was handed in; the front end then calls
// [Inbox.TakeSubmitted] when it is idle.
func (b *Inbox) Submitted() <-chan struct{} { return b.wake }

// TakeSubmitted removes and returns the prompts that were handed in one after the
// other, oldest first, until none is left. They are as typed: a command among them
// runs as a command, unless it is [Prompt.Literal].
func (b *Inbox) TakeSubmitted() iter.Seq[Prompt] {
	return func(yield func(Prompt) bool) {
		for {
			b.mu.Lock()
			if len(b.submitted) == 0 {
				b.mu.Unlock()
				return
			}
			p := b.submitted[0]
			b.submitted = b.submitted[1:]
			b.mu.Unlock()
			if !yield(p) {
				return
			}
		}
	}
}

// postForNextPrompt stores the custom message of p until the next prompt, behind which it
// is added. The error is one of [Inbox.post], or ErrEnded.
func (b *Inbox) postForNextPrompt(ctx context.Context, p Prompt) error {
	return b.post(ctx, p, func() error {
		if b.closed {
			return ErrEnded
		}
		b.nextTurn = append(b.nextTurn, p.Custom)
		return nil
	})
}

// takeForPrompt removes and returns the messages that go with the next prompt.
func (b *Inbox) takeForPrompt() []*message.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.nextTurn
	b.nextTurn = nil
	return messages
}

// putForPrompt gives back what takeForPrompt took for a prompt that came to nothing.
func (b *Inbox) putForPrompt(messages []*message.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nextTurn = slices.Concat(messages, b.nextTurn)
}

// putSide stores a message that the run adds before its next request, or at its end. It
// reports false, and stores nothing, if no run will look.
func (b *Inbox) putSide(m *message.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase != inRun {
		return false
	}
	b.side = append(b.side, m)
	return true
}

// takeSide removes and returns the side messages.
func (b *Inbox) takeSide() []*message.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.side
	b.side = nil
	return messages
}

// addRequest counts a model request that a hook causes; one that somebody else causes sets
// the count back to zero. It reports false, and counts nothing, if the hook has added as many
// as it may. stopped says that nothing can change that but a new count.
func (b *Inbox) addRequest(o Origin) (q quota, stopped, ok bool) {
	if !b.brake.isOwnDoing(o) {
		b.brake.prompted(o)
		return q, false, true
	}
	return b.brake.add(o, b.settings.get().MaxContinuations)
}

// stop refuses what the hook of o sends from now on, until a new count begins, and drops the
// messages of its own that wait, of all hooks that share its limit. The error says so; q is
// what the hook has added.
func (b *Inbox) stop(o Origin, q quota) *LimitError {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.brake.stop(o)
	err := q.refusal(o)
	if n := b.dropSent(); n > 0 {
		err.Message += fmt.Sprintf("; messages of hooks that waited are dropped: %d", n)
	}
	return err
}

// quotaOf is what the hook of o may add.
func (b *Inbox) quotaOf(o Origin) quota {
	return b.brake.quotaOf(o, b.settings.get().MaxContinuations)
}

// EndAllowed takes back what the user allowed hooks beside the settings, as an interrupt does.
func (b *Inbox) EndAllowed() { b.brake.endAllowed() }

// dropSent removes from all queues what hooks that are stopped sent on their own, and returns
// how many messages that were; the caller has the lock. A request for a compaction stays.
func (b *Inbox) dropSent() (dropped int) {
	sent := func(p Prompt) bool {
		drop := b.brake.isOwnDoing(p.Origin) && !p.compact && b.brake.isStopped(p.Origin)
		if drop {
			dropped++
		}
		return drop
	}
	b.steer = slices.DeleteFunc(b.steer, func(m queued) bool { return sent(m.Prompt) })
	b.followUp = slices.DeleteFunc(b.followUp, func(m queued) bool { return sent(m.Prompt) })
	b.submitted = slices.DeleteFunc(b.submitted, sent)
	b.noteQueues()
	return dropped
}

// Pending returns how many messages wait: those queued for the run, and those that hooks
// sent and that the front end has not run yet.
func (b *Inbox) Pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending()
}

// pending is Pending; the caller has the lock.
func (b *Inbox) pending() int {
	n := len(b.steer) + len(b.followUp)
	for _, p := range b.submitted {
		if !p.compact {
			n++
		}
	}
	return n
}

// Waiting is a message that is queued for the run, as a front end shows it.
type Waiting struct {
	Text   string
	Queue  Queue
	Typed  bool // TakeLast takes the one of these that has the greatest number
	Number int
}

// Queued returns the messages that are queued for the run: those that steer it, then those
// for its end, each in their order. Custom messages that are not to be shown are left out.
func (b *Inbox) Queued() (waiting []Waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for q, queue := range [][]queued{Steer: b.steer, FollowUp: b.followUp} {
		for _, m := range queue {
			switch {
			case m.Custom == nil:
				waiting = append(waiting, Waiting{m.Text, Queue(q), m.isTyped(), m.number})
			case m.Custom.Display:
				waiting = append(waiting, Waiting{m.Custom.Text(), Queue(q), m.isTyped(), m.number})
			}
		}
	}
	return waiting
}

// TakeQueued removes the texts of people from both queues and returns them, so
// that an interrupt can give unsent text back. What is more than a text that
// somebody typed stays queued for the next run: custom messages, what hooks sent,
// and what a program sent with attachments. The files of a typed text are named
// in it, and come along again.
func (b *Inbox) TakeQueued() []string {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	var texts []string
	for _, queue := range []*[]queued{&b.steer, &b.followUp} {
		var kept []queued
		for _, m := range *queue {
			if m.isTyped() {
				texts = append(texts, m.Text)
			} else {
				kept = append(kept, m)
			}
		}
		*queue = kept
	}
	b.noteQueues()
	return texts
}

// TakeLast removes the text of a user that was queued last, and returns it. What is more
// than a text stays, as with TakeQueued.
func (b *Inbox) TakeLast() (text string, ok bool) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	var last *[]queued
	at, number := 0, 0
	for _, queue := range []*[]queued{&b.steer, &b.followUp} {
		for i, m := range *queue {
			if m.isTyped() && m.number > number {
				last, at, number = queue, i, m.number
			}
		}
	}
	if last == nil {
		return "", false
	}
	text = (*last)[at].Text
	*last = slices.Delete(slices.Clone(*last), at, at+1)
	b.noteQueues()
	return text, true
}

// Texts returns the texts of people and programs that are queued: those that steer, and
// the follow-ups. Neither is nil.
func (b *Inbox) Texts() (steering, followUp []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.texts()
}

// texts is Texts; the caller has the lock.
func (b *Inbox) texts() (steering, followUp []string) {
	list := func(queues ...[]queued) []string {
		texts := []string{}
		for _, m := range slices.Concat(queues...) {
			if m.isText() {
				texts = append(texts, m.Text)
			}
		}
		return texts
	}
	return list(b.due[Steer], b.steer), list(b.due[FollowUp], b.followUp)
}

// Clear removes the texts of people and programs from both queues and returns them; what
// was attached to them is lost. Custom messages and what hooks sent stays. Listeners are
// told also if nothing was queued.
func (b *Inbox) Clear() (steering, followUp []string) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	drop := func(queue *[]queued) []string {
		texts := []string{}
		*queue = slices.DeleteFunc(slices.Clone(*queue), func(m queued) bool {
			if m.isText() {
				texts = append(texts, m.Text)
			}
			return m.isText()
		})
		return texts
	}
	steering, followUp = drop(&b.steer), drop(&b.followUp)
	b.noteChange(true)
	return steering, followUp
}

// noteQueues remembers how the queues look now, if that is different from the last time
// and anybody wants to know; the caller has the lock.
func (b *Inbox) noteQueues() { b.noteChange(false) }

// noteChange is noteQueues; with anyway it counts as a change in any case.
func (b *Inbox) noteChange(anyway bool) {
	if !b.events.wants(KindQueueChanged) {
		return
	}
	steering, followUp := b.texts()
	if anyway || !slices.Equal(b.noted.Steering, steering) || !slices.Equal(b.noted.FollowUp, followUp) {
		b.noted = QueueChanged{steering, followUp}
		b.changes = append(b.changes, b.noted)
	}
}

// tellQueues emits the changes that were noted, each once and in their order. The caller
// does not have the lock.
func (b *Inbox) tellQueues() {
	b.telling.Lock()
	defer b.telling.Unlock()
	for {
		b.mu.Lock()
		if len(b.changes) == 0 {
			b.mu.Unlock()
			return
		}
		e := b.changes[0]
		b.changes = b.changes[1:]
		b.mu.Unlock()
		b.events.emit(context.Background(), &e)
	}
}

// forget calls swap, which replaces the session, and drops the messages that waited for a
// prompt of the old one. It returns the request for a compaction that waited, or nil. All
// is done under the lock, so that whatever is sent later is for the new session.
func (b *Inbox) forget(swap func()) *compactRequest {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	swap()
	b.brake.endAllowed()
	b.steer, b.followUp, b.side, b.nextTurn = nil, nil, nil, nil
	b.noteQueues()
	request := b.compact
	b.compact = nil
	return request
}

// CloseIfEmpty closes the inbox for good, so that whatever is sent later is refused. If
// prompts still wait for the front end, it returns false and changes nothing: they are to
// run first.
func (b *Inbox) CloseIfEmpty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.submitted) > 0 {
		return false
	}
	b.closed = true
	return true
}

// close closes the inbox for good, drops what waits, and returns how many messages that
// were.
func (b *Inbox) close() (dropped int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	dropped = b.pending()
	b.followUp, b.steer, b.submitted = nil, nil, nil
	return dropped
}

// putCompact stores a request for a compaction, and reports false if another one waits
// already.
func (b *Inbox) putCompact(r *compactRequest) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.compact != nil {
		return false
	}
	b.compact = r
	b.deferToFrontEnd(Prompt{Source: "hook", compact: true}) // if no run performs the request, this prompt does
	return true
}

// waitingCompact returns the compaction that waits, or nil.
func (b *Inbox) waitingCompact() *compactRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.compact
}

// takeCompact removes and returns the compaction that waits, or nil.
func (b *Inbox) takeCompact() *compactRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	request := b.compact
	b.compact = nil
	return request
}
