package session

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"pi/session/rawjson"
)

// arena makes entries and their short strings in blocks: one by one they would cost a
// large file more than reading it, and be most of the garbage of loading. The zero
// value is ready.
type arena struct {
	entries []Entry
	text    *strings.Builder
	types   map[string]string // names of entry types, by their JSON
}

// blockOfText is how much room short strings share.
const blockOfText = 4 << 10

// entry returns a zeroed entry out of the current block, and makes a new block if it is
// used up.
func (a *arena) entry() *Entry {
	if len(a.entries) == 0 {
		a.entries = make([]Entry, 256)
	}
	e := &a.entries[0]
	a.entries = a.entries[1:]
	return e
}

// unquote returns what [rawjson.Unquote] does. Strings of up to 64 bytes share their
// memory.
func (a *arena) unquote(quoted []byte) string {
	if !rawjson.IsString(quoted) || len(quoted) > 64 || bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
		return rawjson.Unquote(quoted)
	}
	in := quoted[1 : len(quoted)-1]
	if a.text == nil || a.text.Cap()-a.text.Len() < len(in) {
		a.text = &strings.Builder{}
		a.text.Grow(blockOfText)
	}
	start := a.text.Len()
	a.text.Write(in)
	return a.text.String()[start:]
}

// typeName is unquote for names of entry types: equal ones are made once.
func (a *arena) typeName(quoted []byte) string {
	if name, ok := a.types[string(quoted)]; ok {
		return name
	}
	if a.types == nil {
		a.types = map[string]string{}
	}
	name := rawjson.Unquote(quoted)
	a.types[string(quoted)] = name
	return name
}
