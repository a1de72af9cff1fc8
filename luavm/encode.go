package luavm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pi/internal/printable"

	lua "github.com/yuin/gopher-lua"
)

const maxJSONDepth = 256

// EncodeJSON converts a Lua value. A table with entries 1..n is an array, one
// with string keys an object, in the order in which its keys were first set;
// an empty one is {} unless it was decoded from [] or marked by MarkList.
// nil and Null are null. Bytes that are not UTF-8 become U+FFFD.
//
// Functions, cycles, NaN, infinities and tables of both shapes are errors that
// name the place: "at .items[2].run: a function cannot be JSON".
func EncodeJSON(L *lua.LState, v lua.LValue, conv JSON) (json.RawMessage, error) {
	return encodeUpTo(maxString, L, v, conv)
}

// encodeUpTo is EncodeJSON for a result of at most limit bytes. Tables that hold
// each other many times make more of it than anybody waits for, so a job that is
// stopped is stopped here too.
func encodeUpTo(limit int, L *lua.LState, v lua.LValue, conv JSON) (json.RawMessage, error) {
	e := encoder{L: L, conv: conv, limit: limit}
	if _, err := e.value(v); err != nil {
		return nil, err
	}
	return e.out, nil
}

type encoder struct {
	L     *lua.LState
	conv  JSON
	limit int
	out   []byte
	path  []step
	room  int // of out, that was asked for
	looks int
}

// step is one table on the way to the value, and the key that was taken.
type step struct {
	table *lua.LTable
	key   string
	index int
}

// errorf makes an error that begins with the place in the value: "at .items[2]: …".
func (e *encoder) errorf(format string, args ...any) error {
	place := ""
	for _, s := range e.path {
		if s.index > 0 {
			place += fmt.Sprintf("[%d]", s.index)
		} else if s.key != "" {
			place += "." + s.key
		}
	}
	if place == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("at %s: %s", place, fmt.Sprintf(format, args...))
}

// value appends v as JSON. pristine is true if v is a table that was decoded from JSON
// and nobody changed since, which lets the table around it keep its bytes. The error may
// also be that the output is too large or that the job was stopped.
func (e *encoder) value(v lua.LValue) (pristine bool, err error) {
	if s, ok := v.(lua.LString); len(e.out) > e.limit || ok && len(e.out)+len(s) > e.limit {
		return false, e.errorf("the JSON is larger than %s", printable.Bytes(e.limit))
	}
	if e.looks++; e.looks%looksApart == 0 {
		if err := halted(e.L); err != nil {
			return false, err
		}
	}
	if err := e.counted(); err != nil {
		return false, err
	}
	switch v := v.(type) {
	case *lua.LNilType, null:
		e.out = append(e.out, "null"...)
	case lua.LBool:
		e.out = strconv.AppendBool(e.out, bool(v))
	case lua.LString:
		return false, e.text(string(v))
	case lua.LNumber:
		return false, e.number(float64(v))
	case *lua.LTable:
		return e.table(v)
	default:
		if t := valueTable(e.L, v); t != nil {
			return e.table(t)
		}
		return false, e.errorf("a %s cannot be JSON", v.Type())
	}
	return false, nil
}

// counted asks for room for the output when it has grown. Half of it was copied then.
func (e *encoder) counted() error {
	c := cap(e.out)
	if c == e.room {
		return nil
	}
	e.room = c
	return room(e.L, 2*c)
}

// textApart is how many bytes of a text are quoted between two looks: they may become
// six times as many.
const textApart = 8 << 10

// text appends a text, piece by piece.
func (e *encoder) text(s string) error {
	e.out = append(e.out, '"')
	for len(s) > textApart {
		n := textApart
		for n > textApart-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		e.out = appendQuoted(e.out, s[:n])
		s = s[n:]
		if len(e.out) > e.limit {
			return e.errorf("the JSON is larger than %s", printable.Bytes(e.limit))
		}
		if err := cmp.Or(halted(e.L), e.counted()); err != nil {
			return err
		}
	}
	e.out = append(appendQuoted(e.out, s), '"')
	return nil
}

// number appends a number; whole ones have no exponent below 1e21.
func (e *encoder) number(n float64) error {
	switch {
	case math.IsNaN(n):
		return e.errorf("not a number (NaN) cannot be JSON")
	case math.IsInf(n, 0):
		return e.errorf("infinity cannot be JSON")
	case n == math.Trunc(n) && math.Abs(n) < 1e21:
		e.out = strconv.AppendFloat(e.out, n+0, 'f', -1, 64)
	default:
		e.out = strconv.AppendFloat(e.out, n, 'g', -1, 64)
	}
	return nil
}

// table appends a table as JSON. One that was decoded but never looked into is appended
// as the bytes that it came from, and so is one that nobody changed: then pristine is
// true.
func (e *encoder) table(t *lua.LTable) (bool, error) {
	if s, ok := markOf(t).(*stub); ok {
		if node, ok := s.ref.(*jsonNode); ok && !e.respells(node.conv.ToLua != nil) {
			if len(e.out)+len(node.raw) > e.limit {
				return false, e.errorf("the JSON is larger than %s", printable.Bytes(e.limit))
			}
			e.out = append(e.out, node.raw...)
			return true, nil
		}
		Materialise(e.L, t)
	}
	if len(e.path) >= maxJSONDepth {
		return false, e.errorf("nested more than %d deep", maxJSONDepth)
	}
	if slices.ContainsFunc(e.path, func(s step) bool { return s.table == t }) {
		return false, e.errorf("the table contains itself")
	}
	e.path = append(e.path, step{table: t})
	pristine, err := e.contents(t)
	e.path = e.path[:len(e.path)-1]
	return pristine, err
}

// respells reports whether keys that were renamed when they were decoded are to be
// written with their Lua names. Then the original bytes cannot be used: the JSON goes
// elsewhere than where it came from.
func (e *encoder) respells(renamed bool) bool { return renamed && e.conv.ToWire == nil }

// contents appends a table as an array or an object. If it was decoded from JSON and
// nothing in it has changed, its original bytes are appended in place of that, and
// pristine is true.
func (e *encoder) contents(t *lua.LTable) (pristine bool, err error) {
	o, _ := markOf(t).(*jsonOrigin)
	if o == nil {
		o = &jsonOrigin{}
	}
	if e.respells(o.renamed) {
		o = &jsonOrigin{array: o.array, fields: slices.Clone(o.fields)}
		for i := range o.fields {
			o.fields[i].wire = nil
		}
	}
	keys, n, err := e.shape(t)
	if err != nil {
		return false, err
	}
	start := len(e.out)
	if n > 0 || keys == nil && o.array {
		pristine, err = e.array(t, n, o)
	} else {
		pristine, err = e.object(t, keys, o)
	}
	if pristine && err == nil && o.raw != nil {
		e.out = append(e.out[:start], o.raw...)
		return true, nil
	}
	return false, err
}

// shape returns the string keys of a table, or its length if it is a list 1..n; an empty
// table has neither. A table of both shapes, a list with gaps or any other key is an
// error.
func (e *encoder) shape(t *lua.LTable) (keys []string, n int, err error) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		switch k := k.(type) {
		case lua.LString:
			keys = append(keys, string(k))
		case lua.LNumber:
			if k != lua.LNumber(n+1) {
				return nil, 0, e.errorf("a list has no entry %d but has an entry %s", n+1, k)
			}
			n++
		default:
			return nil, 0, e.errorf("a %s cannot be a key in JSON", k.Type())
		}
		if n > 0 && len(keys) > 0 {
			return nil, 0, e.errorf("a table has list entries and the key %q", keys[0])
		}
	}
	return keys, n, nil
}

// array appends the list t of n elements as a JSON array. o is what t was decoded from
// (the zero value if it was not): elements that are unchanged are appended with their
// original bytes. pristine is true if all are, and none was added or removed.
func (e *encoder) array(t *lua.LTable, n int, o *jsonOrigin) (pristine bool, err error) {
	pristine = o.array && n == len(o.fields)
	e.out = append(e.out, '[')
	for i := 1; i <= n; i++ {
		if i > 1 {
			e.out = append(e.out, ',')
		}
		var was *jsonField
		if o.array && i <= len(o.fields) {
			was = &o.fields[i-1]
		}
		e.path[len(e.path)-1].index = i
		same, err := e.member(t.RawGetInt(i), was)
		if err != nil {
			return false, err
		}
		pristine = pristine && same
	}
	e.out = append(e.out, ']')
	return pristine, nil
}

// member appends the value v of an array or object. was is the value that stood there
// when the table was decoded, nil if none: if v is unchanged, its original bytes are
// appended and same is true.
func (e *encoder) member(v lua.LValue, was *jsonField) (same bool, err error) {
	if was == nil || v != was.decoded {
		_, err := e.value(v)
		return false, err
	}
	if _, ok := v.(*lua.LTable); ok {
		return e.value(v)
	}
	e.out = append(e.out, was.raw...)
	return true, nil
}

// object appends a table as a JSON object: first the members with which it was decoded
// (o) in their original order, then the other keys. pristine is true if members and
// values are all unchanged.
func (e *encoder) object(t *lua.LTable, keys []string, o *jsonOrigin) (pristine bool, err error) {
	pristine = !o.array
	came := make(map[string]bool, len(o.fields))
	e.out = append(e.out, '{')
	first := true
	for i := range o.fields {
		f := &o.fields[i]
		came[f.key] = true
		v := t.RawGetString(f.key)
		if v == lua.LNil && f.decoded != lua.LNil || o.array {
			pristine = false
			continue
		}
		same, err := e.pair(&first, f.key, f.wire, v, f)
		if err != nil {
			return false, err
		}
		pristine = pristine && same
	}
	for _, k := range keys {
		if came[k] {
			continue
		}
		pristine = false
		if _, err := e.pair(&first, k, nil, t.RawGetString(k), nil); err != nil {
			return false, err
		}
	}
	e.out = append(e.out, '}')
	return pristine, nil
}

// pair appends one member of an object, with a comma before it unless it is the first.
// wire is the key as JSON in its original spelling, or nil. It returns what member
// returns.
func (e *encoder) pair(first *bool, key string, wire []byte, v lua.LValue, was *jsonField) (bool, error) {
	if !*first {
		e.out = append(e.out, ',')
	}
	*first = false
	e.path[len(e.path)-1].key = key
	switch {
	case wire != nil:
		e.out = append(e.out, wire...)
	case e.conv.ToWire != nil:
		e.out = appendString(e.out, e.conv.ToWire(key))
	default:
		e.out = appendString(e.out, key)
	}
	e.out = append(e.out, ':')
	return e.member(v, was)
}

// appendString quotes s. What is no UTF-8 becomes U+FFFD.
func appendString(out []byte, s string) []byte {
	return append(appendQuoted(append(out, '"'), s), '"')
}

// appendQuoted appends what stands between the quotes of a text.
func appendQuoted(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError || strings.HasPrefix(s[i:], "\ufffd") {
			continue
		}
		out = append(out, s[start:i]...)
		start = i + 1
		switch r {
		case '"', '\\':
			out = append(out, '\\', byte(r))
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		case utf8.RuneError: // one byte that is not UTF-8
			out = append(out, "\ufffd"...)
		default:
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	return append(out, s[start:]...)
}
