package session

import (
	"encoding/json"
	"sync"
)

// Entry is one line of a session file. It is immutable and safe for concurrent
// use. The raw line is kept, so that fields nobody knows survive; the body is
// decoded when it is first asked for.
type Entry struct {
	Type      string
	ID        string
	ParentID  string // "" at the root
	Timestamp string // ISO 8601, as in the file

	raw  json.RawMessage
	once sync.Once
	body any
}

// Raw returns the line as it stands in the file, without its newline. The
// caller must not change it.
func (e *Entry) Raw() json.RawMessage { return e.raw }

// Item is one message of a built context. Entry is nil and Index -1 for a
// message that comes from no entry of the branch.
type Item struct {
	Message *Message
	Entry   *Entry
	Index   int // position of Entry on the branch, root first, counted from 0
}
