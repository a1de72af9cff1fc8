package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
)

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
