package agent

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Hooks may send messages at any time, and a message may make the model work, which
// causes events for hooks: one that sends at the end of each run would keep the agent
// at work for ever. So the requests that hooks add of themselves are counted, whichever
// way they add them, until a message comes from a user or from something outside of
// the program that a hook listens to. As a hook may cause that as well (it may watch a
// file that the model writes), such messages are limited in number per minute.
//
// A hook for which the user has a limit of its own has a count of its own. All others share
// one, with the limit max_continuations. At its limit the user may allow a hook more, see
// [continuations]: that is a limit of its own until they interrupt, give a prompt or go to
// another session.
//
// An agent that another one uses has no count of its own. What hooks add in it counts in that
// of the user's own agent, and nothing that happens in it begins a new count there: neither its
// prompts, which come from a hook, nor what its hooks listen to outside of the program.

// brake refuses the messages of hooks that would keep an agent at work. All methods may be
// called from any goroutine.
type brake struct {
	*count
	isChild bool // the count is that of an agent above
}

// newBrake returns the brake of an agent that parent uses, or, if that is nil, one of its own.
func newBrake(parent *Agent) brake {
	if parent != nil {
		return brake{parent.inbox.brake.count, true}
	}
	return brake{&count{}, false}
}

// count is what was counted of the requests of hooks.
type count struct {
	mu      sync.Mutex           // guards what follows
	shared  tally                // of the hooks without a limit of their own
	own     map[string]*tally    // of the others, by [Origin.key]
	allowed map[string]allowance // likewise
	offers  int                  // how often a client was asked since its last prompt

	sources map[string]*source // by Hook and Source of an Origin
}

// tally is what was counted since the count began.
type tally struct {
	added   int  // model requests
	stopped bool // one too many was wanted: all that is sent is refused
}

// allowance is what the user allowed a hook beside the settings.
type allowance struct {
	limit  int  // of its count
	more   int  // how many requests that are, in a count that begins
	shared bool // without it the hook has no limit of its own
}

// unlimited is an allowance of as many requests as a hook wants.
const unlimited = math.MaxInt

// quota is what a hook has added, and what it may add.
type quota struct {
	used, limit int
	more        int // what is offered at the limit
	whose       limitKind
}

// limitKind says which limit holds for a hook.
type limitKind uint8

const (
	sharedLimit  limitKind = iota // max_continuations, which hooks share
	hookLimit                     // the one that settings have for it alone
	allowedLimit                  // what the user allowed it
)

// String says what a limit is called.
func (k limitKind) String() string {
	return [...]string{"max_continuations", "its own max_continuations", "what it was allowed"}[k]
}

// source is one origin of messages from outside.
type source struct {
	sent   []time.Time // within the last sourceSpan
	paused time.Time   // when it was paused; zero: it is not
}

const (
	sourceLimit = 30 // messages of one source
	sourceSpan  = time.Minute
)

// HeldBackError is returned to a hook whose message is refused.
type HeldBackError struct{ Why string }

func (e *HeldBackError) Error() string { return e.Why }

// tallyOf is what counts for the hook of o; the caller has the lock.
func (b *count) tallyOf(o Origin) *tally {
	if _, ok := b.allowed[o.key()]; !ok && o.Limit == nil {
		return &b.shared
	}
	if b.own == nil {
		b.own = map[string]*tally{}
	}
	if b.own[o.key()] == nil {
		b.own[o.key()] = &tally{}
	}
	return b.own[o.key()]
}

// isOwnDoing reports whether hooks answer for a message from o themselves.
func (b brake) isOwnDoing(o Origin) bool {
	return o.Kind == FromHook || b.isChild && o.Kind == FromOutside
}

// isStopped reports whether what the hook of o sends is refused.
func (b brake) isStopped(o Origin) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tallyOf(o).stopped
}

// stop refuses what the hook of o sends, until a new count begins.
func (b brake) stop(o Origin) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tallyOf(o).stopped = true
}

// quotaOf is what the hook of o may add; all is the limit that hooks share.
func (b brake) quotaOf(o Origin, all int) quota {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.quota(o, all)
}

// quota is quotaOf; the caller has the lock.
func (b *count) quota(o Origin, all int) quota {
	q := quota{used: b.tallyOf(o).added, limit: all, more: all}
	if o.Limit != nil {
		q.limit, q.more, q.whose = *o.Limit, *o.Limit, hookLimit
	}
	if a, ok := b.allowed[o.key()]; ok {
		q.limit, q.more, q.whose = a.limit, a.more, allowedLimit
	}
	return q
}

// add counts a request of the hook of o, unless it has added as many as it may. all is the
// limit that hooks share. stopped says that nothing can change that but a new count.
func (b brake) add(o Origin, all int) (q quota, stopped, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tallyOf(o)
	q = b.quota(o, all)
	if ok = !t.stopped && q.used < q.limit; ok {
		t.added++
	}
	return q, t.stopped, ok
}

// allow lets the hook of o add more requests than it has added.
func (b brake) allow(o Origin, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.tallyOf(o).added
	if b.allowed == nil {
		b.allowed = map[string]allowance{}
	}
	b.allowed[o.key()] = allowance{limit: sumOf(was, more), more: more, shared: o.Limit == nil}
	*b.tallyOf(o) = tally{added: was}
}

// sumOf is a sum that does not overflow, of numbers that are not negative.
func sumOf(a, b int) int { return a + min(b, math.MaxInt-a) }

// endAllowed takes back what the user allowed beside the settings. What was added counts on.
func (b brake) endAllowed() {
	if b.isChild {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, a := range b.allowed {
		if t := b.own[key]; t != nil && a.shared {
			b.shared.added, b.shared.stopped = max(b.shared.added, t.added), b.shared.stopped || t.stopped
			delete(b.own, key)
		}
	}
	b.allowed = nil
}

// offer counts a question to a client, and reports whether it may be asked.
func (b brake) offer() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offers++
	return b.offers <= mostOffers
}

// reset begins to count the requests of hooks from zero, because of a message from o. A
// message from a user also lifts the pauses of all sources, and gives a hook anew what they
// allowed it, unless they have stopped it since.
func (b brake) reset(o Origin) {
	if b.isChild {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin(o)
}

// begin is reset; the caller has the lock.
func (b *count) begin(o Origin) {
	b.shared = tally{}
	maps.DeleteFunc(b.own, func(key string, _ *tally) bool {
		_, ok := b.allowed[key]
		return !ok
	})
	if o.Kind != FromUser {
		return
	}
	b.sources = nil
	for key, a := range b.allowed {
		if t := b.own[key]; t != nil && t.stopped {
			delete(b.allowed, key)
		} else {
			a.limit = a.more
			b.allowed[key] = a
		}
	}
	b.own = nil
}

// prompted is reset for a prompt that is not of a hook itself. One that a user gave ends what
// they allowed.
func (b brake) prompted(o Origin) {
	if b.isChild {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin(o)
	if o.isTyped() {
		b.allowed, b.offers = nil, 0
	}
}

// beginCommand is reset for a command that somebody gave.
func (b brake) beginCommand(o Origin) {
	if b.isChild {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin(o)
	if o.isTyped() {
		b.offers = 0
	}
}

// admit decides whether p may be sent; the error is a *[HeldBackError]. A message that does
// not come from a hook itself also resets the counts, but for a command that a timer sends.
// notice, if it is not empty, is what the user is to be told of the refusal.
func (b brake) admit(p Prompt, all int, now time.Time) (notice string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := p.Origin
	if o.Kind == FromOutside {
		if notice, err = b.pace(o, now); err != nil {
			return notice, err
		}
	}
	switch {
	case b.isOwnDoing(o):
		if b.tallyOf(o).stopped {
			return "", &HeldBackError{b.quota(o, all).sentence(o)}
		}
	case b.isChild:
	case !o.Timer || !p.isCommand():
		b.begin(o)
	}
	return "", nil
}

// sentence says that the hook of o has added as many requests as it may.
func (q quota) sentence(o Origin) string {
	who := "hooks have"
	if q.whose != sharedLimit {
		who = hookName(o.Hook) + " has"
	}
	return fmt.Sprintf("%s added %d requests since somebody said something (%v)", who, q.used, q.whose)
}

// refusal ends a run in which the hook of o wants more requests than it may add.
func (q quota) refusal(o Origin) *LimitError {
	who := "hooks"
	if q.whose != sharedLimit {
		who = "it"
	}
	return &LimitError{"max_continuations", fmt.Sprintf("stopped: %s wants the model asked once more, and %s may add %d requests until somebody says something (%v)",
		hookName(o.Hook), who, q.limit, q.whose)}
}

// pace counts the messages of a source outside of the program, and pauses for a minute one
// that sends too many. Only the refusal that begins a pause comes with a notice for the
// user. The caller has the lock.
func (b *count) pace(o Origin, now time.Time) (notice string, err error) {
	if b.sources == nil {
		b.sources = map[string]*source{}
	}
	key := o.Hook + "\x00" + o.Source
	s := b.sources[key]
	if s == nil || !s.paused.IsZero() && now.Sub(s.paused) >= sourceSpan {
		s = &source{}
		b.sources[key] = s
	}
	s.sent = slices.DeleteFunc(s.sent, func(t time.Time) bool { return now.Sub(t) >= sourceSpan })
	if s.paused.IsZero() && len(s.sent) < sourceLimit {
		s.sent = append(s.sent, now)
		return "", nil
	}
	why := fmt.Sprintf("%s sent %d messages within a minute and is paused until somebody says something, or for a minute", o.Source, sourceLimit)
	if s.paused.IsZero() {
		s.paused, notice = now, hookName(o.Hook)+": "+why
	}
	return notice, &HeldBackError{why}
}
