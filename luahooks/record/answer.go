package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// Answer reads the fields of a table that a handler returned, or of a table in that. It
// collects problems and never raises: the first one, with the path of its value, becomes
// the error of the whole answer, and a field that cannot be read has its zero value.
type Answer struct {
	*reading
	t    *lua.LTable
	path string // of t, with a dot at the end
}

// reading is shared by all parts of one answer.
type reading struct {
	from *Converter
	lua  *lua.LState
	err  error
	size luavm.Size
}

// NewAnswer reads t, without a look at keys that nobody asks for.
func (c *Converter) NewAnswer(L *lua.LState, t *lua.LTable) Answer {
	luavm.Materialise(L, t)
	return Answer{&reading{from: c, lua: L}, t, ""}
}

// Fail reports a problem with a field. Only the first problem counts.
func (a Answer) Fail(name, format string, args ...any) {
	at, _, _ := strings.Cut(a.path+name, ".")
	at, _, _ = strings.Cut(at, "[")
	a.FailWith(&FieldError{at, fmt.Errorf("%s: "+format, append([]any{a.path + name}, args...)...)})
}

// FieldError is a problem with a field of a result, whatever of it is wrong.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }

func (e *FieldError) Unwrap() error { return e.Err }

// FailWith is Fail for an error that names its place itself. nil is no problem.
func (a Answer) FailWith(err error) {
	if a.err == nil {
		a.err = err
	}
}

// Failed is the first problem, or nil.
func (a Answer) Failed() error { return a.err }

// Has reports whether a field is given.
func (a Answer) Has(name string) bool { return a.t.RawGetString(name) != lua.LNil }

// field reads a field of one Lua type, which errors call want; given is false for none. A
// table may be looked into.
func field[V lua.LValue](a Answer, name, want string) (v V, given bool) {
	luavm.TableOf(a.lua, a.t.RawGetString(name))
	switch v := a.t.RawGetString(name).(type) {
	case *lua.LNilType:
	case V:
		return v, true
	default:
		a.Fail(name, "expected %s, got %s", want, v.Type())
	}
	return v, false
}

// Text reads a string; "" for none.
func (a Answer) Text(name string) string {
	s, _ := field[lua.LString](a, name, "a string")
	a.count(name, len(s))
	return string(s)
}

// count adds n bytes to the size of the answer; too many are a problem of the field.
func (a Answer) count(name string, n int) {
	if err := a.size.Add(n); err != nil {
		a.Fail(name, "%w", err)
	}
}

// Need reads a string that must be given and not empty.
func (a Answer) Need(name string) string {
	s := a.Text(name)
	switch {
	case s != "":
	case a.Has(name):
		a.Fail(name, "it is empty")
	default:
		a.Fail(name, "it is missing")
	}
	return s
}

// Flag reads a boolean; false for none.
func (a Answer) Flag(name string) bool {
	b, _ := field[lua.LBool](a, name, "a boolean")
	return bool(b)
}

// Number reads a number without its fraction; given is false for none.
func (a Answer) Number(name string) (n int, given bool) {
	v, given := field[lua.LNumber](a, name, "a number")
	return int(v), given
}

// Integer reads an integer; 0 for none.
func (a Answer) Integer(name string) int {
	v, _ := field[lua.LNumber](a, name, "an integer")
	if lua.LNumber(int(v)) != v {
		a.Fail(name, "expected an integer, got %v", v)
		return 0
	}
	return int(v)
}

// Natural reads an integer that is not negative; 0 for none.
func (a Answer) Natural(name string) int {
	n := a.Integer(name)
	if n < 0 {
		a.Fail(name, "expected an integer from 0, got %d", n)
	}
	return n
}

// Data reads a value as JSON; nil for none.
func (a Answer) Data(name string) json.RawMessage {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		return nil
	}
	raw, err := a.from.Encode(v, a.path+name)
	a.FailWith(err)
	a.count(name, len(raw))
	return raw
}

// Record reads a table with no other keys than known; ok is false for none.
func (a Answer) Record(name string, known ...string) (inner Answer, ok bool) {
	t, given := field[*lua.LTable](a, name, "a table")
	if !given {
		return a, false
	}
	return a.Open(t, name, known...), true
}

// Open is Record for a table that is not a field of the answer; name is what errors
// call it.
func (a Answer) Open(t *lua.LTable, name string, known ...string) Answer {
	inner := Answer{a.reading, t, a.path + name + "."}
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if key := k.String(); k.Type() != lua.LTString || !slices.Contains(known, key) {
			inner.Fail(key, "unknown key%s", suggest.Hint(key, known))
		}
	}
	return inner
}

// List calls f for each element of a list, with the name that errors give it. An element that
// is a table may be looked into.
func (a Answer) List(name string, f func(v lua.LValue, name string)) {
	t, given := field[*lua.LTable](a, name, "a list")
	if !given {
		return
	}
	n, err := luavm.ListLen(a.lua, t)
	if err != nil {
		a.Fail(name, "%w", err)
		return
	}
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if i, ok := k.(lua.LNumber); !ok || i < 1 || int(i) > n || lua.LNumber(int(i)) != i {
			a.Fail(name, "expected a list, it has the key %s", k.String())
			return
		}
	}
	for i := 1; i <= n; i++ {
		luavm.TableOf(a.lua, t.RawGetInt(i))
		f(t.RawGetInt(i), fmt.Sprintf("%s[%d]", name, i))
	}
}

// Texts reads a list of strings.
func (a Answer) Texts(name string) []string {
	var list []string
	a.List(name, func(v lua.LValue, at string) {
		s, ok := v.(lua.LString)
		if !ok {
			a.Fail(at, "expected a string, got %s", v.Type())
		}
		a.count(at, len(s))
		list = append(list, string(s))
	})
	return list
}

// Switches reads a table { name = text or false }; false, which removes the named thing,
// is nil in the map. given is false if there is no table.
func (a Answer) Switches(name string) (set map[string]*string, given bool) {
	t, given := field[*lua.LTable](a, name, "a table")
	if !given {
		return nil, false
	}
	set = map[string]*string{}
	t.ForEach(func(k, v lua.LValue) {
		key, ok := k.(lua.LString)
		text, isText := v.(lua.LString)
		switch {
		case !ok:
			a.Fail(name, "expected names as keys, got %s", k.String())
		case isText:
			s := string(text)
			a.count(name, len(s))
			set[string(key)] = &s
		case v == lua.LFalse:
			set[string(key)] = nil
		default:
			a.Fail(name+"."+string(key), "expected a string or false, got %s", v.String())
		}
	})
	return set, true
}

// CustomType reads the type of a custom entry or message.
func (a Answer) CustomType() string {
	kind := a.Need("custom_type")
	if session.ReservedCustom(kind) {
		a.Fail("custom_type", "%q is the program's own", kind)
	}
	return kind
}

// CustomMessage reads {custom_type, content, display?, details?}.
func (a Answer) CustomMessage() *message.Message {
	m := &message.Message{Role: message.RoleCustom, CustomType: a.CustomType(), Display: true, Details: a.Data("details")}
	if a.Has("display") {
		m.Display = a.Flag("display")
	}
	m.Content, m.Plain = a.Content("content")
	return m
}

// Content reads a string (then plain is true) or a list of blocks; it must be given.
func (a Answer) Content(name string) (blocks []message.Block, plain bool) {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		a.Fail(name, "it is missing")
		return nil, false
	}
	blocks, err := a.from.Content(a.lua, v, a.path+name)
	a.FailWith(err)
	a.count(name, SizeOf(blocks...))
	_, plain = v.(lua.LString)
	return blocks, plain
}
