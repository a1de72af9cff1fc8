package rpc

import (
	"context"
	"sync"

	"pi/agent"
	"pi/session"
)

// claims say whose turn with the agent it is: one prompt has it from the beginning of its
// checks to the end of its run. All methods may be called from any goroutine.
type claims struct {
	mu      sync.Mutex // guards what follows
	current *claim     // nil: nobody has the agent
}

// claim is the turn of one prompt.
type claim struct {
	done     chan struct{} // closed at its end
	accepted bool          // its run works
	settled  bool          // its run has told that it is over

	session *session.Session // that was the current one
}

// take claims the agent for a prompt in a session, and reports false if another prompt has
// it. A run that has told its end is waited for: a client may send the next prompt as soon as
// it has read that.
func (c *claims) take(about *session.Session) (*claim, bool) {
	for {
		c.mu.Lock()
		has := c.current
		if has == nil {
			has = &claim{done: make(chan struct{}), session: about}
			c.current = has
			c.mu.Unlock()
			return has, true
		}
		settled := has.settled
		c.mu.Unlock()
		if !settled {
			return nil, false
		}
		<-has.done
	}
}

// wait claims the agent as soon as nobody has it, or returns the error of ctx.
func (c *claims) wait(ctx context.Context, a *agent.Agent) (*claim, error) {
	for {
		if mine, ok := c.take(a.Session()); ok {
			return mine, nil
		}
		if err := c.waitFree(ctx); err != nil {
			return nil, err
		}
	}
}

// waitFree waits until the prompt that has the agent now is done.
func (c *claims) waitFree(ctx context.Context) error {
	c.mu.Lock()
	has := c.current
	c.mu.Unlock()
	if has == nil {
		return nil
	}
	select {
	case <-has.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waitLeft waits until no prompt of a session that was left has the agent.
func (c *claims) waitLeft(ctx context.Context, left *session.Session) {
	c.mu.Lock()
	has := c.current
	c.mu.Unlock()
	if has == nil || has.session != left {
		return
	}
	select {
	case <-has.done:
	case <-ctx.Done():
	}
}

// accept notes that a run works on the prompt that has the agent.
func (c *claims) accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.accepted = true
	}
}

// noteSettled notes that the run tells its end.
func (c *claims) noteSettled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		c.current.settled = c.current.accepted
	}
}

// end gives the agent back.
func (c *claims) end(mine *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = nil
	close(mine.done)
}
