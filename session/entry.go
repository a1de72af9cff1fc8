package session

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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

const isoMillis = "2006-01-02T15:04:05.000Z"

func isoTime(t time.Time) string { return t.UTC().Format(isoMillis) }

// newUUID is a UUID of version 7: 48 bits of milliseconds, then chance.
func newUUID(t time.Time) string {
	var b [16]byte
	rand.Read(b[:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(t.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// newEntryID is 8 hex digits that the session does not have yet.
func newEntryID(taken map[string]*Entry) string {
	for {
		var b [4]byte
		rand.Read(b[:])
		id := hex.EncodeToString(b[:])
		if taken[id] == nil {
			return id
		}
	}
}

// arena makes entries and their short strings in blocks: one by one they would cost a
// large file more than reading it, and be most of the garbage of loading. The zero
// value is ready.
type arena struct {
	entries []Entry
	text    *strings.Builder
	types   map[string]string // names of entry types, by their JSON
}

// blockOfText is how much room short strings share.
const blockOfText = 4 << 10

// entry returns a zeroed entry out of the current block, and makes a new block if it is
// used up.
func (a *arena) entry() *Entry {
	if len(a.entries) == 0 {
		a.entries = make([]Entry, 256)
	}
	e := &a.entries[0]
	a.entries = a.entries[1:]
	return e
}

// unquote returns what [rawjson.Unquote] does. Strings of up to 64 bytes share their
// memory.
func (a *arena) unquote(quoted []byte) string {
	if !rawjson.IsString(quoted) || len(quoted) > 64 || bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
		return rawjson.Unquote(quoted)
	}
	in := quoted[1 : len(quoted)-1]
	if a.text == nil || a.text.Cap()-a.text.Len() < len(in) {
		a.text = &strings.Builder{}
		a.text.Grow(blockOfText)
	}
	start := a.text.Len()
	a.text.Write(in)
	return a.text.String()[start:]
}

// typeName is unquote for names of entry types: equal ones are made once.
func (a *arena) typeName(quoted []byte) string {
	if name, ok := a.types[string(quoted)]; ok {
		return name
	}
	if a.types == nil {
		a.types = map[string]string{}
	}
	name := rawjson.Unquote(quoted)
	a.types[string(quoted)] = name
	return name
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

// compacted is the decoded body of a compaction entry.
type compacted struct {
	firstKept string // the id of the first entry that it keeps, as the file has it
	message   *message.Message
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

// decode decodes the body of an entry; its results are those of decoded.
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
	return &compacted{rawjson.Unquote(rawjson.Field(e.raw, "firstKeptEntryId")),
		&message.Message{Role: message.RoleCompactionSummary, Summary: m.Summary, TokensBefore: m.TokensBefore, Timestamp: e.millis()}}
}

// decodeMessage returns the *Message of a message entry, or an error. A message that
// lacks the content that its role has gets an empty list.
func (e *Entry) decodeMessage() any {
	raw := rawjson.Field(e.raw, "message")
	if len(raw) == 0 || raw[0] != '{' {
		return errNoMessage
	}
	m := message.Decode(raw)
	if m.Content == nil && Editable(m.Role) && m.Role != message.RoleCustom {
		if v := rawjson.Field(raw, "content"); v == nil || string(v) == "null" {
			var was, now rawjson.Object
			was.Put("content", []byte("null"))
			now.Put("content", []byte("[]"))
			return message.Decode(rawjson.Overlay(raw, was, now))
		}
	}
	return m
}

// millis is the entry's time, 0 if nobody can read it.
func (e *Entry) millis() int64 {
	t, err := time.Parse(time.RFC3339, e.Timestamp)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// compactionBody is the decoded body of a compaction; false for any other entry, and for
// one whose body cannot be read.
func (e *Entry) compactionBody() (*compacted, bool) {
	if e.Type != TypeCompaction {
		return nil, false
	}
	c, ok := e.decoded().(*compacted)
	return c, ok
}

// Editable reports whether messages of a role have content that an edit may replace.
func Editable(r message.Role) bool {
	switch r {
	case message.RoleUser, message.RoleAssistant, message.RoleToolResult, message.RoleCustom:
		return true
	}
	return false
}

// decodeContextEdit reads valid JSON. A replacement without content is no edit
// anybody can carry out, and gives an error.
func decodeContextEdit(raw []byte) any {
	c := &ContextEdit{TargetID: rawjson.Unquote(rawjson.Field(raw, "targetId"))}
	r := rawjson.Field(raw, "replacement")
	if string(r) == "null" {
		return c
	}
	content := rawjson.Field(r, "content")
	if content == nil {
		return errNoContent
	}
	c.Replacement = &Replacement{}
	c.Replacement.Content, c.Replacement.Plain = message.DecodeContent(content)
	return c
}

// encode returns the line of a new entry with these fields. Its head comes first, so
// that loading finds it without reading further.
func (e *Entry) encode(own rawjson.Object) []byte {
	parent := []byte("null")
	if p := e.parent; p != nil && p.fileID != "" {
		parent = rawjson.Quote(p.fileID)
	} else if p != nil {
		parent = rawjson.Quote(p.ID)
	}
	var o rawjson.Object
	o.Text("type", e.Type)
	o.Text("id", e.ID)
	o.Put("parentId", parent)
	o.Text("timestamp", e.Timestamp)
	return append(o, own...).Bytes()
}

// encodeFields encodes v, which must become a JSON object, and returns its fields
// without type, id, parentId and timestamp, which are the session's own. nil has no
// fields.
func encodeFields(v any) (rawjson.Object, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := rawjson.Encode(v)
	if err != nil {
		return nil, err
	}
	if raw, err = rawjson.Compact(raw); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil, fmt.Errorf("its fields are no JSON object")
	}
	var own rawjson.Object
	for k, v := range rawjson.Fields(raw) {
		switch string(k) {
		case "type", "id", "parentId", "timestamp":
		default:
			own.Put(string(k), v)
		}
	}
	return own, nil
}

// Uncached returns a copy of the entry for a caller that looks at each entry once, such as
// an export: its line and its message are kept only as long as the copy is. The copy is for
// one goroutine.
func (e *Entry) Uncached() *Entry {
	return &Entry{
		Type: e.Type, ID: e.ID, ParentID: e.ParentID, Timestamp: e.Timestamp,
		raw: e.rawUncached(), fileID: e.fileID, parent: e.parent, index: e.index, line: e.line, own: e.own,
	}
}

// Glance says how many messages [Session.Context] has, and the first of the
// user's texts among them. It decodes hardly more than that one message, for
// somebody waits for it when a session is opened; so messages whose bodies turn
// out to be broken are counted too.
func (s *Session) Glance() (messages int, prompt string) {
	path := s.Branch()
	at, first := LastCompaction(path)
	edits := EditsOn(path[first:])
	if at >= 0 && edited(path[at], edits) != nil {
		messages++
	}
	for _, e := range path[first:] {
		if !e.givesMessage(edits[e.ID]) {
			continue
		}
		messages++
		if prompt != "" {
			continue
		}
		if m := edited(e, edits); m != nil && m.Role == message.RoleUser {
			prompt = m.Text()
		}
	}
	return messages, prompt
}

// givesMessage reports whether an entry has a message in the context, without decoding
// it where its type is enough; edit is the last edit of it, or nil. It is not asked
// about compactions.
func (e *Entry) givesMessage(edit *ContextEdit) bool {
	if edit != nil && edit.Replacement == nil {
		return false
	}
	switch e.Type {
	case TypeMessage, TypeCustomMessage:
		return true
	case TypeBranchSummary:
		return e.Message() != nil
	}
	return false
}
