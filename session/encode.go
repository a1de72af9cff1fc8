package session

import (
	"bytes"
	"encoding/json"
	"strings"
)

// encode is json.Marshal without HTML escaping.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// quote encodes a string; strings never fail to encode.
func quote(s string) []byte {
	b, _ := encode(strings.ToValidUTF8(s, "\uFFFD"))
	return b
}

// compactJSON returns v on one line. A valid text that is compact already is
// returned as it is.
func compactJSON(v []byte) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(len(v))
	if err := json.Compact(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// orNull keeps a raw value that may be absent or broken from breaking a line:
// text that is no JSON is kept as a string.
func orNull(v json.RawMessage) []byte {
	if len(bytes.TrimSpace(v)) == 0 {
		return []byte("null")
	}
	b, err := compactJSON(v)
	if err != nil {
		return quote(string(v))
	}
	return b
}
