package session

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Lines yields the lines of the session as a file of its own would hold them,
// without their newlines: the header and all entries, each byte for byte, also
// those that could not be saved. Of a file of version 1 or 2 they have the form
// of version 3. An entry whose line is gone from the file ends it with an error.
func (s *Session) Lines() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		header, err := s.Header().current()
		if err != nil {
			yield(nil, fmt.Errorf("write session %s: its header: %w", s.ID(), err))
			return
		}
		if !yield(header, nil) {
			return
		}
		for _, e := range s.Entries() {
			raw := e.Raw()
			if raw == nil {
				yield(nil, fmt.Errorf("write session %s: entry %s is gone from its file", s.ID(), e.ID))
				return
			}
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// current is the line of the header for entries in the form of this version.
func (h Header) current() (json.RawMessage, error) {
	if h.Version >= Version {
		return h.raw, nil
	}
	was, now := fieldWriter{}, fieldWriter{}
	was.int("version", int64(h.Version))
	now.int("version", Version)
	return overlay(h.raw, was, now)
}
