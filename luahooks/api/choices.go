package api

import (
	"slices"
	"strconv"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// choices are what the person can choose in ctx.ui.select. The program knows each by its
// number, from 1; values has what it stands for in Lua.
type choices struct {
	list   []agent.Choice
	values []lua.LValue
}

// choicesArgument reads the n-th argument of a function: a list of strings, each of which is
// its own value, or of tables {value, label?, description?}.
func choicesArgument(L *lua.LState, n int, function string) (all choices) {
	list, ok := L.Get(n).(*lua.LTable)
	if !ok {
		luavm.RaiseArg(L, n, function, "list of strings or of {value, label, description} expected, got %s", L.Get(n).Type())
	}
	luavm.Materialise(L, list)
	length, err := luavm.ListLen(list)
	must(L, function, err)
	if length == 0 && list.MaxN() == 0 {
		if k, _ := list.Next(lua.LNil); k != lua.LNil {
			luavm.RaiseArg(L, n, function, "list expected, got a table without one")
		}
	}
	var size luavm.Size
	for i := 1; i <= length; i++ {
		c, value := choiceOf(L, function, i, list.RawGetInt(i))
		must(L, function, size.Add(len(c.Label)+len(c.Description)))
		c.Value = strconv.Itoa(i)
		all.list, all.values = append(all.list, c), append(all.values, value)
	}
	return all
}

// choiceOf reads the i-th of choices.
func choiceOf(L *lua.LState, function string, i int, v lua.LValue) (c agent.Choice, value lua.LValue) {
	t, ok := v.(*lua.LTable)
	if !ok {
		if !lua.LVCanConvToString(v) {
			luavm.Raise(L, "%s: option %d must be a string or {value, label, description}, not a %s", function, i, v.Type())
		}
		return agent.Choice{Label: v.String()}, lua.LString(v.String())
	}
	var label *string
	luavm.UnpackTable(L, t, function, luavm.Opt("value", &value).Required(), luavm.Opt("label", &label), luavm.Opt("description", &c.Description))
	switch {
	case label != nil:
		c.Label = *label
	case lua.LVCanConvToString(value):
		c.Label = value.String()
	default:
		luavm.Raise(L, "%s: option %d needs a label, for its value is a %s", function, i, value.Type())
	}
	return c, value
}

// numbersOf finds the choices that the option "default" names by their values: one, or with
// multi a list. A value that no choice has raises.
func (c choices) numbersOf(L *lua.LState, function string, v lua.LValue, multi bool) (numbers []string) {
	if v == nil || v == lua.LNil {
		return nil
	}
	wanted := []lua.LValue{v}
	if t, ok := v.(*lua.LTable); ok && multi {
		luavm.Materialise(L, t)
		wanted = wanted[:0]
		for i := range t.Len() {
			wanted = append(wanted, t.RawGetInt(i+1))
		}
	}
	for _, w := range wanted {
		i := slices.IndexFunc(c.values, func(have lua.LValue) bool { return have == w })
		if i < 0 {
			luavm.Raise(L, "%s: option \"default\": no option has the value %s%s", function, shownValue(w), suggest.Hint(w.String(), c.texts()))
		}
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return numbers
}

func shownValue(v lua.LValue) string {
	if s, ok := v.(lua.LString); ok {
		return strconv.Quote(string(s))
	}
	return v.String()
}

// texts are the values that are strings.
func (c choices) texts() (texts []string) {
	for _, v := range c.values {
		if s, ok := v.(lua.LString); ok {
			texts = append(texts, string(s))
		}
	}
	return texts
}

// chosen returns what choices with these numbers stand for, in the order of the choices:
// the one, or with multi a list of them. It is nil if the one is not among them.
func (c choices) chosen(L *lua.LState, numbers []string, multi bool) lua.LValue {
	list := L.CreateTable(len(numbers), 0)
	for i, v := range c.values {
		if slices.Contains(numbers, strconv.Itoa(i+1)) {
			list.Append(v)
		}
	}
	if !multi {
		return list.RawGetInt(1)
	}
	luavm.MarkList(list)
	return list
}
