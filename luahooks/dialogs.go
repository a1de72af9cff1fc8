package luahooks

import (
	"context"
	"sync"
	"sync/atomic"
	"weak"

	"pi/agent"
	"pi/session"
)

// dialogQueue shows the dialogs of all hooks one at a time, unless the front end can show
// several. It is a [api.Dialogs].
type dialogQueue struct {
	open    chan struct{}  // of size 1; holds one token: who has put it there may ask the person
	events  agent.Listener // is told when the program waits for the person
	several atomic.Bool    // nobody waits for a token
}

// severalAsker is a front end that says whether it can have several dialogs open at a time.
type severalAsker interface{ SeveralDialogs() bool }

// attach takes note of what the front end can show.
func (q *dialogQueue) attach(ui agent.UI) {
	asker, ok := ui.(severalAsker)
	q.several.Store(ok && asker.SeveralDialogs())
}

// IsOpen is that of [api.Dialogs].
func (q *dialogQueue) IsOpen() bool { return len(q.open) > 0 }

// Ask is that of [api.Dialogs].
func (q *dialogQueue) Ask(ctx context.Context, kind, title string, f func(context.Context) error) error {
	defer agent.AwaitPerson(ctx)()
	if !q.several.Load() {
		select {
		case q.open <- struct{}{}:
			defer func() { <-q.open }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if q.events.Wants(agent.KindUIPromptStart) {
		_ = q.events.Handle(ctx, &agent.UIPromptStart{PromptKind: kind, Title: title})
	}
	if q.events.Wants(agent.KindUIPromptEnd) {
		defer func() {
			_ = q.events.Handle(context.WithoutCancel(ctx), &agent.UIPromptEnd{PromptKind: kind, Title: title})
		}()
	}
	return f(ctx)
}

// answeredAlways has the questions that a person answered with "always" in one session. It is
// an [api.Memory].
type answeredAlways struct {
	mu        sync.Mutex // guards what follows
	in        weak.Pointer[session.Session]
	questions map[string]bool
}

// IsKept is that of [api.Memory].
func (a *answeredAlways) IsKept(s *session.Session, question string) bool {
	return a.inSession(s, func() bool { return a.questions[question] })
}

// Keep is that of [api.Memory].
func (a *answeredAlways) Keep(s *session.Session, question string) {
	a.inSession(s, func() bool { a.questions[question] = true; return true })
}

// inSession calls f with the lock, after it has dropped what was answered in another session
// than s, or in s before it was closed and opened again.
func (a *answeredAlways) inSession(s *session.Session, f func() bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := weak.Make(s); a.questions == nil || a.in != now {
		a.in, a.questions = now, map[string]bool{}
	}
	return f()
}
