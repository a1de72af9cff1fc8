package session

import "fmt"

// Draft is an entry that is not in a session yet: its type, and its own fields
// as [Session.Append] takes them.
type Draft struct {
	Type string
	Body any
}

// AppendAll adds entries in order, each a child of the one before, all or none:
// if one of them cannot be an entry, nothing is added. With a *[SaveError] come
// the entries, some of which are then only in memory.
func (s *Session) AppendAll(drafts []Draft) ([]*Entry, error) {
	own := make([][]keyed, len(drafts))
	for i, d := range drafts {
		if d.Type == "" || d.Type == TypeSession {
			return nil, fmt.Errorf("append entries: %q is no type of an entry", d.Type)
		}
		fields, err := flatten(d.Body)
		if err != nil {
			return nil, fmt.Errorf("append %s entry: %w", d.Type, err)
		}
		own[i] = fields
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries []*Entry
	var unsaved error
	for i, d := range drafts {
		e, err := s.append(d.Type, own[i])
		if e == nil {
			return entries, err
		}
		entries = append(entries, e)
		if err != nil && unsaved == nil {
			unsaved = err
		}
	}
	return entries, unsaved
}
