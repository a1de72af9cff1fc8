package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"pi/session/rawjson"
)

// line is an object that is being written, in the order of its fields.
type line []byte

// begin begins a record of a type.
func begin(kind string) line { return line(`{"type":"` + kind + `"`) }

// end closes the object.
func (l line) end() json.RawMessage { return json.RawMessage(append(l, '}')) }

// key writes a key, which needs no escapes.
func (l line) key(key string) line {
	if l[len(l)-1] != '{' {
		l = append(l, ',')
	}
	return append(append(append(l, '"'), key...), `":`...)
}

// text writes a field that is a string. Bytes that are no valid UTF-8 become U+FFFD.
func (l line) text(key, s string) line { return append(l.key(key), rawjson.Quote(s)...) }

// optional writes a field that is a string, unless it is empty.
func (l line) optional(key, s string) line {
	if s == "" {
		return l
	}
	return l.text(key, s)
}

// texts writes a field that is a list of strings.
func (l line) texts(key string, all []string) line {
	l = append(l.key(key), '[')
	for i, s := range all {
		if i > 0 {
			l = append(l, ',')
		}
		l = append(l, rawjson.Quote(s)...)
	}
	return append(l, ']')
}

// flag writes a field that is true or false.
func (l line) flag(key string, b bool) line { return strconv.AppendBool(l.key(key), b) }

// number writes a field that is a whole number.
func (l line) number(key string, n int) line { return strconv.AppendInt(l.key(key), int64(n), 10) }

// raw writes a field whose value is clean JSON on one line.
func (l line) raw(key string, value []byte) line { return append(l.key(key), value...) }

// foreign writes a field whose value came from elsewhere, see clean; nil is not written.
func (l line) foreign(key string, value json.RawMessage) line {
	if len(value) == 0 {
		return l
	}
	return l.raw(key, clean(rawjson.OrNull(value)))
}

// clean returns compact JSON as it may stand in a record: in valid UTF-8, without unpaired
// surrogates and raw separators. Usually that is v itself.
func clean(v []byte) []byte {
	if !utf8.Valid(v) {
		v = bytes.ToValidUTF8(v, []byte("\uFFFD"))
	}
	if rawjson.MayHaveSurrogate(v) {
		v = rawjson.ReplaceSurrogates(v)
	}
	if bytes.Contains(v, []byte("\xe2\x80")) {
		v = bytes.ReplaceAll(v, []byte("\u2028"), []byte(`\u2028`))
		v = bytes.ReplaceAll(v, []byte("\u2029"), []byte(`\u2029`))
	}
	return v
}
