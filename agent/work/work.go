// Package work is what goes on in an agent: one run at a time, or something that must
// not happen during one, which a [Claim] stands for, and any number of things beside it,
// such as commands of the user, in a [Group].
//
// A run whose work is done, and of which others are only to be told yet, is settling
// ([Claim.Settle]): to who asks, the agent is idle, and who is told may claim it.
//
// What two runs leave to do between them, such as an entry that a command adds to the
// session, is done by [Claim.AfterRun]: it makes nobody believe that the agent works, and
// no run begins in the middle of it.
//
// Both can be interrupted and waited for. It knows nothing of the rest of the program.
package work

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// ErrBusy is returned while another run is in progress.
var ErrBusy = errors.New("the agent is working")

// Claim is what occupies an agent. The zero value is idle. All methods may be called from
// any goroutine.
type Claim struct {
	mu     sync.Mutex         // guards all that follows; cancel and idle are set and cleared together
	cancel context.CancelFunc // of the run in progress, nil when idle
	idle   chan struct{}      // closed when the run in progress ends
	late   []func()           // what the run in progress does when it ends
	short  chan struct{}      // closed when what is done between two runs is done; nil: nothing is

	settling *settling // the run in progress is; nil: it is not
	behind   bool      // the run in progress was begun by who was told of the end of another one
}

// settling is the end of a run of which others are told.
type settling struct {
	cancel context.CancelFunc // of what one of them has claimed the agent for; nil: nothing
	ended  chan struct{}      // closed when that ends
}

// settlingKey is in the context of who is told that a run settles, with its *settling.
type settlingKey struct{}

// Begin claims the agent for one run and returns the context of that run, which Abort
// cancels. The error is ErrBusy if the agent is claimed already. Who got no error calls
// End when the run is over.
func (c *Claim) Begin(ctx context.Context) (context.Context, error) {
	c.lock()
	defer c.mu.Unlock()
	told, _ := ctx.Value(settlingKey{}).(*settling)
	switch s := c.settling; {
	case c.cancel == nil:
		ctx, c.cancel = context.WithCancel(ctx)
		c.idle, c.behind = make(chan struct{}), told != nil
		return ctx, nil
	case s != nil && s == told && s.cancel == nil:
		ctx, s.cancel = context.WithCancel(ctx)
		s.ended = make(chan struct{})
		return ctx, nil
	}
	return nil, ErrBusy
}

// BeginNext is Begin for a prompt: what somebody has begun because a run before has settled is
// waited for, since nobody who sends a prompt knows of it. The error is also that of ctx, if
// that ends before.
func (c *Claim) BeginNext(ctx context.Context) (context.Context, error) {
	for {
		claimed, err := c.Begin(ctx)
		if err == nil || !c.isBehind() {
			return claimed, err
		}
		if err := c.WaitIdle(ctx); err != nil {
			return nil, err
		}
	}
}

// isBehind reports whether the agent is claimed by who was told of the end of a run.
func (c *Claim) isBehind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behind && c.cancel != nil
}

// Settle is called by who has claimed the agent when the work is done, and calls tell, which
// tells others of that: IsIdle is true for them. Who is told may claim the agent with the
// context that tell gets, or one made of it, one at a time; to all others it is claimed until
// End. Settle returns when tell has, and nothing of that kind is in progress any more; the end
// of ctx interrupts it.
func (c *Claim) Settle(ctx context.Context, tell func(context.Context)) {
	s := &settling{}
	c.mu.Lock()
	c.settling = s
	c.mu.Unlock()
	if ctx.Err() == nil {
		defer context.AfterFunc(ctx, func() { c.abortSettling(s) })()
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for s.cancel != nil {
			c.mu.Unlock()
			<-s.ended
			c.mu.Lock()
		}
		c.settling = nil
	}()
	tell(context.WithValue(ctx, settlingKey{}, s))
}

// abortSettling interrupts what somebody who is told that a run settles has claimed the agent
// for.
func (c *Claim) abortSettling(s *settling) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// lock waits until nothing is done between two runs, and locks.
func (c *Claim) lock() {
	c.mu.Lock()
	for c.short != nil {
		short := c.short
		c.mu.Unlock()
		<-short
		c.mu.Lock()
	}
}

// AfterRun calls f when no run is in progress: at once, with no run beginning meanwhile, or
// when the run in progress ends. f is short and claims nothing. All such functions are called
// one at a time, those that waited in their order.
func (c *Claim) AfterRun(f func()) {
	c.lock()
	if c.cancel != nil {
		c.late = append(c.late, f)
		c.mu.Unlock()
		return
	}
	c.short = make(chan struct{})
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.short)
	c.short = nil
}

// DoLate calls what AfterRun has kept for the end of the run, which is about to come. Whoever
// has claimed the agent may call it.
func (c *Claim) DoLate() {
	c.mu.Lock()
	late := c.late
	c.late = nil
	c.mu.Unlock()
	for _, f := range late {
		f()
	}
}

// Interrupt claims the agent as Begin does. What has claimed it is cancelled and waited
// for; the error is ctx's if that ends before.
func (c *Claim) Interrupt(ctx context.Context) (context.Context, error) {
	for {
		claimed, err := c.Begin(ctx)
		if err == nil {
			return claimed, nil
		}
		c.Abort()
		if err := c.WaitIdle(ctx); err != nil {
			return nil, err
		}
	}
}

// End frees the agent: it cancels the context that Begin returned and wakes everybody in
// WaitIdle. It is called once for each Begin that succeeded.
func (c *Claim) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.settling; s != nil && s.cancel != nil {
		s.cancel()
		s.cancel = nil
		close(s.ended)
		return
	}
	for len(c.late) > 0 {
		c.mu.Unlock()
		c.DoLate()
		c.mu.Lock()
	}
	c.cancel()
	close(c.idle)
	c.cancel, c.idle = nil, nil
}

// IsIdle reports whether no prompt is running; one that settles is not.
func (c *Claim) IsIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel == nil || c.settling != nil && c.settling.cancel == nil
}

// WaitIdle returns when no prompt is running, or with ctx's error.
func (c *Claim) WaitIdle(ctx context.Context) error {
	c.mu.Lock()
	idle := c.idle
	c.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Abort interrupts the run in progress, if there is one, and does not wait. What it returns
// is closed when that run has ended; at once, if there is none.
func (c *Claim) Abort() (ended <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.settling; s != nil && s.cancel != nil {
		s.cancel()
	}
	if c.cancel != nil {
		c.cancel()
		return c.idle
	}
	none := make(chan struct{})
	close(none)
	return none
}

// ErrClosed is returned by a group that was closed.
var ErrClosed = errors.New("nothing begins any more")

// Group is any number of things that go on at the same time. The zero value is empty. All
// methods may be called from any goroutine.
type Group struct {
	mu      sync.Mutex // guards what follows
	members map[*member]bool
	closed  bool
}

type member struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// Begin adds something that goes on until end is called. Its context is cancelled by Abort.
// The error is ErrClosed.
func (g *Group) Begin(ctx context.Context) (_ context.Context, end func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	m := &member{cancel, make(chan struct{})}
	if g.members == nil {
		g.members = map[*member]bool{}
	}
	g.members[m] = true
	return ctx, func() { g.end(m) }, nil
}

func (g *Group) end(m *member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.members, m)
	m.cancel()
	close(m.ended)
}

// Abort interrupts all that goes on, and does not wait.
func (g *Group) Abort() {
	for _, m := range g.list() {
		m.cancel()
	}
}

func (g *Group) list() (all []*member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for m := range g.members {
		all = append(all, m)
	}
	return all
}

// Stop interrupts all that goes on and waits for it. The error is ctx's, if that ends
// before.
func (g *Group) Stop(ctx context.Context) (err error) {
	all := g.list()
	for _, m := range all {
		m.cancel()
	}
	for _, m := range all {
		select {
		case <-m.ended:
		case <-ctx.Done():
			err = cmp.Or(err, ctx.Err())
		}
	}
	return err
}

// Close is Stop for good: nothing begins any more.
func (g *Group) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	return g.Stop(ctx)
}

// Interruptible is something that can be interrupted alone. The zero value is ready; all
// methods may be called from any goroutine.
type Interruptible struct {
	cancel atomic.Pointer[context.CancelFunc] // of what is in progress; nil for nothing
}

// Begin returns the context of what begins, which Interrupt cancels until end is called.
func (i *Interruptible) Begin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	i.cancel.Store(&cancel)
	return ctx, func() {
		i.cancel.Store(nil)
		cancel()
	}
}

// Interrupt ends what is in progress and reports whether there was anything.
func (i *Interruptible) Interrupt() bool {
	cancel := i.cancel.Load()
	if cancel != nil {
		(*cancel)()
	}
	return cancel != nil
}

// Backoff returns how long to wait before the further attempt with this number, from 1: a
// time that doubles with each, and is at most longest (0: a day). It is varied by chance,
// so that clients that failed together do not ask together again.
func Backoff(attempt int, first, longest time.Duration) time.Duration {
	const day = 24 * time.Hour
	d := first
	for i := 1; i < attempt && d < day; i++ {
		d *= 2
	}
	d = time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
	if longest > 0 {
		d = min(d, longest)
	}
	return min(d, day)
}
