package openai

import (
	"bytes"
	"encoding/json"

	"pi/agent/provider"
)

// details joins the pieces of a reasoning_details list into the list that the server
// would have sent in one piece, in the same order: consecutive pieces of a type and
// index are one item.
type details struct {
	items    []*detail
	buffered int // bytes of them
	// The bytes around the text or summary of the last piece, and where the text went.
	// As a rule the next piece has the same bytes around it, so only its text is parsed.
	before, after []byte
	grows         *[]byte
}

// detail is one item. Fields that are not known here are kept as they are; the
// texts grow by many small pieces and become JSON at the end.
type detail struct {
	fields        map[string]json.RawMessage
	text, summary []byte
}

// add adds the pieces of one chunk to their items, and returns the thinking text in
// them. Pieces that are no objects are ignored.
func (d *details) add(pieces []json.RawMessage) string {
	all := ""
	for _, raw := range pieces {
		if text, ok := d.addSimilar(raw); ok {
			all += text
			continue
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields == nil {
			continue
		}
		text, summary := textOf(fields["text"]), textOf(fields["summary"])
		all += text + summary
		item := d.open(fields)
		d.buffered += item.merge(fields) + len(text) + len(summary)
		item.text = append(item.text, text...)
		item.summary = append(item.summary, summary...)
		switch {
		case textOf(fields["data"]) != "" || text != "" && summary != "":
			d.before, d.after = nil, nil
		case summary != "":
			d.remember(raw, `"summary":`, summary, &item.summary)
		default:
			d.remember(raw, `"text":`, text, &item.text)
		}
	}
	return all
}

// addSimilar adds a piece to the last item and returns its text, if it differs from the
// piece before in that at most.
func (d *details) addSimilar(raw []byte) (string, bool) {
	if len(d.before) == 0 || len(raw) < len(d.before)+len(d.after) || !bytes.HasPrefix(raw, d.before) || !bytes.HasSuffix(raw, d.after) {
		return "", false
	}
	value := raw[len(d.before) : len(raw)-len(d.after)]
	if end := stringEnd(value); end != len(value) {
		return "", false // the piece differs in more than its text
	}
	text := textOf(value)
	d.buffered += len(text)
	*d.grows = append(*d.grows, text...)
	return text, true
}

// remember stores the bytes before and after the text of a field in a piece, for
// addSimilar to recognise the next one by. grows is the text that the next one
// continues.
func (d *details) remember(raw []byte, field, text string, grows *[]byte) {
	d.before, d.after, d.grows = nil, nil, grows
	at := bytes.Index(raw, []byte(field+`"`))
	if at < 0 {
		return
	}
	at += len(field)
	end := at + stringEnd(raw[at:])
	if textOf(raw[at:end]) == text { // the text is that of the piece itself, not of an object within
		d.before, d.after = bytes.Clone(raw[:at]), bytes.Clone(raw[end:])
	}
}

// stringEnd is the length of the JSON string at the start of b, 0 if there is
// none.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// open returns the item that a piece continues, or a new one.
func (d *details) open(piece map[string]json.RawMessage) *detail {
	if n := len(d.items); n > 0 && d.items[n-1].continues(piece) {
		return d.items[n-1]
	}
	item := &detail{fields: map[string]json.RawMessage{}}
	d.buffered += nameless
	d.items = append(d.items, item)
	return item
}

// textOf is a JSON string decoded; "" for anything else.
func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || unquote(raw, &s) != nil {
		return ""
	}
	return s
}

// continues reports whether a piece belongs to this item: both have the same type and
// index, neither is encrypted data, and their ids, if both have one, are equal.
func (d *detail) continues(p map[string]json.RawMessage) bool {
	id, other := textOf(d.fields["id"]), textOf(p["id"])
	return bytes.Equal(d.fields["type"], p["type"]) && bytes.Equal(d.fields["index"], p["index"]) &&
		textOf(d.fields["data"]) == "" && textOf(p["data"]) == "" &&
		(id == "" || other == "" || id == other)
}

// merge adds the fields that the item lacks, and replaces those that changed. It returns
// by how many bytes the item grew.
func (d *detail) merge(p map[string]json.RawMessage) (grew int) {
	for name, value := range p {
		old, has := d.fields[name]
		if !has || !bytes.Equal(old, value) && name != "text" && name != "summary" && present(value) {
			d.fields[name] = value
			grew += len(name) + max(0, len(value)-len(old))
		}
	}
	return grew
}

// isOpaque reports whether an item contains what only the server can read.
func (d *details) isOpaque() bool {
	for _, item := range d.items {
		if textOf(item.fields["signature"]) != "" || textOf(item.fields["data"]) != "" {
			return true
		}
	}
	return false
}

// String is the list as JSON; "" for an empty one, or if it cannot be encoded.
func (d *details) String() string {
	if len(d.items) == 0 {
		return ""
	}
	var list []map[string]json.RawMessage
	for _, item := range d.items {
		if item.write("text", item.text) != nil || item.write("summary", item.summary) != nil {
			return ""
		}
		list = append(list, item.fields)
	}
	b, err := provider.Encode(list)
	if err != nil {
		return ""
	}
	return string(b)
}

// write puts a text that came in pieces into its field; a field without pieces stays as
// it is.
func (d *detail) write(name string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	encoded, err := provider.Encode(string(text))
	d.fields[name] = encoded
	return err
}
