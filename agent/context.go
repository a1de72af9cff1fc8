package agent

import (
	"context"
	"maps"

	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// Context runs the context chain over what the session holds and returns what
// the model would see now, before the messages are put into the form of a
// request. The session is not changed by it. Every run of the chain starts from
// the session, never from an earlier result.
func (a *Agent) Context(ctx context.Context) []session.Item {
	return a.runChain(ctx).items
}

// chained is one run of the context chain.
type chained struct {
	branch []*session.Entry
	core   []session.Item // what the session holds
	stages []ContextStage
	items  []session.Item // what the chain made of it
}

func (a *Agent) runChain(ctx context.Context) chained {
	s := a.Session()
	branch, core := s.Branch(), a.coreContext(s)
	c := chained{branch: branch, core: core, items: core}
	if a.wants(KindContext) {
		e := &Context{Entries: branch, Items: core}
		a.emit(ctx, e)
		c.stages, c.items = e.Stages, e.Items
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session == s {
		a.seen, a.seenTo, a.edited, a.chain = c.items, len(branch), nil, c
	}
	return c
}

// coreContext is what a session holds, built on top of what it held before.
func (a *Agent) coreContext(s *session.Session) []session.Item {
	a.viewing.Lock()
	defer a.viewing.Unlock()
	return a.view.Context(s)
}

// toSend is a context in the form of a request.
func (a *Agent) toSend(items []session.Item) []*message.Message {
	a.viewing.Lock()
	defer a.viewing.Unlock()
	return a.view.ForModel(items)
}

// refresh runs the context chain for those who listen to it. If nobody does,
// what it once gave is forgotten.
func (a *Agent) refresh(ctx context.Context) {
	if a.wants(KindContext) {
		a.Context(ctx)
		return
	}
	a.mu.Lock()
	a.seen, a.chain = nil, chained{}
	a.mu.Unlock()
	a.viewing.Lock()
	a.view, a.gauge = session.View{}, compaction.Gauge{} // it may hold a session that was left
	a.viewing.Unlock()
}

// Reloaded lets the listeners see the context again after hooks changed.
func (a *Agent) Reloaded(ctx context.Context) { a.refresh(ctx) }

// Seen returns the result of the last context chain, with what was edited since
// then as it is now, and behind it what the session got since then; the session's
// own list if there was no chain since it was opened.
func (a *Agent) Seen() []session.Item {
	a.mu.Lock()
	seen, to, edited, s := a.seen, a.seenTo, maps.Clone(a.edited), a.session
	a.mu.Unlock()
	if seen == nil {
		return a.coreContext(s)
	}
	seen = seen[:len(seen):len(seen)]
	if len(edited) == 0 && len(s.Branch()) <= to {
		return seen
	}
	now := a.coreContext(s)
	if len(edited) > 0 {
		seen = withEdits(seen, now, edited)
	}
	for _, item := range now {
		if item.Index >= to {
			seen = append(seen, item)
		}
	}
	return seen
}

// withEdits is seen with the messages of the edited entries as they are now.
func withEdits(seen, now []session.Item, edited map[string]bool) []session.Item {
	given := map[string][]session.Item{} // what an edited entry gives to the context
	for _, it := range now {
		if it.Entry != nil && edited[it.Entry.ID] {
			given[it.Entry.ID] = append(given[it.Entry.ID], it)
		}
	}
	shown := make([]session.Item, 0, len(seen))
	for _, it := range seen {
		if it.Entry == nil || !edited[it.Entry.ID] {
			shown = append(shown, it)
			continue
		}
		shown = append(shown, given[it.Entry.ID]...)
		delete(given, it.Entry.ID)
	}
	return shown
}
