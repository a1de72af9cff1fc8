package session

import (
	"bytes"
	"encoding/json"
)

// decodeBlock reads one content block from valid JSON. It never fails: a block
// of a type nobody knows has only its Type and Raw.
func decodeBlock(raw []byte) Block {
	b := Block{Type: BlockType(unquote(field(raw, "type"))), Raw: raw}
	seen := fieldSet{}
	for k, v := range fields(raw) {
		if seen.first(k) {
			b.setField(string(k), v)
		}
	}
	return b
}

func (b *Block) setField(key string, v []byte) {
	switch string(b.Type) + "." + key {
	case "text.text", "thinking.thinking":
		b.Text = unquote(v)
	case "text.textSignature", "thinking.thinkingSignature", "toolCall.thoughtSignature":
		b.Signature = unquote(v)
	case "thinking.redacted":
		b.Redacted = string(v) == "true"
	case "toolCall.id":
		b.ID = unquote(v)
	case "toolCall.name":
		b.Name = unquote(v)
	case "toolCall.arguments":
		b.Arguments = v
	case "image.data":
		b.Data = unquote(v)
	case "image.mimeType":
		b.MimeType = unquote(v)
	}
}

// MarshalJSON returns the block as it stands in a session file. A decoded block
// that was not changed has its original bytes; of a changed one the fields that
// nobody knows survive.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Raw == nil {
		return b.encodeNew()
	}
	was := decodeBlock(b.Raw)
	if b.equal(&was) {
		return b.Raw, nil
	}
	return overlay(b.Raw, blockFields(&was), blockFields(&b))
}

func (b *Block) encodeNew() ([]byte, error) {
	var o object
	for _, f := range blockFields(b) {
		o.raw(f.key, f.val)
	}
	return o.bytes()
}

// UnmarshalJSON accepts any object.
func (b *Block) UnmarshalJSON(data []byte) error {
	raw, err := compactJSON(data)
	if err != nil {
		return err
	}
	*b = decodeBlock(raw)
	return nil
}

func (b *Block) equal(c *Block) bool {
	return b.Type == c.Type && b.Text == c.Text && b.Signature == c.Signature && b.Redacted == c.Redacted &&
		b.ID == c.ID && b.Name == c.Name && bytes.Equal(b.Arguments, c.Arguments) &&
		b.Data == c.Data && b.MimeType == c.MimeType
}

// keyed is one field of an object to be written.
type keyed struct {
	key string
	val []byte
}

func blockFields(b *Block) []keyed {
	f := []keyed{{"type", quote(string(b.Type))}}
	text := func(key, s string) { f = append(f, keyed{key, quote(s)}) }
	signature := func(key string) {
		if b.Signature != "" {
			text(key, b.Signature)
		}
	}
	switch b.Type {
	case BlockText:
		text("text", b.Text)
		signature("textSignature")
	case BlockThinking:
		text("thinking", b.Text)
		signature("thinkingSignature")
		if b.Redacted {
			f = append(f, keyed{"redacted", []byte("true")})
		}
	case BlockToolCall:
		text("id", b.ID)
		text("name", b.Name)
		f = append(f, keyed{"arguments", arguments(b.Arguments)})
		signature("thoughtSignature")
	case BlockImage:
		text("data", b.Data)
		text("mimeType", b.MimeType)
	}
	return f
}

func arguments(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("{}")
	}
	return orNull(v)
}

// overlay writes an object again after a change. base are the bytes it came
// from, was and now its known fields before and after. What did not change
// keeps its bytes and its place, unknown fields too; new fields follow.
func overlay(base []byte, was, now []keyed) ([]byte, error) {
	var o object
	done := map[string]bool{}
	for k, v := range fields(base) {
		key := string(k)
		old, known := find(was, key)
		val, present := find(now, key)
		switch {
		case done[key]:
			continue
		case !known && !present, known && present && bytes.Equal(old, val):
			o.raw(key, v)
		case present:
			o.raw(key, val)
		}
		done[key] = true
	}
	for _, f := range now {
		old, known := find(was, f.key)
		if !done[f.key] && !(known && bytes.Equal(old, f.val)) {
			o.raw(f.key, f.val)
		}
	}
	return o.bytes()
}

func find(fs []keyed, key string) ([]byte, bool) {
	for _, f := range fs {
		if f.key == key {
			return f.val, true
		}
	}
	return nil, false
}
