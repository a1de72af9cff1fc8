package session

import (
	"errors"
	"time"

	"pi/session/message"
	"pi/session/rawjson"
)

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
