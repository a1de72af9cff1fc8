package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// string.find, match, gmatch and gsub, with the patterns of pattern.go.

// The compiled patterns that a VM keeps. Hooks use the same few again and again.
const (
	maxPatterns    = 200
	maxKeptPattern = 1 << 10 // bytes
)

type patternKey struct {
	text   string
	anchor bool
}

// patternOf returns a compiled pattern, from those that the VM keeps or newly compiled;
// a wrong one raises.
func patternOf(L *lua.LState, text string, canAnchor bool) *pattern {
	j, key := jobOf(L), patternKey{text, canAnchor}
	if j != nil {
		if p := j.vm.patterns[key]; p != nil {
			return p
		}
	}
	p, err := compilePattern(text, canAnchor)
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
	if j != nil && len(text) <= maxKeptPattern {
		if j.vm.patterns == nil || len(j.vm.patterns) >= maxPatterns {
			j.vm.patterns = map[patternKey]*pattern{}
		}
		j.vm.patterns[key] = p
	}
	return p
}

// startOf returns the index in s at which a search begins, from the n-th argument
// (init), which may be negative or missing.
func startOf(L *lua.LState, n int, s string) int {
	return min(max(placeIn(s, L.OptInt(n, 1))-1, 0), len(s))
}

// stringFind is string.find.
func stringFind(L *lua.LState) int {
	s, what := L.CheckString(1), L.CheckString(2)
	at := startOf(L, 3, s)
	if L.GetTop() > 3 && L.ToBool(4) || !strings.ContainsAny(what, specials) {
		i := strings.Index(s[at:], what)
		return pushPlace(L, at+i, at+i+len(what), i >= 0)
	}
	m := newMatcher(L, patternOf(L, what, true), s)
	from, to := m.find(at)
	m.check()
	n := pushPlace(L, from, to, from >= 0)
	if n > 1 {
		n += m.pushCaptures()
	}
	return n
}

// pushPlace pushes the first and the last position of what was found, counted from 1, or
// nil. It returns how many values it pushed.
func pushPlace(L *lua.LState, from, to int, found bool) int {
	if !found {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(from + 1))
	L.Push(lua.LNumber(to))
	return 2
}

// stringMatch is string.match.
func stringMatch(L *lua.LState) int {
	s := L.CheckString(1)
	m := newMatcher(L, patternOf(L, L.CheckString(2), true), s)
	from, to := m.find(startOf(L, 3, s))
	m.check()
	if from < 0 {
		L.Push(lua.LNil)
		return 1
	}
	return m.pushMatch(from, to)
}

// stringGmatch is string.gmatch: it returns a function that finds the next match at each
// call.
func stringGmatch(L *lua.LState) int {
	s := L.CheckString(1)
	p, at := patternOf(L, L.CheckString(2), false), 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if at > len(s) {
			L.Push(lua.LNil)
			return 1
		}
		m := newMatcher(L, p, s)
		from, to := m.find(at)
		m.check()
		if from < 0 {
			at = len(s) + 1
			L.Push(lua.LNil)
			return 1
		}
		if at = to; from == to {
			at++ // an empty match would be found again
		}
		return m.pushMatch(from, to)
	}))
	return 1
}

// stringGsub is string.gsub.
func stringGsub(L *lua.LState) int {
	s, p := L.CheckString(1), patternOf(L, L.CheckString(2), true)
	r := replacer{L: L, with: L.Get(3), out: stringBuilder{L: L}}
	r.check()
	limit := L.OptInt(4, len(s)+1)
	m := newMatcher(L, p, s)
	at, done, n := 0, 0, 0
	for n < limit && at <= len(s) {
		from, to := m.find(at)
		m.check()
		if from < 0 {
			break
		}
		n++
		r.out.add(s[done:from])
		r.replace(&m, from, to)
		if at, done = to, to; from == to {
			at++
		}
		if p.anchored {
			break
		}
	}
	if n == 0 {
		L.Push(lua.LString(s))
	} else {
		r.out.add(s[done:])
		L.Push(lua.LString(r.out.String()))
	}
	L.Push(lua.LNumber(n))
	return 2
}

// replacer makes what gsub puts in the place of a match.
type replacer struct {
	L    *lua.LState
	with lua.LValue
	out  stringBuilder
}

// check raises if the replacement is of a wrong type.
func (r *replacer) check() {
	switch with := r.with.(type) {
	case lua.LNumber:
		r.with = lua.LString(with.String())
	case lua.LString, *lua.LTable, *lua.LFunction:
	default:
		RaiseArg(r.L, 3, "gsub", "string/function/table expected, got %s", typeName(r.L, 3))
	}
}

// replace appends what replaces a match to out: the replacement text, or what the table
// or function has for it. The match itself stays if that is nil or false.
func (r *replacer) replace(m *matcher, from, to int) {
	var v lua.LValue
	switch with := r.with.(type) {
	case lua.LString:
		r.expand(m, string(with), from, to)
		return
	case *lua.LTable:
		v = r.L.GetTable(with, m.capture(0, from, to))
	case *lua.LFunction:
		r.L.Push(with)
		r.L.Call(m.pushMatch(from, to), 1)
		v = r.L.Get(-1)
		r.L.Pop(1)
	}
	switch {
	case lua.LVIsFalse(v):
		r.out.add(m.text[from:to])
	case lua.LVCanConvToString(v):
		r.out.add(v.String())
	default:
		r.L.RaiseError("invalid replacement value (a %s)", v.Type())
	}
}

// expand appends a replacement text in which %0 is the match, %1 to %9 its captures, and
// % makes any other character stand for itself.
func (r *replacer) expand(m *matcher, with string, from, to int) {
	for {
		plain, rest, escaped := strings.Cut(with, "%")
		r.out.add(plain)
		if !escaped {
			return
		}
		switch {
		case rest == "":
			r.L.RaiseError("%s", "invalid use of '%' in replacement string: it ends with one")
		case rest[0] == '0':
			r.out.add(m.text[from:to])
		case rest[0] >= '1' && rest[0] <= '9':
			r.out.add(m.capture(int(rest[0]-'1'), from, to).String())
		default:
			r.out.add(rest[:1])
		}
		with = rest[1:]
	}
}

// check raises the reason if the job was stopped during the match.
func (m *matcher) check() {
	if m.err != nil {
		m.L.RaiseError("%s", m.err.Error())
	}
}

// capture returns the n-th capture of the match from … to, counted from 0: a text, or a
// number for (). Without captures the first is the whole match; one that does not exist
// raises.
func (m *matcher) capture(n, from, to int) lua.LValue {
	switch {
	case n < len(m.captures) && m.captures[n]:
		return lua.LNumber(m.spans[n].from + 1)
	case n < len(m.captures):
		return lua.LString(m.text[m.spans[n].from:m.spans[n].to])
	case n > 0:
		m.L.RaiseError("invalid capture index %%%d", n+1)
	}
	return lua.LString(m.text[from:to])
}

// pushCaptures pushes all captures and returns how many there are.
func (m *matcher) pushCaptures() int {
	for n := range m.captures {
		m.L.Push(m.capture(n, 0, 0))
	}
	return len(m.captures)
}

// pushMatch pushes the captures, or the whole match if there are none, and returns how
// many values.
func (m *matcher) pushMatch(from, to int) int {
	if len(m.captures) > 0 {
		return m.pushCaptures()
	}
	m.L.Push(lua.LString(m.text[from:to]))
	return 1
}
