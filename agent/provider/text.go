package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CleanText replaces what is not UTF-8. All of a session goes through it with
// each request, and to look whether there is anything to replace is ten times
// faster.
func CleanText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// CleanJSON replaces what is not UTF-8 in a JSON text, and escapes that are half
// of a surrogate pair; servers refuse the whole request for either.
func CleanJSON(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := 1
		if raw[i] == '\\' {
			n = escapeLen(raw[i:])
		}
		if n == 6 && utf16.IsSurrogate(escaped(raw[i:])) {
			out = append(out, `\ufffd`...)
		} else {
			out = append(out, raw[i:i+n]...)
		}
		i += n
	}
	return out
}

// escapeLen is the length of the escape at the start of b; a valid pair of
// surrogates counts as one escape of 12 bytes.
func escapeLen(b []byte) int {
	switch {
	case len(b) < 2:
		return 1
	case b[1] != 'u' || len(b) < 6:
		return 2
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' && utf16.DecodeRune(escaped(b), escaped(b[6:])) != utf8.RuneError {
		return 12
	}
	return 6
}

func escaped(b []byte) rune {
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// Readable reports whether JSON was decoded as far as possible: a field of an
// unexpected type is left empty and spoils nothing else.
func Readable(err error) bool {
	if err == nil {
		return true
	}
	var mismatch *json.UnmarshalTypeError
	return errors.As(err, &mismatch)
}

// Object returns raw cleaned if it is a JSON object, and {} otherwise.
func Object(raw json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(trimmed) {
		return json.RawMessage(`{}`)
	}
	return CleanJSON(trimmed)
}

// Schema returns the parameters of a tool as servers want them: an object schema
// that names its type and its properties.
func Schema(parameters json.RawMessage) json.RawMessage {
	var s struct {
		Type       json.RawMessage `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	object := Object(parameters)
	if json.Unmarshal(object, &s) != nil {
		return object
	}
	var missing string
	if s.Type == nil {
		missing += `"type":"object",`
	}
	if s.Properties == nil {
		missing += `"properties":{},`
	}
	if missing == "" {
		return object
	}
	rest := bytes.TrimSpace(object[1:])
	if rest[0] == '}' {
		missing = strings.TrimSuffix(missing, ",")
	}
	return append([]byte("{"+missing), rest...)
}
