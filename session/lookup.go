package session

import (
	"fmt"
	"strings"
	"time"

	"pi/session/message"
)

// Leaf returns the id of the entry that the next one will hang on; "" in an
// empty session.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree.leaf == nil {
		return ""
	}
	return s.tree.leaf.ID
}

// Began returns when the conversation began: the time of its first entry, which copies of
// it keep, else that of the header. It is the zero time if neither can be read.
func (s *Session) Began() time.Time {
	if entries := s.Entries(); len(entries) > 0 {
		if at, err := time.Parse(time.RFC3339, entries[0].Timestamp); err == nil {
			return at
		}
	}
	at, _ := time.Parse(time.RFC3339, s.Header().Timestamp) // the zero time with an error
	return at
}

// Entry returns the entry with an id, or nil.
func (s *Session) Entry(id string) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.find(id)
}

// Entries returns all entries in the order of the file.
func (s *Session) Entries() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clipped(s.tree.entries)
}

// Branch returns the entries from the root to the leaf.
func (s *Session) Branch() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.path()
}

// Path returns the entries from the root to the one with the given id; nil if
// there is none.
func (s *Session) Path(id string) []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pathTo(s.tree.find(id))
}

// Unreached returns the entries that the conversation does not come by because the
// entry that it begins with lacks its parent, in the order of the file.
func (s *Session) Unreached() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, hidden := s.tree.unreached()
	return hidden
}

// Children returns the entries that hang on each one, in the order of the
// file, by the id of that one; "" has the roots.
func (s *Session) Children() map[string][]*Entry {
	entries := s.Entries()
	children := make(map[string][]*Entry, len(entries))
	for _, e := range entries {
		children[e.ParentID] = append(children[e.ParentID], e)
	}
	return children
}

// CommonAncestor returns the id of the last entry that lies on the paths to both
// a and b, "" if that is the root. An entry lies on the path to itself.
func (s *Session) CommonAncestor(a, b string) string {
	one, other := s.Path(a), s.Path(b)
	common := ""
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			break
		}
		common = one[i].ID
	}
	return common
}

// Labels returns the names of the entries that have one. Labels stand anywhere
// in the tree: the last one of the file that names an entry counts, and an
// empty one takes the name away.
func (s *Session) Labels() map[string]string {
	names := labelsIn(s.Entries())
	for id, name := range names {
		if name == "" {
			delete(names, id)
		}
	}
	return names
}

// labelsIn returns what entries say about names, "" for one that was taken away.
func labelsIn(entries []*Entry) map[string]string {
	names := map[string]string{}
	for _, e := range entries {
		if e.Type != TypeLabel {
			continue
		}
		if l, err := Body[Label](e); err == nil {
			names[l.TargetID] = l.Label
		}
	}
	return names
}

// Model returns the model that the branch used last: that of the last
// model_change or assistant message. Both are "" if there was none.
func (s *Session) Model() (provider, id string) {
	path := s.Branch()
	for i := len(path) - 1; i >= 0; i-- {
		switch e := path[i]; e.Type {
		case TypeModelChange:
			if c, err := Body[ModelChange](e); err == nil {
				return c.Provider, c.ModelID
			}
		case TypeMessage:
			if m := e.Message(); m != nil && m.Role == message.RoleAssistant && m.Model != "" {
				return m.Provider, m.Model
			}
		}
	}
	return "", ""
}

// ThinkingLevel returns the level set last on the branch, "" if none was.
func (s *Session) ThinkingLevel() string { return s.Thinking().ThinkingLevel }

// Thinking returns how the level was set last on the branch; the zero value if it never was.
func (s *Session) Thinking() ThinkingLevelChange {
	return lastBody[ThinkingLevelChange](s.Branch(), TypeThinkingLevelChange)
}

// Name returns the name given last, on whatever branch; "" if there is none.
func (s *Session) Name() string {
	return strings.TrimSpace(lastBody[SessionInfo](s.Entries(), TypeSessionInfo).Name)
}

// lastBody decodes the last entry of a type that can be decoded; the zero value if
// there is none.
func lastBody[T any](entries []*Entry, typ string) T {
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Type != typ {
			continue
		}
		if body, err := Body[T](entries[i]); err == nil {
			return *body
		}
	}
	return *new(T)
}

// Problems returns what was wrong with the file, one sentence each, and forgets
// it: every problem is reported once. Bodies are read late, so building the
// context may bring up more.
func (s *Session) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems.take()
}

// noteUnreadable adds entries whose bodies turned out to be broken to the problems.
func (s *Session) noteUnreadable(path []*Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.problems
	for _, e := range path {
		if err, _ := e.decoded().(error); err != nil && !p.broken[e] {
			if p.broken == nil {
				p.broken = map[*Entry]bool{}
			}
			p.broken[e] = true
			p.add("line %d: the %s entry %s cannot be used: %v", e.line, e.Type, e.ID, err)
		}
	}
}

// UnknownTypes returns the line that tells of entries that are not the core's,
// or "".
func (s *Session) UnknownTypes() string {
	counts := map[string]int{}
	var order []string
	for _, e := range s.Entries() {
		if Reserved(e.Type) {
			continue
		}
		if counts[e.Type]++; counts[e.Type] == 1 {
			order = append(order, e.Type)
		}
	}
	if len(order) == 0 {
		return ""
	}
	for i, typ := range order {
		order[i] = fmt.Sprintf("%s (%d)", typ, counts[typ])
	}
	return "Session has entries of unknown types: " + strings.Join(order, ", ")
}
