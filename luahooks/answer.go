package luahooks

import (
	"encoding/json"
	"fmt"

	"pi/internal/suggest"
	"pi/luavm"
	"pi/session"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// answer reads a table that a handler returned, or one in it. What is wrong is
// said with the path of the value; the first of it is the error of the whole.
type answer struct {
	from *converter
	L    *lua.LState
	t    *lua.LTable
	path string
	err  *error
	size *handed // of the whole answer
}

// newAnswer reads a result, whose keys are known to be right.
func (c *converter) newAnswer(L *lua.LState, t *lua.LTable) answer {
	return answer{c, L, t, "", new(error), new(handed)}
}

func (a answer) fail(name, format string, args ...any) {
	if *a.err == nil {
		*a.err = fmt.Errorf("%s: "+format, append([]any{a.path + name}, args...)...)
	}
}

func (a answer) failed() error { return *a.err }

// has reports whether a field is given.
func (a answer) has(name string) bool { return a.t.RawGetString(name) != lua.LNil }

// text reads a string; "" for none.
func (a answer) text(name string) string {
	switch v := a.t.RawGetString(name).(type) {
	case *lua.LNilType:
	case lua.LString:
		a.count(name, len(v))
		return string(v)
	default:
		a.fail(name, "expected a string, got %s", v.Type())
	}
	return ""
}

// count adds to the size of the answer what was read of it.
func (a answer) count(name string, n int) {
	if err := a.size.add(n); err != nil {
		a.fail(name, "%w", err)
	}
}

// need reads a string that must be there and say something.
func (a answer) need(name string) string {
	s := a.text(name)
	switch {
	case s != "":
	case a.has(name):
		a.fail(name, "it is empty")
	default:
		a.fail(name, "it is missing")
	}
	return s
}

// flag reads a boolean; false for none.
func (a answer) flag(name string) bool {
	b, err := optionalBool(a.t, name)
	if err != nil {
		a.fail(name, "expected a boolean, got %s", a.t.RawGetString(name).Type())
	}
	return b
}

// integer reads one; 0 for none.
func (a answer) integer(name string) int {
	switch v := a.t.RawGetString(name).(type) {
	case *lua.LNilType:
	case lua.LNumber:
		if n := int(v); lua.LNumber(n) == v {
			return n
		}
		a.fail(name, "expected an integer, got %v", v)
	default:
		a.fail(name, "expected an integer, got %s", v.Type())
	}
	return 0
}

// natural reads an integer that is not negative; 0 for none.
func (a answer) natural(name string) int {
	n := a.integer(name)
	if n < 0 {
		a.fail(name, "expected an integer from 0, got %d", n)
	}
	return n
}

// data reads what JSON can hold; nil for none.
func (a answer) data(name string) json.RawMessage {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		return nil
	}
	raw, err := a.from.encode(v, a.path+name)
	if err != nil && *a.err == nil {
		*a.err = err
	}
	a.count(name, len(raw))
	return raw
}

// record reads a table with no other keys than known; ok is false for none.
func (a answer) record(name string, known ...string) (inner answer, ok bool) {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		return a, false
	}
	return a.open(v, name, known...)
}

// open is record for a value that is no field.
func (a answer) open(v lua.LValue, name string, known ...string) (inner answer, ok bool) {
	t, isTable := v.(*lua.LTable)
	if !isTable {
		a.fail(name, "expected a table, got %s", v.Type())
		return a, false
	}
	luavm.Materialise(a.L, t)
	inner = answer{a.from, a.L, t, a.path + name + ".", a.err, a.size}
	inner.rejectUnknown(known)
	return inner, true
}

func (a answer) rejectUnknown(known []string) {
	for k, _ := a.t.Next(lua.LNil); k != lua.LNil; k, _ = a.t.Next(k) {
		name := k.String()
		if k.Type() == lua.LTString && knows(known, name) {
			continue
		}
		a.fail(name, "unknown key%s", suggest.Hint(name, known))
	}
}

func knows(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// list calls f for the elements of a list, with what to call them; given is
// false for none.
func (a answer) list(name string, f func(v lua.LValue, name string)) (given bool) {
	v := a.t.RawGetString(name)
	t, isTable := v.(*lua.LTable)
	switch {
	case v == lua.LNil:
		return false
	case !isTable:
		a.fail(name, "expected a list, got %s", v.Type())
		return false
	}
	luavm.Materialise(a.L, t)
	n, err := listed(t)
	if err != nil {
		a.fail(name, "%w", err)
		return false
	}
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if i, ok := k.(lua.LNumber); !ok || i < 1 || int(i) > n || lua.LNumber(int(i)) != i {
			a.fail(name, "expected a list, it has the key %s", k.String())
			return false
		}
	}
	for i := 1; i <= n; i++ {
		f(t.RawGetInt(i), fmt.Sprintf("%s[%d]", name, i))
	}
	return true
}

// texts reads a list of strings.
func (a answer) texts(name string) []string {
	var list []string
	a.list(name, func(v lua.LValue, at string) {
		s, ok := v.(lua.LString)
		if !ok {
			a.fail(at, "expected a string, got %s", v.Type())
		}
		a.count(at, len(s))
		list = append(list, string(s))
	})
	return list
}

// switches reads a table of names whose values are texts, or false (nil here) to
// take the named thing away; given is false for none.
func (a answer) switches(name string) (set map[string]*string, given bool) {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		return nil, false
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		a.fail(name, "expected a table, got %s", v.Type())
		return nil, false
	}
	luavm.Materialise(a.L, t)
	set = map[string]*string{}
	t.ForEach(func(k, v lua.LValue) {
		key, ok := k.(lua.LString)
		text, isText := v.(lua.LString)
		switch {
		case !ok:
			a.fail(name, "expected names as keys, got %s", k.String())
		case isText:
			s := string(text)
			a.count(name, len(s))
			set[string(key)] = &s
		case v == lua.LFalse:
			set[string(key)] = nil
		default:
			a.fail(name+"."+string(key), "expected a string or false, got %s", v.String())
		}
	})
	return set, true
}

func (a answer) customType() string {
	kind := a.need("custom_type")
	if kind == session.LeafMove {
		a.fail("custom_type", "%q is the program's own", kind)
	}
	return kind
}

// customMessage reads {custom_type, content, display?, details?}.
func (a answer) customMessage() *message.Message {
	m := &message.Message{Role: message.RoleCustom, CustomType: a.customType(), Display: true, Details: a.data("details")}
	if a.has("display") {
		m.Display = a.flag("display")
	}
	m.Content, m.Plain = a.content("content")
	return m
}

// content reads a string or a list of blocks.
func (a answer) content(name string) (blocks []message.Block, plain bool) {
	v := a.t.RawGetString(name)
	if v == lua.LNil {
		a.fail(name, "it is missing")
		return nil, false
	}
	blocks, err := a.from.content(a.L, v, a.path+name)
	if err != nil && *a.err == nil {
		*a.err = err
	}
	a.count(name, sizeOf(blocks...))
	_, plain = v.(lua.LString)
	return blocks, plain
}
