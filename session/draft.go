package session

import (
	"fmt"
	"slices"

	"pi/session/rawjson"
)

// Draft is an entry that is not in a session yet: its type, and its own fields
// as [Session.Append] takes them.
type Draft struct {
	Type string
	Body any
}

func (d Draft) fields() (rawjson.Object, error) {
	if d.Type == "" || d.Type == TypeSession {
		return nil, fmt.Errorf("entry: %q is no type of an entry", d.Type)
	}
	own, err := flatten(d.Body)
	if err != nil {
		return nil, fmt.Errorf("%s entry: %w", d.Type, err)
	}
	return own, nil
}

// AppendAll adds entries in order, each a child of the one before, all or none:
// if one of them cannot be an entry, nothing is added. They go to the file in
// one write, so a process that is killed leaves all of them or none there too;
// only a disk that fills up or a machine that stops in the middle of that write
// can leave the first few. With a *[SaveError] come the entries, some of which
// are then only in memory.
func (s *Session) AppendAll(drafts []Draft) ([]*Entry, error) {
	own := make([]rawjson.Object, len(drafts))
	for i, d := range drafts {
		fields, err := d.fields()
		if err != nil {
			return nil, fmt.Errorf("append %w", err)
		}
		own[i] = fields
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(drafts) == 0 {
		return nil, nil
	}
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.catchUp()
	entries := make([]*Entry, 0, len(drafts))
	for i, d := range drafts {
		entries = append(entries, s.grow(d.Type, s.keepLater(d, own[i])))
	}
	err := s.flushStarted()
	if slices.ContainsFunc(drafts, func(d Draft) bool { return d.Type == TypeCompaction }) {
		err = s.settled(err)
	}
	return entries, err
}
