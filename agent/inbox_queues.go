package agent

import (
	"context"
	"slices"
)

// The queues of the inbox: when messages may come into them, when they are due, and who
// is told. A change is noted under the lock of the inbox and told without it.

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
		b.brake.reset(p.Origin)
	}
	b.put(p, q)
	return true
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

// takes reports whether p may be queued now.
func (b *Inbox) takes(p Prompt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpenFor(p)
}

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

// delivered is called when front ends are about to be told of the entry of m, or when a
// listener has handled m: it is in the queue q no more.
func (b *Inbox) delivered(m queued, q Queue) {
	defer b.tellQueues()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.due[q] = slices.DeleteFunc(slices.Clone(b.due[q]), func(other queued) bool { return other.number == m.number })
	b.noteQueues()
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
