package hooktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// setAnswers is t.answers: a table of answers by the kind of the dialog, or a function(kind,
// title, options). An answer in the table is given to every dialog of its kind; a list, one
// after the other; a function(title, options) makes it.
func (f *file) setAnswers(L *lua.LState, s *scene, answers lua.LValue) {
	switch a := answers.(type) {
	case *lua.LFunction:
		s.stage.person.meet(func(ctx context.Context, q question) (reply, error) {
			return s.replyOf(ctx, q, func(L *lua.LState) lua.LValue {
				return call(L, a, lua.LString(q.kind), lua.LString(q.title), asked(L, q))
			})
		})
	case *lua.LTable:
		luavm.Materialise(L, a)
		var confirm, choice, input, editor lua.LValue
		var custom *lua.LFunction
		luavm.UnpackTable(L, a, "t.answers", luavm.Opt("confirm", &confirm), luavm.Opt("select", &choice), luavm.Opt("input", &input), luavm.Opt("editor", &editor),
			luavm.Opt("custom", &custom))
		s.stage.person.play(s.player(custom))
		next := map[string]int{}
		s.stage.person.meet(func(ctx context.Context, q question) (reply, error) {
			return s.replyOf(ctx, q, func(L *lua.LState) lua.LValue { return s.fromTable(L, a, next, q) })
		})
	default:
		luavm.Raise(L, "t.answers: a table or a function, not a %s", answers.Type())
	}
}

// asked is what a function of t.answers is given of a question beside its title: the choices
// of a select, the text below a confirm, the placeholder of an input, the text in an editor.
func asked(L *lua.LState, q question) lua.LValue {
	if q.kind != "select" {
		return lua.LString(q.message)
	}
	return luavm.NewList(L, len(q.choices), func(i int) lua.LValue { return lua.LString(q.choices[i].Text()) })
}

// call calls a function and returns its first result.
func call(L *lua.LState, fn *lua.LFunction, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// fromTable is the answer that a table has for a question. next counts the answers of lists
// that were given.
func (s *scene) fromTable(L *lua.LState, answers *lua.LTable, next map[string]int, q question) lua.LValue {
	switch a := answers.RawGetString(q.kind).(type) {
	case *lua.LNilType:
		s.note(fmt.Sprintf("a hook asks %s %q, for which t.answers has nothing", q.kind, q.title))
		return lua.LNil
	case *lua.LFunction:
		return call(L, a, lua.LString(q.title), asked(L, q))
	case *lua.LTable:
		luavm.Materialise(L, a)
		next[q.kind]++
		v := a.RawGetInt(next[q.kind])
		if v == lua.LNil {
			s.note(fmt.Sprintf("a hook asks %s %q, and the %d answers of t.answers were given before", q.kind, q.title, a.Len()))
		}
		return v
	default:
		return a
	}
}

// replyOf runs answer in the VM of the test and reads what it says to a question. nil and
// false leave the dialog.
func (s *scene) replyOf(ctx context.Context, q question, answer func(L *lua.LState) lua.LValue) (r reply, err error) {
	err = s.job(ctx, q.kind, func(L *lua.LState) error {
		var err error
		r, err = readReply(L, q, answer(L))
		return err
	})
	if ctx.Err() != nil {
		return reply{}, ctx.Err()
	}
	if err != nil {
		return reply{}, nil // it is noted, and the person is gone
	}
	return r, nil
}

func readReply(L *lua.LState, q question, v lua.LValue) (reply, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return reply{}, nil
	case lua.LBool:
		if q.kind == "confirm" {
			return reply{given: true, yes: bool(v)}, nil
		}
		if !v {
			return reply{}, nil
		}
	case lua.LString:
		if q.kind == "confirm" && v == "always" {
			return reply{given: true, yes: true, always: true}, nil
		}
		if q.kind != "confirm" {
			return q.chosen([]string{string(v)})
		}
	case *lua.LTable:
		if texts, ok := luavm.Strings(L, v); ok && q.kind == "select" && q.options.Multi {
			return q.chosen(texts)
		}
	}
	return reply{}, fmt.Errorf("the answer to %s %q is %s", q.kind, q.title, shown(L, v))
}

// chosen is the reply of texts; of a select they have to be choices, as they are shown.
func (q question) chosen(texts []string) (reply, error) {
	if q.kind != "select" {
		return reply{given: true, texts: texts}, nil
	}
	r := reply{given: true, texts: []string{}}
	for _, text := range texts {
		i := slices.IndexFunc(q.choices, func(c agent.Choice) bool { return c.Text() == text })
		if i < 0 {
			var names []string
			for _, c := range q.choices {
				names = append(names, fmt.Sprintf("%q", c.Text()))
			}
			return reply{}, fmt.Errorf("the answer to select %q is %q, and the choices are %s", q.title, text, strings.Join(names, ", "))
		}
		r.texts = append(r.texts, q.choices[i].Value)
	}
	return r, nil
}
