package record

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
)

// line is an object that is being written, in the order of its fields. Its memory can be
// used again.
type line []byte

// begin empties l and begins a record of a type.
func (l line) begin(kind string) line { return append(append(l[:0], `{"type":"`...), kind+`"`...) }

// end closes the object.
func (l line) end() line { return append(l, '}') }

// key writes a key, which needs no escapes.
func (l line) key(key string) line {
	if len(l) > 0 && l[len(l)-1] != '{' {
		l = append(l, ',')
	}
	return append(append(append(l, '"'), key...), `":`...)
}

// text writes a field that is a string.
func (l line) text(key, s string) line { return appendQuoted(l.key(key), s) }

// optional writes a field that is a string, unless it is empty.
func (l line) optional(key, s string) line {
	if s == "" {
		return l
	}
	return l.text(key, s)
}

// flag writes a field that is true or false.
func (l line) flag(key string, b bool) line { return strconv.AppendBool(l.key(key), b) }

// number writes a field that is a whole number.
func (l line) number(key string, n int64) line { return strconv.AppendInt(l.key(key), n, 10) }

// raw writes a field whose value is clean JSON on one line.
func (l line) raw(key string, value []byte) line { return append(l.key(key), value...) }

// foreign writes a field whose value came from elsewhere, see clean; nil is not written.
func (l line) foreign(key string, value json.RawMessage) line {
	if len(value) == 0 {
		return l
	}
	return l.raw(key, clean(rawjson.OrNull(value)))
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes a string. Bytes that are no valid UTF-8 become U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0xE2 {
			continue
		}
		if c == 0xE2 && !isSeparator(s[i:]) {
			continue
		}
		b = append(b, s[from:i]...)
		if c == 0xE2 {
			b = append(append(b, `\u202`...), hexDigits[s[i+2]&0xF])
			i += 2
		} else {
			b = appendEscape(b, c)
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// isSeparator reports whether s begins with U+2028 or U+2029.
func isSeparator(s string) bool {
	return len(s) >= 3 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9)
}

// appendEscape writes a character of a string that cannot stand there as it is.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
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
