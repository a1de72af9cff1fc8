package session

import (
	"encoding/json"
	"fmt"
	"iter"

	"pi/session/rawjson"
)

// Lines yields the lines of the session as a file of its own would hold them,
// without their newlines: the header and all entries, each byte for byte, also
// those that could not be saved. Of a file of version 1 or 2 they have the form
// of version 3. An entry whose line is gone from the file comes as a *[GoneError];
// those after it follow.
func (s *Session) Lines() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		if !yield(s.Header().current(), nil) {
			return
		}
		for _, e := range s.Entries() {
			var gone error
			raw := e.rawUncached()
			if raw == nil {
				gone = &GoneError{e.ID}
			}
			if !yield(raw, gone) {
				return
			}
		}
	}
}

// GoneError says that the line of an entry was overwritten or cut off since its
// session was opened, before anybody had read it.
type GoneError struct{ ID string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("entry %s can no longer be read from the file", e.ID)
}

// current is the line of the header for entries in the form of this version.
func (h Header) current() json.RawMessage {
	if h.Version >= Version {
		return h.raw
	}
	var was, now rawjson.Object
	was.Int("version", int64(h.Version))
	now.Int("version", Version)
	return rawjson.Overlay(h.raw, was, now)
}
