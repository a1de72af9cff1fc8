package app

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// ending is what the end of a run goes by.
type ending struct {
	life     context.Context // of the run, which a signal ends; nil before begin
	isServed bool            // for a client or a test, which do not wait long for the end
	once     sync.Once       // guards err
	err      error
}

// How long the end of a run may take: nobody may delay it for long.
const (
	sessionEnd = 5 * time.Second // to interrupt the agent, to tell the hooks, and to save
	hooksEnd   = 2 * time.Second // handlers that are still at work
	// promptEnd is the most that the end waits for what hooks have to finish where others
	// wait for it: clients, and whoever has sent a signal.
	promptEnd = 2 * time.Second
)

// close interrupts what the agent does, tells the hooks that the session ends, and closes
// session and hooks. It takes no longer than ctx allows, which is not that of the run. The
// error is one of saving. A second call returns what the first did.
func (r *run) close(ctx context.Context) error {
	r.end.once.Do(func() {
		defer r.closeHooks(ctx)
		r.children.close(ctx)
		wait, cancel := r.exitWait(ctx)
		defer cancel()
		r.chain.WaitAtEnd(wait)
		ctx, end := context.WithTimeout(ctx, sessionEnd+r.exitLimit())
		defer end()
		r.end.err = r.agent.Close(ctx)
	})
	return r.end.err
}

// exitLimit is how long the end waits for what hooks have to finish.
func (r *run) exitLimit() time.Duration {
	limit := time.Duration(r.place.Config.ExitWait) * time.Second
	if r.end.life == nil || r.end.life.Err() != nil || r.end.isServed {
		limit = min(limit, promptEnd)
	}
	return limit
}

// exitWait returns the context of that wait. A signal makes it short.
func (r *run) exitWait(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := r.exitLimit()
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)*3/4) // there is more to do before that
	}
	ctx, cancel := context.WithCancelCause(ctx)
	over := func(limit time.Duration) *time.Timer {
		return time.AfterFunc(limit, func() {
			cancel(fmt.Errorf("all hooks together have %v at the end (exit_wait)", limit.Round(100*time.Millisecond)))
		})
	}
	timer, unwatch := over(limit), func() bool { return true }
	if r.end.life != nil && r.end.life.Err() == nil {
		unwatch = context.AfterFunc(r.end.life, func() { over(min(limit, promptEnd)) })
	}
	return ctx, func() { unwatch(); timer.Stop(); cancel(nil) }
}

func (r *run) closeHooks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, hooksEnd)
	defer cancel()
	r.mcp.events.end()
	r.chain.Close(ctx)
	r.mcp.end()
}
