package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"pi/session/message"
	"pi/session/rawjson"
)

// Entry is one line of a session file. It is immutable and safe for concurrent
// use. The raw line is kept, so that fields nobody knows survive; the body is
// decoded when it is first asked for.
type Entry struct {
	Type      string
	ID        string
	ParentID  string // "" at the root
	Timestamp string // ISO 8601, as in the file

	raw     json.RawMessage
	rawOnce sync.Once
	src     *os.File // where raw is read from when it is first asked for; nil: it is there
	at      int64
	size    int

	parent *Entry
	fileID string // the id in the file, if it is not ID
	index  int    // position in the file among the entries
	line   int    // number of the line in the file, from 1; 0 for an entry made here
	own    bool   // it may be a custom entry of the program: see isOwn
	once   sync.Once
	body   any
}

// Raw returns the line as it stands in the file, without its newline. (Of a
// file of version 1 or 2: as it would stand in version 3.) It is nil if the line
// was overwritten or cut off since the session was opened. The caller must not
// change it.
func (e *Entry) Raw() json.RawMessage {
	if e.src != nil {
		e.rawOnce.Do(func() { e.raw = e.readRaw() })
	}
	return e.raw
}

// readRaw reads the line from the file that was open when the session was loaded; nil if
// it is not there any more. A deleted or replaced file can still be read, but not what
// was cut off or overwritten, so the id is compared.
func (e *Entry) readRaw() []byte {
	line := make([]byte, e.size)
	if _, err := e.src.ReadAt(line, e.at); err != nil {
		return nil
	}
	line = bytes.TrimRight(line, "\r")
	h, ok := scanHead(line)
	if id := rawjson.Unquote(h.id); !ok || id != e.ID && id != e.fileID {
		return nil
	}
	return line
}

// rawUncached returns what Raw does, but does not keep a line that it reads from the
// file: for callers that write it somewhere else.
func (e *Entry) rawUncached() json.RawMessage {
	if e.src != nil {
		if line := e.readRaw(); line != nil {
			return line
		}
	}
	return e.Raw()
}

// Body decodes the entry's own fields into a T, one of the body types below or
// a type of the caller for its own entries.
func Body[T any](e *Entry) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(e.Raw(), v); err != nil {
		return nil, fmt.Errorf("decode %s entry %s: %w", e.Type, e.ID, err)
	}
	return v, nil
}

// IsModeChange reports whether the entry records which mode is on.
func (e *Entry) IsModeChange() bool { return e.isOwn(ModeChange) }

// isOwn reports whether the entry is a custom one of a type that is the program's own.
// Entries that cannot be are told apart when their line is first seen, so that a walk over
// a long branch reads no others.
func (e *Entry) isOwn(customType string) bool {
	if !e.own {
		return false
	}
	c, err := Body[Custom](e)
	return err == nil && c.CustomType == customType
}

// noteOwn notes whether the entry with this line may be a custom one of the program.
func (e *Entry) noteOwn(line []byte) {
	e.own = e.Type == TypeCustom && bytes.Contains(line, []byte(`"pi.`))
}

// Item is one message of a built context. Entry is nil and Index -1 for a
// message that comes from no entry of the branch. A compaction summary comes
// from its compaction entry.
type Item struct {
	Message *message.Message
	Entry   *Entry
	Index   int // position of Entry on the branch, root first, counted from 0
}

func (e *Entry) setParent(p *Entry) {
	if e.parent = p; p != nil {
		e.ParentID = p.ID
	}
}
