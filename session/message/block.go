package message

import (
	"bytes"
	"encoding/json"

	"pi/session/rawjson"
)

// decodeBlock reads one content block from valid JSON. It never fails: a block
// of a type nobody knows has only its Type and Raw.
func decodeBlock(raw []byte) Block {
	b := Block{Type: BlockType(rawjson.Unquote(rawjson.Field(raw, "type"))), Raw: raw}
	seen := rawjson.KeySet{}
	for k, v := range rawjson.Fields(raw) {
		if seen.First(k) {
			b.setField(string(k), v)
		}
	}
	return b
}

// setField decodes the value of a key of the block's JSON; keys that its type does not
// know stay in Raw.
func (b *Block) setField(key string, v []byte) {
	switch string(b.Type) + "." + key {
	case "text.text", "thinking.thinking":
		b.Text = rawjson.Unquote(v)
	case "text.textSignature", "thinking.thinkingSignature", "toolCall.thoughtSignature":
		b.Signature = rawjson.Unquote(v)
	case "thinking.redacted":
		b.Redacted = string(v) == "true"
	case "toolCall.id":
		b.ID = rawjson.Unquote(v)
	case "toolCall.name":
		b.Name = rawjson.Unquote(v)
	case "toolCall.arguments":
		b.Arguments = v
	case "image.data":
		b.Data = rawjson.Unquote(v)
	case "image.mimeType":
		b.MimeType = rawjson.Unquote(v)
	}
}

// MarshalJSON returns the block as it stands in a session file. A decoded block
// that was not changed has its original bytes; of a changed one the fields that
// nobody knows survive.
func (b Block) MarshalJSON() ([]byte, error) { return b.encode(), nil }

// encode returns the block as it stands in a session file: its original bytes if it was
// decoded and not changed, else its fields, with those of the original that nobody
// knows.
func (b *Block) encode() []byte {
	if b.Raw == nil {
		return blockFields(b).Bytes()
	}
	was := decodeBlock(b.Raw)
	if b.Equal(&was) {
		return b.Raw
	}
	return rawjson.Overlay(b.Raw, blockFields(&was), blockFields(b))
}

// UnmarshalJSON accepts any object.
func (b *Block) UnmarshalJSON(data []byte) error {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return err
	}
	*b = decodeBlock(raw)
	return nil
}

// Equal reports whether two blocks have the same type and the same fields. Raw, and with
// it every field that this package does not know, does not count.
func (b *Block) Equal(c *Block) bool {
	return b.Type == c.Type && b.Text == c.Text && b.Signature == c.Signature && b.Redacted == c.Redacted &&
		b.ID == c.ID && b.Name == c.Name && bytes.Equal(b.Arguments, c.Arguments) &&
		b.Data == c.Data && b.MimeType == c.MimeType
}

// blockFields lists what a block of its type has, in the order of the file.
func blockFields(b *Block) rawjson.Object {
	o := rawjson.Object{}
	o.Text("type", string(b.Type))
	switch b.Type {
	case BlockText:
		o.Text("text", b.Text)
		o.Optional("textSignature", b.Signature)
	case BlockThinking:
		o.Text("thinking", b.Text)
		o.Optional("thinkingSignature", b.Signature)
		if b.Redacted {
			o.Flag("redacted", true)
		}
	case BlockToolCall:
		o.Text("id", b.ID)
		o.Text("name", b.Name)
		o.Put("arguments", arguments(b.Arguments))
		o.Optional("thoughtSignature", b.Signature)
	case BlockImage:
		o.Text("data", b.Data)
		o.Text("mimeType", b.MimeType)
	}
	return o
}

// arguments is the JSON of a call's arguments: an object also where there are none.
func arguments(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("{}")
	}
	return rawjson.OrNull(v)
}
