package agent

import (
	"context"

	"pi/session"
)

// Context runs the context chain over what the session holds and returns what
// the model would see now, before the messages are put into the form of a
// request. The session is not changed by it. Every run of the chain starts from
// the session, never from an earlier result.
func (a *Agent) Context(ctx context.Context) []session.Item {
	s := a.Session()
	entries, items := s.Branch(), s.Context()
	if a.wants(KindContext) {
		e := &Context{Entries: entries, Items: items[:len(items):len(items)]}
		a.emit(ctx, e)
		items = e.Items
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session == s {
		a.seen, a.seenTo = items, len(entries)
	}
	return items
}

// refresh runs the context chain for those who listen to it. If nobody does,
// what it once gave is forgotten.
func (a *Agent) refresh(ctx context.Context) {
	if a.wants(KindContext) {
		a.Context(ctx)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = nil
}

// Reloaded lets the listeners see the context again after hooks changed.
func (a *Agent) Reloaded(ctx context.Context) { a.refresh(ctx) }

// Seen returns the result of the last context chain and, behind it, what the
// session got since then; the session's own list if there was no chain since it
// was opened.
func (a *Agent) Seen() []session.Item {
	a.mu.Lock()
	seen, to, s := a.seen, a.seenTo, a.session
	a.mu.Unlock()
	if seen == nil {
		return s.Context()
	}
	seen = seen[:len(seen):len(seen)]
	if len(s.Branch()) <= to {
		return seen
	}
	for _, item := range s.Context() {
		if item.Index >= to {
			seen = append(seen, item)
		}
	}
	return seen
}
