package session

import (
	"encoding/json"
	"iter"
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
