package agent

import (
	"errors"
	"slices"

	"pi/agent/llm"
	"pi/session"
)

// An agent can go on from what another one has sent: its requests are that request, byte for byte,
// and what it has to say behind it, so that the provider finds the beginning in its cache. Its
// session is a copy of the path of that, which compacts as any. Once that has happened, nothing of
// the other request is left to begin with but tools and system prompt.

// Sent is a request of a conversation as it was sent. Nothing in it changes.
type Sent struct{ *sentRequest }

// LastSent returns the last request that was sent for the current session; nil if there was none.
func (a *Agent) LastSent() *Sent {
	if is := a.sent.requestOf(a.Session()); is != nil {
		return &Sent{is}
	}
	return nil
}

// Model is the model that was asked.
func (s *Sent) Model() *llm.Model { return s.asked.Model }

// Wish is the thinking level that was chosen.
func (s *Sent) Wish() string { return s.wish }

// Copy returns a session of the path that was sent, and of what followed it unless that is not
// complete or changes it.
func (s *Sent) Copy(o session.Options) (*session.Session, error) {
	leaf, err := s.leaf()
	if err != nil {
		return nil, err
	}
	return s.session.CopyPath(leaf, o)
}

// leaf returns the id of the last entry of the path to copy.
func (s *Sent) leaf() (string, error) {
	sent := s.chain.branch
	if len(sent) == 0 {
		return "", errors.New("nothing was said in the session")
	}
	last := sent[len(sent)-1].ID
	now := s.session.Branch()
	if len(now) <= len(sent) || now[len(sent)-1].ID != last {
		return last, nil
	}
	open := map[string]bool{}
	for _, e := range now[len(sent):] {
		switch e.Type {
		case session.TypeCompaction, session.TypeContextEdit:
			return last, nil
		}
		m := e.Message()
		if m == nil {
			continue
		}
		for _, call := range m.ToolCalls() {
			open[call.ID] = true
		}
		delete(open, m.ToolCallID)
	}
	if len(open) > 0 {
		return last, nil
	}
	return now[len(now)-1].ID, nil
}

// beginning is what the conversation of an agent begins with that goes on from another one.
type beginning struct {
	core  []session.Item // the items of its session that were sent
	items []session.Item // as listeners of the other agent left them
}

// newBeginning returns what a conversation begins with whose session is a copy of sent; nil where
// nothing of that is sent.
func newBeginning(sent *Sent, s *session.Session) *beginning {
	if sent == nil {
		return nil
	}
	core := new(session.View).Context(s)
	if n := len(sent.chain.core); n <= len(core) {
		return &beginning{core[:n:n], sent.chain.items}
	}
	return nil
}

// rest returns the items of core behind the beginning; ok is false if core does not begin so any
// more. A beginning of nil is none.
func (b *beginning) rest(core []session.Item) (rest []session.Item, ok bool) {
	if b == nil || len(core) < len(b.core) {
		return nil, false
	}
	same := slices.EqualFunc(b.core, core[:len(b.core)], func(x, y session.Item) bool { return x.Message == y.Message })
	return core[len(b.core):len(core):len(core)], same
}

// before returns items behind those that the conversation begins with.
func (b *beginning) before(items []session.Item) []session.Item {
	return append(b.items[:len(b.items):len(b.items)], items...)
}

// has reports whether a tool was offered to the model.
func (s *Sent) has(tool string) bool {
	return s != nil && slices.ContainsFunc(s.asked.Tools, func(t llm.ToolSpec) bool { return t.Name == tool })
}
