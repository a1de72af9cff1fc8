package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

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
	branch, core := s.Branch(), a.view.core(s)
	c := chained{branch: branch, core: core, items: core}
	if a.wants(KindContext) {
		e := &Context{Entries: branch, Items: core}
		a.emit(ctx, e)
		c.stages, c.items = e.Stages, e.Items
	}
	if a.Session() == s {
		a.lastSeen.set(s, c)
	}
	return c
}

// refresh runs the context chain for those who listen to it. If nobody does,
// what it once gave is forgotten.
func (a *Agent) refresh(ctx context.Context) {
	if a.wants(KindContext) {
		a.Context(ctx)
		return
	}
	a.lastSeen.set(nil, chained{})
	a.view.reset() // it may hold a session that was left
}

// Reloaded lets the listeners see the context again after hooks changed.
func (a *Agent) Reloaded(ctx context.Context) { a.refresh(ctx) }

// Seen returns the result of the last context chain, with what was edited since
// then as it is now, and behind it what the session got since then; the session's
// own list if there was no chain since it was opened.
func (a *Agent) Seen() []session.Item {
	s := a.Session()
	seen, to, edited := a.lastSeen.of(s)
	if seen == nil {
		return a.view.core(s)
	}
	seen = seen[:len(seen):len(seen)]
	if len(edited) == 0 && len(s.Branch()) <= to {
		return seen
	}
	now := a.view.core(s)
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

// contextView is what a session holds, built on top of what it held before. The
// zero value is ready; all methods may be called from any goroutine.
type contextView struct {
	mu    sync.Mutex // guards what follows
	view  session.View
	gauge compaction.Gauge
}

// core is what s holds.
func (v *contextView) core(s *session.Session) []session.Item {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view.Context(s)
}

// forModel is a context in the form of a request.
func (v *contextView) forModel(items []session.Item) []*message.Message {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view.ForModel(items)
}

// read says what is known of the tokens of a context.
func (v *contextView) read(items []session.Item) compaction.Reading {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.gauge.Read(items)
}

// reset forgets the session.
func (v *contextView) reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view, v.gauge = session.View{}, compaction.Gauge{}
}

// lastSeen is the result of the last context chain. The zero value is ready; all
// methods may be called from any goroutine.
type lastSeen struct {
	mu      sync.Mutex       // guards what follows
	session *session.Session // that it is about
	items   []session.Item   // nil: there was no chain
	to      int              // how long the branch was then
	edited  map[string]bool  // ids of the entries edited since then
	chain   chained          // how it went
}

// set replaces the result by that of c, a chain over s.
func (l *lastSeen) set(s *session.Session, c chained) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session, l.items, l.to, l.edited, l.chain = s, c.items, len(c.branch), nil, c
}

// of returns the result for s: nil if there is none, else what it covers of the
// branch, and the entries edited since then.
func (l *lastSeen) of(s *session.Session) (items []session.Item, to int, edited map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != s {
		return nil, 0, nil
	}
	return l.items, l.to, maps.Clone(l.edited)
}

// lastChain is how the last chain went.
func (l *lastSeen) lastChain() chained {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chain
}

// forget drops the result, which was about another branch.
func (l *lastSeen) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = nil
}

// edit has an edited entry of s shown as it is from now on; the context chain
// itself runs again before the next request.
func (l *lastSeen) edit(s *session.Session, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != s || l.items == nil {
		return
	}
	if l.edited == nil {
		l.edited = map[string]bool{}
	}
	l.edited[id] = true
}

// EditContext makes a lasting edit of what the model sees of one entry of the
// current branch: r nil takes it out, else only its content changes. The history
// of the session stays as it is. It returns the id of the edit. Messages of the
// person, answers, tool results and custom messages can be edited.
func (a *Agent) EditContext(_ context.Context, id string, r *session.Replacement) (string, error) {
	s := a.Session()
	if err := editTarget(s, id); err != nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	e, err := s.Append(session.TypeContextEdit, session.ContextEdit{TargetID: id, Replacement: r})
	if e == nil {
		return "", fmt.Errorf("edit context: %w", err)
	}
	a.lastSeen.edit(s, id)
	return e.ID, err
}

// editTarget refuses an entry that no edit reaches.
func editTarget(s *session.Session, id string) error {
	e := s.Entry(id)
	if e == nil {
		return fmt.Errorf("no entry %q", id)
	}
	if !slices.Contains(s.Branch(), e) {
		return fmt.Errorf("entry %q is not on the current branch", id)
	}
	kind := e.Type
	if m := e.Message(); m != nil {
		switch m.Role {
		case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleCustom:
			return nil
		}
		kind = string(m.Role)
	}
	return fmt.Errorf("entry %q is a %s; only messages of the roles user, assistant, toolResult and custom can be edited", id, kind)
}
