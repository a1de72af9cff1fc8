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

// conversation is the current session and what the model sees of it. All methods
// may be called from any goroutine.
type conversation struct {
	events *listeners
	images imageScaler
	view   contextView
	begin  *beginning // of another conversation that this one goes on from; nil: there is none

	mu      sync.Mutex // guards what follows: the chain is always one over the session that is current
	session *session.Session
	news    *announcer      // of session
	last    chained         // the last run of the context chain; without items there was none
	edited  map[string]bool // ids of the entries edited since then
}

// newConversation returns the conversation of a session.
func newConversation(events *listeners, i imageScaler, s *session.Session) *conversation {
	return &conversation{events: events, images: i, session: s, news: announce(events, s)}
}

// chained is one run of the context chain.
type chained struct {
	branch []*session.Entry
	core   []session.Item // what the session holds
	stages []ContextStage
	items  []session.Item // what the chain made of it
}

// current returns the current session.
func (c *conversation) current() *session.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// announcer returns what tells of the entries of the current session.
func (c *conversation) announcer() *announcer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.news
}

// replace makes next the current session and returns the one before it. What the context
// chain made of that one is forgotten.
func (c *conversation) replace(next *session.Session) (previous *session.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news.stop()
	previous, c.session, c.news = c.session, next, announce(c.events, next)
	c.last, c.edited = chained{}, nil
	return previous
}

// runChain lets the listeners to the context event change what the model sees, one after
// the other, and remembers and returns the result. Without such listeners it is what the
// session has. If the session was replaced meanwhile, the result is not remembered. Of a conversation
// that goes on from another one they see what came since: the beginning is as it was sent.
func (c *conversation) runChain(ctx context.Context) chained {
	s := c.current()
	branch, core := s.Branch(), c.view.core(s)
	own, begins := c.begin.rest(core)
	if !begins {
		own = core
	}
	r := chained{branch: branch, core: core, items: own}
	if c.events.wants(KindContext) {
		e := &Context{Entries: branch, Items: own}
		c.events.emit(ctx, e)
		r.stages, r.items = e.Stages, e.Items
	}
	if begins {
		r.stages = slices.Clone(r.stages)
		for i := range r.stages {
			r.stages[i].Value = c.begin.before(r.stages[i].Value)
		}
		r.items = c.begin.before(r.items)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		c.last, c.edited = r, nil
	}
	return r
}

// refresh runs the context chain anew, if somebody listens to it. Otherwise it only drops
// its last result and what was computed of the session before, which is rebuilt when it is
// needed.
func (c *conversation) refresh(ctx context.Context) {
	if c.events.wants(KindContext) {
		c.runChain(ctx)
		return
	}
	c.forgetChain()
	c.view.reset()
}

// forgetChain drops the last result of the context chain, because the branch is another
// one now.
func (c *conversation) forgetChain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.edited = chained{}, nil
}

// seen returns what the model sees now, and the last run of the context chain: the result
// of that run, with edited entries as they are now and the entries added since. See
// [Agent.Seen].
func (c *conversation) seen() ([]session.Item, chained) {
	c.mu.Lock()
	s, last, edited := c.session, c.last, maps.Clone(c.edited)
	c.mu.Unlock()
	if last.items == nil {
		core := c.view.core(s)
		if own, begins := c.begin.rest(core); begins {
			return c.begin.before(own), last
		}
		return core, last
	}
	shown, to := last.items[:len(last.items):len(last.items)], len(last.branch)
	if len(edited) == 0 && len(s.Branch()) <= to {
		return shown, last
	}
	now := c.view.core(s)
	if len(edited) > 0 {
		shown = withEdits(shown, now, edited)
	}
	for _, item := range now {
		if item.Index >= to {
			shown = append(shown, item)
		}
	}
	return shown, last
}

// withEdits returns seen with the messages of the edited entries replaced by those in now.
// An entry that has no message any more is left out.
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

// noteEdit remembers that the entry id of s was edited, so that seen returns it as it is
// now. The context chain does not run; it does before the next request.
func (c *conversation) noteEdit(s *session.Session, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != s || c.last.items == nil {
		return
	}
	if c.edited == nil {
		c.edited = map[string]bool{}
	}
	c.edited[id] = true
}

// checkEdit returns an error if the entry id cannot be edited: it is missing, not on the
// current branch, or no message of a kind that can be.
func checkEdit(s *session.Session, id string) error {
	e := s.Entry(id)
	if e == nil {
		return fmt.Errorf("no entry %q", id)
	}
	if !slices.Contains(s.Branch(), e) {
		return fmt.Errorf("entry %q is not on the current branch", id)
	}
	kind := e.Type
	if m := e.Message(); m != nil {
		if session.Editable(m.Role) {
			return nil
		}
		kind = string(m.Role)
	}
	return fmt.Errorf("entry %q is a %s; only messages of the roles user, assistant, toolResult and custom can be edited", id, kind)
}

// appendCustom appends a custom message to the session, and tells the front ends if it is
// to be displayed. With an error the entry may be there, only unsaved, or nil.
func (c *conversation) appendCustom(ctx context.Context, m *message.Message) (*session.Entry, error) {
	m = c.events.askMessage(ctx, m).Clone()
	m.Content = c.images.content(ctx, m.Content)
	e, err := c.current().Append(session.TypeCustomMessage, session.CustomMessage{
		CustomType: m.CustomType, Content: m.Content, Plain: m.Plain, Display: m.Display, Details: m.Details,
	})
	if e != nil && m.Display {
		c.events.emitAfter(ctx, KindCustomShow, func() Event { return &CustomShow{Message: m} })
	}
	return e, err
}

// contextView is what a session holds, built on top of what it held before. The
// zero value is ready; all methods may be called from any goroutine.
type contextView struct {
	mu    sync.Mutex // guards what follows
	view  session.View
	gauge compaction.Gauge
}

// core returns the context of s, before any hook has changed it.
func (v *contextView) core(s *session.Session) []session.Item {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view.Context(s)
}

// forModel returns the messages of a context as a request carries them.
func (v *contextView) forModel(items []session.Item) []*message.Message {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view.ForModel(items)
}

// tokens returns how many tokens of a context a provider has counted, and how many are
// estimated.
func (v *contextView) tokens(items []session.Item) compaction.Reading {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.gauge.Read(items)
}

// reset forgets what was computed of a session, so that its memory can be freed.
func (v *contextView) reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.view, v.gauge = session.View{}, compaction.Gauge{}
}
