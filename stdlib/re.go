package stdlib

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// maxPatterns is how many compiled patterns a VM keeps.
const maxPatterns = 100

// openRe makes pi.re: regular expressions in RE2 syntax, whose time grows with
// the text only, whatever the pattern.
//
//	match(text, pattern) → match?           the first
//	find_all(text, pattern, {max}?) → {match, …}
//	test(text, pattern) → boolean
//	replace(text, pattern, replacement, {max}?) → text, count
//	split(text, pattern, {max}?) → {piece, …}
//	escape(text) → pattern                   that matches just this text
//	check(pattern) → true, or nil and what is wrong with it
//
// A match has text, first and last (as of string.find), the groups as 1, 2, …
// (false where a group took no part) and groups by name in named. The
// replacement is a text with $1, ${name} and $$, or a function that is given the
// match and returns a text, or nil to leave it.
//
// A pattern that is not one raises; check is for patterns of others.
func openRe(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "re")
	var c patterns
	m.fn("match", func(L *lua.LState, text, pattern string) (lua.LValue, error) {
		re, err := c.compile(pattern)
		if err != nil {
			return nil, err
		}
		at := re.FindStringSubmatchIndex(text)
		if at == nil {
			return lua.LNil, nil
		}
		return matchTable(L, re, text, at), nil
	})
	m.fn("test", func(text, pattern string) (bool, error) {
		re, err := c.compile(pattern)
		return err == nil && re.MatchString(text), err
	})
	m.fn("find_all", func(L *lua.LState, text, pattern string, opts lua.LValue) (lua.LValue, error) {
		limit := maxOption(L, 3, "re.find_all")
		re, err := c.compile(pattern)
		if err != nil {
			return nil, err
		}
		all := matches(L, re, text, limit, "re.find_all")
		return list(L, len(all), func(i int) lua.LValue {
			luavm.Building(L, matchSize+len(all[i])*listSlot)
			return matchTable(L, re, text, all[i])
		}), nil
	})
	m.fn("replace", func(L *lua.LState, text, pattern string, with, opts lua.LValue) (string, int, error) {
		limit := maxOption(L, 4, "re.replace")
		re, err := c.compile(pattern)
		if err != nil {
			return "", 0, err
		}
		s, n := replace(L, re, text, replacement(L, re, with), limit)
		return s, n, nil
	})
	m.fn("split", func(L *lua.LState, text, pattern string, opts lua.LValue) (lua.LValue, error) {
		limit := maxOption(L, 3, "re.split")
		re, err := c.compile(pattern)
		if err != nil {
			return nil, err
		}
		if limit == 0 {
			return stringList(L, nil), nil
		}
		luavm.Building(L, listSlot*len(matches(L, re, text, limit, "re.split")))
		return stringList(L, re.Split(text, limit)), nil
	})
	m.fn("escape", regexp.QuoteMeta)
	m.fn("check", func(pattern string) error {
		_, err := compilePattern(pattern)
		return err
	})
	return m.table()
}

// maxOption reads {max} from argument n; -1, no limit, if it is not given or negative.
func maxOption(L *lua.LState, n int, function string) int {
	limit := -1
	luavm.Unpack(L, n, function, luavm.Opt("max", &limit))
	return max(limit, -1)
}

// maxFound is how many matches one call may find: each costs far more than its
// text.
const maxFound = 1_000_000

// matchesApart is how many matches are looked for at first.
const matchesApart = 1 << 12

// matchSize is about what the tables of a match take without its groups, in bytes.
const matchSize = 512

// matches returns the indices of all matches, or of the first limit of them if that is
// not negative. More than a million raise.
func matches(L *lua.LState, re *regexp.Regexp, text string, limit int, function string) [][]int {
	n := limit
	if n < 0 || n > maxFound {
		n = maxFound + 1
	}
	var all [][]int
	// Where there are many it is looked again for twice as many: in between is looked whether
	// the job may hold them.
	for most := min(n, matchesApart); ; most = min(n, 2*most) {
		luavm.Building(L, 0)
		all = re.FindAllStringSubmatchIndex(text, most)
		if len(all) < most || most == n {
			break
		}
		luavm.Building(L, 2*most*(3+2*(1+re.NumSubexp()))*8)
	}
	if len(all) > maxFound {
		luavm.Raise(L, "%s: more than %d matches; option max bounds them", function, maxFound)
	}
	return all
}

// matchTable returns a match as the table that pi.re gives to Lua; at is what
// FindStringSubmatchIndex returned for it.
func matchTable(L *lua.LState, re *regexp.Regexp, text string, at []int) *lua.LTable {
	t, named := L.CreateTable(len(at)/2-1, 4), L.NewTable()
	names := re.SubexpNames()
	for i := 1; i < len(at)/2; i++ {
		group := lua.LValue(lua.LFalse)
		if at[2*i] >= 0 {
			group = lua.LString(text[at[2*i]:at[2*i+1]])
		}
		t.RawSetInt(i, group)
		if names[i] != "" {
			luavm.Set(named, names[i], group)
		}
	}
	luavm.Set(t, "text", lua.LString(text[at[0]:at[1]]))
	luavm.Set(t, "first", lua.LNumber(at[0]+1))
	luavm.Set(t, "last", lua.LNumber(at[1]))
	luavm.Set(t, "named", named)
	return t
}

// replacement returns a function that returns what replaces a match, false if the match
// stays. with is a text with $1, or a Lua function; anything else raises.
func replacement(L *lua.LState, re *regexp.Regexp, with lua.LValue) func(text string, at []int) (string, bool) {
	switch with := with.(type) {
	case lua.LString:
		groups := strings.Count(string(with), "$")
		return func(text string, at []int) (string, bool) {
			if len(with)+groups*(at[1]-at[0]) > maxText {
				luavm.Raise(L, "re.replace: the result is larger than %s", printable.Bytes(maxText))
			}
			return string(re.ExpandString(nil, string(with), text, at)), true
		}
	case *lua.LFunction:
		return func(text string, at []int) (string, bool) {
			v := call(L, with, matchTable(L, re, text, at))
			if !lua.LVAsBool(v) {
				return "", false
			}
			if !lua.LVCanConvToString(v) {
				luavm.Raise(L, "re.replace: the function must return a string or nil, not a %s", v.Type())
			}
			return v.String(), true
		}
	}
	luavm.RaiseArg(L, 3, "re.replace", "string or function expected, got %s", with.Type())
	return nil
}

// replace returns text with its matches replaced by what with returns, and how many
// were. limit bounds the matches that are looked at if it is not negative.
func replace(L *lua.LState, re *regexp.Regexp, text string, with func(string, []int) (string, bool), limit int) (string, int) {
	var b strings.Builder
	end, n := 0, 0
	for _, at := range matches(L, re, text, limit, "re.replace") {
		s, ok := with(text, at)
		if !ok {
			s = text[at[0]:at[1]]
		} else {
			n++
		}
		luavm.Building(L, 3*(len(s)+at[0]-end)) // made, and copied when the text grows
		b.WriteString(text[end:at[0]])
		if b.Len()+len(s) > maxText {
			luavm.Raise(L, "re.replace: the result is larger than %s", printable.Bytes(maxText))
		}
		b.WriteString(s)
		end = at[1]
	}
	b.WriteString(text[end:])
	return b.String(), n
}

// patterns keeps the compiled patterns that were used last, the latest at the end.
// It belongs to the jobs of one VM.
type patterns struct{ used []*regexp.Regexp }

// compile returns the compiled pattern, from those that are kept or newly compiled. A
// pattern that is not one is misuse.
func (c *patterns) compile(pattern string) (*regexp.Regexp, error) {
	if i := slices.IndexFunc(c.used, func(re *regexp.Regexp) bool { return re.String() == pattern }); i >= 0 {
		re := c.used[i]
		c.used = append(slices.Delete(c.used, i, i+1), re)
		return re, nil
	}
	re, err := compilePattern(pattern)
	if err != nil {
		return nil, luavm.Misusef("%v", err)
	}
	if len(c.used) == maxPatterns {
		c.used = slices.Delete(c.used, 0, 1)
	}
	c.used = append(c.used, re)
	return re, nil
}

// maxPattern is how long a pattern may be, in bytes: what it is compiled to is a hundred times
// as large.
const maxPattern = 64 << 10

// compilePattern compiles a pattern, if it is not too long for that.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %s; take several", printable.Bytes(maxPattern))
	}
	return regexp.Compile(pattern)
}
