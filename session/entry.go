package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

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

// readRaw reads the line from the file; nil if it is no longer there. A descriptor still
// sees a file that was deleted or replaced, but not what somebody cut off or wrote over.
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

// rawUncached is Raw without keeping in memory what is read from the file: for callers
// that write it somewhere else.
func (e *Entry) rawUncached() json.RawMessage {
	if e.src != nil {
		if line := e.readRaw(); line != nil {
			return line
		}
	}
	return e.Raw()
}

// Message returns the message that the entry gives to the context: that of a
// message, custom_message, compaction or branch_summary entry. It is nil for
// all others and for an entry whose body cannot be read. It is decoded once.
func (e *Entry) Message() *message.Message {
	switch b := e.decoded().(type) {
	case *message.Message:
		return b
	case *compacted:
		return b.message
	}
	return nil
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

// Item is one message of a built context. Entry is nil and Index -1 for a
// message that comes from no entry of the branch. A compaction summary comes
// from its compaction entry.
type Item struct {
	Message *message.Message
	Entry   *Entry
	Index   int // position of Entry on the branch, root first, counted from 0
}

// compacted is the decoded body of a compaction entry.
type compacted struct {
	Compaction
	message *message.Message
}

var (
	errBody      = errors.New("not valid JSON")
	errNoMessage = errors.New("no message in it")
	errNoContent = errors.New("a replacement without content")
)

// decoded returns the cached body: *Message, *compacted, *ContextEdit, nil, or
// an error.
func (e *Entry) decoded() any {
	e.once.Do(func() { e.body = e.decode() })
	return e.body
}

func (e *Entry) decode() any {
	switch e.Type {
	case TypeMessage, TypeCustomMessage, TypeCompaction, TypeBranchSummary, TypeContextEdit:
	default:
		return nil
	}
	if !rawjson.Valid(e.Raw()) {
		return errBody
	}
	switch e.Type {
	case TypeMessage:
		return e.decodeMessage()
	case TypeContextEdit:
		return decodeContextEdit(e.raw)
	}
	m := message.Decode(e.raw)
	switch e.Type {
	case TypeCustomMessage:
		return &message.Message{Role: message.RoleCustom, Content: m.Content, Plain: m.Plain, CustomType: m.CustomType,
			Display: m.Display, Details: m.Details, Timestamp: e.millis()}
	case TypeBranchSummary:
		if m.Summary == "" {
			return nil
		}
		return &message.Message{Role: message.RoleBranchSummary, Summary: m.Summary, FromID: m.FromID, Timestamp: e.millis()}
	}
	c := &compacted{message: &message.Message{Role: message.RoleCompactionSummary, Summary: m.Summary,
		TokensBefore: m.TokensBefore, Timestamp: e.millis()}}
	c.Summary, c.TokensBefore = m.Summary, m.TokensBefore
	c.FirstKeptEntryID = rawjson.Unquote(rawjson.Field(e.raw, "firstKeptEntryId"))
	return c
}

func (e *Entry) decodeMessage() any {
	raw := rawjson.Field(e.raw, "message")
	if len(raw) == 0 || raw[0] != '{' {
		return errNoMessage
	}
	m := message.Decode(raw)
	if m.Content == nil && editable(m.Role) && m.Role != message.RoleCustom {
		return message.Decode(withContent(raw))
	}
	return m
}

// withContent gives a message without content an empty list of blocks, which is
// what every reader takes it for.
func withContent(raw []byte) []byte {
	if v := rawjson.Field(raw, "content"); v != nil && string(v) != "null" {
		return raw
	}
	var was, now rawjson.Object
	was.Put("content", []byte("null"))
	now.Put("content", []byte("[]"))
	return rawjson.Overlay(raw, was, now)
}

// millis is the entry's time, 0 if nobody can read it.
func (e *Entry) millis() int64 {
	t, err := time.Parse(time.RFC3339, e.Timestamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}
