package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
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
	if !rawjson.MayHaveSurrogate(raw) || !json.Valid(raw) {
		return raw
	}
	return rawjson.ReplaceSurrogates(raw)
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

// Schema returns the parameters of a tool as servers want them: an object schema that
// names its type and its properties. Those that are missing are added in front.
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
