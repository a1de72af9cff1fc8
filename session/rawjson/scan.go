package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// The scanner finds the parts of a JSON text without decoding them. It trusts
// nothing about its input but checks no more than it needs: on a valid text its
// answers are those of encoding/json, on a broken one it ends early or returns
// pieces that json.Valid refuses. Of a key that stands twice the first counts.
type scanner struct {
	b []byte
	i int
}

// space consumes white space.
func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// byte skips white space and consumes c; false, if something else stands there.
func (s *scanner) byte(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// str consumes a string and returns it with its quotes.
func (s *scanner) str() ([]byte, bool) {
	start := s.i
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, false
	}
	for s.i++; ; s.i++ {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			s.i = len(s.b)
			return nil, false
		}
		s.i += n
		back := s.i
		for s.b[back-1] == '\\' && back-1 > start {
			back--
		}
		if (s.i-back)%2 == 0 {
			s.i++
			return s.b[start:s.i], true
		}
	}
}

// value consumes any value and returns its bytes.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	if s.i >= len(s.b) {
		return nil, false
	}
	start := s.i
	switch s.b[s.i] {
	case '"':
		return s.str()
	case '{', '[':
		return s.nest()
	}
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ',', '}', ']', ':', ' ', '\t', '\r', '\n':
			return s.b[start:s.i], s.i > start
		}
		s.i++
	}
	return s.b[start:], true
}

// nest consumes an object or an array and returns its bytes.
func (s *scanner) nest() ([]byte, bool) {
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			if _, ok := s.str(); !ok {
				return nil, false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return s.b[start:s.i], true
			}
		}
		s.i++
	}
	return nil, false
}

// Fields yields the keys, without quotes, and the raw values of a JSON object.
// On a broken object it ends early.
func Fields(obj []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		s := scanner{b: obj}
		if !s.byte('{') || s.byte('}') {
			return
		}
		for {
			s.space()
			key, ok := s.str()
			if !ok || !s.byte(':') {
				return
			}
			val, ok := s.value()
			if !ok {
				return
			}
			name := key[1 : len(key)-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name = []byte(Unquote(key))
			}
			if !yield(name, val) || !s.byte(',') {
				return
			}
		}
	}
}

// Elements yields the raw values of a JSON array.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := scanner{b: arr}
		if !s.byte('[') || s.byte(']') {
			return
		}
		for {
			v, ok := s.value()
			if !ok || !yield(v) || !s.byte(',') {
				return
			}
		}
	}
}

// Field returns the raw value of a key, or nil if the object does not have it.
func Field(obj []byte, key string) []byte {
	for k, v := range Fields(obj) {
		if string(k) == key {
			return v
		}
	}
	return nil
}

// IsString reports whether a raw value is a string.
func IsString(v []byte) bool { return len(v) >= 2 && v[0] == '"' }

// Unquote decodes a raw string; anything else gives "". The result is valid
// UTF-8: other bytes become U+FFFD, as do unpaired surrogates.
func Unquote(v []byte) string {
	if !IsString(v) {
		return ""
	}
	in := v[1 : len(v)-1]
	if !utf8.Valid(in) {
		var s string
		if json.Unmarshal(v, &s) != nil {
			return ""
		}
		return s
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return string(in)
	}
	return unescape(in)
}

// unescape decodes the escapes in a string without its quotes. A broken escape gives "";
// what was checked when the line was read is not checked again, because this is most of
// the time of decoding a long session.
func unescape(in []byte) string {
	out := make([]byte, 0, len(in))
	for {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			return string(append(out, in...))
		}
		out, in = append(out, in[:n]...), in[n:]
		if c, ok := plainEscape(in); ok {
			out, in = append(out, c), in[2:]
			continue
		}
		first, ok := unicodeEscape(in)
		if !ok {
			return ""
		}
		r := rune(first)
		in = in[6:]
		if utf16.IsSurrogate(r) {
			second, _ := unicodeEscape(in)
			if r = utf16.DecodeRune(r, rune(second)); r != utf8.RuneError {
				in = in[6:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
}

// plainEscape decodes an escape of one character that in begins with; false for any other.
func plainEscape(in []byte) (byte, bool) {
	if len(in) < 2 {
		return 0, false
	}
	switch c := in[1]; c {
	case '"', '\\', '/':
		return c, true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

// KeySet tells the first of several equal keys of one object from the rest, as long
// as there are not more than 16 different ones. The zero value is ready.
type KeySet struct {
	keys [16][]byte
	n    int
}

// First reports whether the set sees the key for the first time. The key must not be
// changed afterwards.
func (s *KeySet) First(key []byte) bool {
	for _, k := range s.keys[:s.n] {
		if bytes.Equal(k, key) {
			return false
		}
	}
	if s.n < len(s.keys) {
		s.keys[s.n] = key
		s.n++
	}
	return true
}

// Number decodes a raw number; anything else gives 0.
func Number(v []byte) float64 {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0
	}
	return f
}

// MayHaveSurrogate reports whether JSON text has the escape of a surrogate, or what
// looks like one. Text without any needs no [ReplaceSurrogates].
func MayHaveSurrogate(v []byte) bool {
	return bytes.Contains(v, []byte(`\ud`)) || bytes.Contains(v, []byte(`\uD`))
}

// ReplaceSurrogates returns a copy of valid JSON in which the escapes of unpaired
// surrogates are those of U+FFFD.
func ReplaceSurrogates(v []byte) []byte {
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); {
		if v[i] != '\\' {
			out = append(out, v[i])
			i++
			continue
		}
		n, broken := escapeAt(v[i:])
		if broken {
			out = append(out, `\ufffd`...)
		} else {
			out = append(out, v[i:i+n]...)
		}
		i += n
	}
	return out
}

// escapeAt returns the length of the escape that v begins with, or of both escapes of a
// surrogate pair. broken is true for a surrogate that is not part of a pair.
func escapeAt(v []byte) (n int, broken bool) {
	first, ok := unicodeEscape(v)
	if !ok {
		return 2, false
	}
	if first < 0xd800 || first > 0xdfff {
		return 6, false
	}
	second, ok := unicodeEscape(v[6:])
	if first < 0xdc00 && ok && second >= 0xdc00 && second <= 0xdfff {
		return 12, false
	}
	return 6, true
}

// unicodeEscape decodes the escape of a UTF-16 unit that v begins with; false for
// anything else.
func unicodeEscape(v []byte) (uint64, bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v[2:6]), 16, 32)
	return n, err == nil
}
