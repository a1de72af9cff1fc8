// Package rawjson reads fields of a JSON text without decoding the rest of it, and
// writes objects whose other fields keep their bytes.
//
// Values stay raw: they are slices of the text, which must not be changed. [Fields] and
// [Elements] walk over one object or array, [Field] looks for one key, and [Unquote] and
// [Number] decode a value. They check no more than they
// need; a caller that does not know that a text is JSON asks [Valid] first.
//
// An [Object] is a list of fields to be written, in their order. [Overlay] writes an
// object that was read and changed: fields that did not change keep their bytes and
// their places, and so do fields that nobody here knows.
//
// On valid UTF-8 all answers are those of encoding/json, except that the first of two
// equal keys counts, not the last.
package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Object lists the fields of a JSON object in the order in which they are written.
// The zero value is ready. A key that is put twice is written twice.
type Object []Member

// Member is one field of an [Object].
type Member struct {
	Key   string
	Value []byte // compact JSON
}

// Put adds a field. Its value is compact JSON, and is not copied.
func (o *Object) Put(key string, value []byte) { *o = append(*o, Member{key, value}) }

// Text adds a field that is a string.
func (o *Object) Text(key, s string) { o.Put(key, Quote(s)) }

// Flag adds a field that is true or false.
func (o *Object) Flag(key string, b bool) { o.Put(key, strconv.AppendBool(nil, b)) }

// Int adds a field that is a whole number.
func (o *Object) Int(key string, n int64) { o.Put(key, strconv.AppendInt(nil, n, 10)) }

// Optional adds a field that is a string, unless it is empty.
func (o *Object) Optional(key, s string) {
	if s != "" {
		o.Text(key, s)
	}
}

// Nullable adds a field that is a string, or null if it is empty.
func (o *Object) Nullable(key, s string) {
	if s == "" {
		o.Put(key, []byte("null"))
		return
	}
	o.Text(key, s)
}

// Bytes returns the object as compact JSON.
func (o Object) Bytes() []byte {
	b := []byte{'{'}
	for i, m := range o {
		key := Quote(m.Key)
		b = slices.Grow(b, len(key)+len(m.Value)+len(",:}"))
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), m.Value...)
	}
	return append(b, '}')
}

// find returns the value of the first field with that key; false if there is none.
func (o Object) find(key string) ([]byte, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// Overlay writes a JSON object after a change. base is its original text; was and now
// are its known fields before and after. Fields that did not change, and those that are
// not known, keep their bytes and their places; changed ones get their new value, those
// that now lacks go, and new ones follow at the end.
func Overlay(base []byte, was, now Object) []byte {
	var all Object
	done := map[string]bool{}
	for k, v := range Fields(base) {
		key := string(k)
		old, known := was.find(key)
		value, present := now.find(key)
		switch {
		case done[key]:
			continue
		case !known && !present, known && present && bytes.Equal(old, value):
			all.Put(key, v)
		case present:
			all.Put(key, value)
		}
		done[key] = true
	}
	for _, m := range now {
		old, known := was.find(m.Key)
		if !done[m.Key] && !(known && bytes.Equal(old, m.Value)) {
			all.Put(m.Key, m.Value)
		}
	}
	return all.Bytes()
}

// Encode writes v as JSON as json.Marshal does, with <, > and & as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Quote encodes a string. Bytes that are no valid UTF-8 become U+FFFD.
func Quote(s string) []byte {
	b, _ := Encode(strings.ToValidUTF8(s, "\uFFFD"))
	return b
}

// Compact returns a copy of v without white space between its parts, on one line. It
// fails if v is not valid JSON.
func Compact(v []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(v))
	if err := json.Compact(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// OrNull returns JSON without line breaks, whatever v is, so that it can be part of a line
// of a file: v compacted, null if v is empty, and a string of its text if v is no JSON.
func OrNull(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("null")
	}
	b, err := Compact(v)
	if err != nil {
		return Quote(string(v))
	}
	return b
}
