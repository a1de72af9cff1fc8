package session

import (
	"bytes"
	"encoding/json"
)

// decodeBlock reads one content block from valid JSON. It never fails: a block
// of a type nobody knows has only its Type and Raw.
func decodeBlock(raw []byte) Block {
	b := Block{Type: BlockType(unquote(field(raw, "type"))), Raw: raw}
	seen := keySet{}
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
func (b Block) MarshalJSON() ([]byte, error) { return b.encode(), nil }

func (b *Block) encode() []byte {
	if b.Raw == nil {
		return blockFields(b).bytes()
	}
	was := decodeBlock(b.Raw)
	if b.equal(&was) {
		return b.Raw
	}
	return overlay(b.Raw, blockFields(&was), blockFields(b))
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

func blockFields(b *Block) object {
	o := object{}
	o.text("type", string(b.Type))
	switch b.Type {
	case BlockText:
		o.text("text", b.Text)
		o.optional("textSignature", b.Signature)
	case BlockThinking:
		o.text("thinking", b.Text)
		o.optional("thinkingSignature", b.Signature)
		if b.Redacted {
			o.flag("redacted", true)
		}
	case BlockToolCall:
		o.text("id", b.ID)
		o.text("name", b.Name)
		o.put("arguments", arguments(b.Arguments))
		o.optional("thoughtSignature", b.Signature)
	case BlockImage:
		o.text("data", b.Data)
		o.text("mimeType", b.MimeType)
	}
	return o
}

func arguments(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("{}")
	}
	return orNull(v)
}
