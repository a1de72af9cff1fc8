package api

import (
	"context"
	"slices"
	"strconv"
	"time"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// Dialogs shows one dialog at a time.
type Dialogs interface {
	// Ask runs f, which shows a dialog, when those before it have ended.
	Ask(ctx context.Context, kind, title string, f func(context.Context) error) error
	// AskPrompt is Ask for a dialog that another hook may answer; reply is not nil if one did, and
	// the context of f ended with it.
	AskPrompt(ctx context.Context, p Prompt, f func(context.Context) error) (reply *Reply, err error)
	// IsOpen reports whether a dialog is shown.
	IsOpen() bool
}

// Memory has the questions that a user answered with "always" in the session s. They are
// dropped when another session becomes current.
type Memory interface {
	IsKept(s *session.Session, question string) bool
	Keep(s *session.Session, question string)
}

// dialogs ask the user for a hook.
type dialogs struct{ *bridge }

func (d *dialogs) part() part {
	return part{"select": d.choose, "confirm": d.confirm, "input": d.input, "editor": d.editor}
}

// user returns the front end, or nil if nobody is there to answer. It raises while the
// hook's file loads.
func (d *dialogs) user(L *lua.LState, function string) agent.UI {
	d.mustHaveLoaded(L, function)
	if ui := d.UI(); ui != nil && ui.HasUI() {
		return ui
	}
	return nil
}

// dialog is one question: what it is called, and how it ends early.
type dialog struct {
	Prompt
	until *signal // may be nil
	none  lua.LValue
	given func(L *lua.LState, r Reply) lua.LValue // what the answer of another hook comes to
}

// newDialog is a dialog that another hook may answer.
func (d *dialogs) newDialog(kind, title string, until *signal, given func(*lua.LState, Reply) lua.LValue) dialog {
	return dialog{Prompt: Prompt{Kind: kind, Title: title, Hook: d.Hook.Name}, until: until, none: lua.LNil, given: given}
}

// options reads the n-th argument of a dialog, {timeout?, signal?} and the options more.
func (d *dialogs) options(L *lua.LState, n int, function string, more ...luavm.Option) (agent.DialogOptions, *signal) {
	var timeout time.Duration
	var until lua.LValue
	luavm.Unpack(L, n, function, append(more, luavm.Opt("timeout", &timeout), luavm.Opt("signal", &until))...)
	if timeout < 0 {
		luavm.Raise(L, "%s: option \"timeout\" must be a positive number of milliseconds", function)
	}
	return agent.DialogOptions{From: d.Hook.Name, TimeoutMS: int(timeout / time.Millisecond)}, signalOption(L, function, until)
}

// confirm is ctx.ui.confirm(title, message?, {always?, timeout?, signal?}) → bool; false
// without a user. A No cannot be told from a dialog that timed out, so both are no answer
// for ask. A question that the user answered with always is not asked again in the session.
func (d *dialogs) confirm(L *lua.LState) int {
	title, message, always := L.CheckString(1), L.OptString(2, ""), ""
	o, until := d.options(L, 3, "confirm", luavm.Opt("always", &always))
	o.Always = always
	if d.isKept(always) {
		L.Push(lua.LTrue)
		return 1
	}
	q := d.newDialog("confirm", title, until, func(_ *lua.LState, r Reply) lua.LValue { return lua.LBool(r.Yes) })
	q.Message, q.none = message, lua.LFalse
	return d.ask(L, q, func(ctx context.Context, ui agent.UI) (bool, error) {
		if d.isKept(always) { // it was answered while this one waited for its turn
			return true, nil
		}
		asked := d.session()
		answer, err := ui.Confirm(ctx, title, message, o)
		if answer == agent.Always && always != "" && err == nil && asked == d.session() {
			d.Always.Keep(asked, d.question(always))
		}
		return answer != agent.No, err
	}, func(*lua.LState) lua.LValue { return lua.LTrue })
}

// isKept reports whether the user has answered the question with a key with always; never
// for "".
func (d *dialogs) isKept(key string) bool {
	return key != "" && d.Always.IsKept(d.session(), d.question(key))
}

// question is a question of the hook by its key. Hooks in different places may have the same
// name.
func (d *dialogs) question(key string) string { return d.Hook.Path + "\x00" + key }

// session is the current session; nil before there is one.
func (d *dialogs) session() *session.Session {
	if host := d.Host(); host != nil {
		return host.Session()
	}
	return nil
}

// choose is ctx.ui.select(title, options, {multi?, default?, timeout?, signal?}) → the value
// of one; with multi a list. nil if there was no answer.
func (d *dialogs) choose(L *lua.LState) int {
	title, all := L.CheckString(1), choicesArgument(L, 2, "select")
	var multi bool
	var marked lua.LValue
	o, until := d.options(L, 3, "select", luavm.Opt("multi", &multi), luavm.Opt("default", &marked))
	o.Multi, o.Default = multi, all.numbersOf(L, "select", marked, multi)
	var numbers []string
	q := d.newDialog("select", title, until, func(L *lua.LState, r Reply) lua.LValue { return all.chosen(L, r.Numbers, multi) })
	q.Choices, q.Multi = all.list, multi
	return d.ask(L, q, func(ctx context.Context, ui agent.UI) (ok bool, err error) {
		numbers, ok, err = ui.Select(ctx, title, all.list, o)
		return ok, err
	}, func(L *lua.LState) lua.LValue { return all.chosen(L, numbers, multi) })
}

// input is ctx.ui.input(title, placeholder?, {timeout?, signal?}) → string?
func (d *dialogs) input(L *lua.LState) int {
	title, placeholder := L.CheckString(1), L.OptString(2, "")
	o, until := d.options(L, 3, "input")
	return d.askText(L, d.newDialog("input", title, until, textOfReply), func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Input(ctx, title, placeholder, o)
	})
}

// editor is ctx.ui.editor(title, prefill?) → string?
func (d *dialogs) editor(L *lua.LState) int {
	title, prefill := L.CheckString(1), L.OptString(2, "")
	return d.askText(L, d.newDialog("editor", title, nil, textOfReply), func(ctx context.Context, ui agent.UI) (string, bool, error) {
		return ui.Editor(ctx, title, prefill, agent.DialogOptions{From: d.Hook.Name})
	})
}

func textOfReply(_ *lua.LState, r Reply) lua.LValue { return lua.LString(r.Text) }

// askText is ask for a text.
func (d *dialogs) askText(L *lua.LState, q dialog, ask func(context.Context, agent.UI) (string, bool, error)) int {
	text := ""
	return d.ask(L, q, func(ctx context.Context, ui agent.UI) (ok bool, err error) {
		text, ok, err = ask(ctx, ui)
		return ok, err
	}, func(*lua.LState) lua.LValue { return lua.LString(text) })
}

// ask shows a dialog with the function ask, whose ok is true if the user has answered, and
// pushes the answer. Where there is none it pushes q.none: nobody is there, or the user
// left the dialog, or its signal ended. With an answer of a user the agent counts anew how much
// hooks send without one (its brake); that of a client may be nobody's.
func (d *dialogs) ask(L *lua.LState, q dialog, ask func(context.Context, agent.UI) (ok bool, err error), answer func(*lua.LState) lua.LValue) int {
	ok := false
	var reply *Reply
	if ui := d.user(L, q.Kind); ui != nil {
		reply = d.showPrompt(L, q.Prompt, func(ctx context.Context) (err error) {
			limited, cancel := q.until.within(ctx)
			defer cancel()
			if limited.Err() == nil {
				ok, err = ask(limited, ui)
			}
			if limited.Err() != nil && ctx.Err() == nil {
				ok, err = false, nil
			}
			return err
		})
	}
	switch {
	case reply != nil: // by a hook, so the agent goes on counting
		L.Push(q.given(L, *reply))
		return 1
	case !ok:
		L.Push(q.none)
		return 1
	}
	if host := d.Host(); host != nil && agent.HasUser(d.UI()) {
		host.ResetBrake(agent.Origin{Kind: agent.FromUser, Hook: d.Hook.Name})
	}
	L.Push(answer(L))
	return 1
}

// componentKey is in the Go context of a component's functions.
type componentKey struct{}

// show runs f, which shows a dialog, after the dialogs before it, and waits with the hook's
// clock stopped. It raises if the dialog cannot be shown, so that this does not look like an
// answer, and in a component's function while another dialog is open: it might wait for itself.
func (d *dialogs) show(L *lua.LState, kind, title string, f func(context.Context) error) {
	d.mustBeFree(L, kind)
	must(L, kind, d.waitFor(L, kind, true, func(ctx context.Context) error { return d.Dialogs.Ask(ctx, kind, title, f) }))
}

// showPrompt is show for a dialog that another hook may answer; the reply is nil if none did.
func (d *dialogs) showPrompt(L *lua.LState, p Prompt, f func(context.Context) error) (reply *Reply) {
	d.mustBeFree(L, p.Kind)
	must(L, p.Kind, d.waitFor(L, p.Kind, true, func(ctx context.Context) (err error) {
		reply, err = d.Dialogs.AskPrompt(ctx, p, f)
		return err
	}))
	return reply
}

// mustBeFree raises in a function that draws, and in a component's function while a dialog is open.
func (d *dialogs) mustBeFree(L *lua.LState, kind string) {
	if d.vm.Context().Value(drawerKey{}) != nil {
		luavm.Raise(L, "%s: a function that draws cannot ask; ask in a command or a handler", kind)
	}
	if d.vm.Context().Value(componentKey{}) != nil && d.Dialogs.IsOpen() {
		luavm.Raise(L, "%s: a component cannot open a dialog while one is open; close it first", kind)
	}
}

// choices are what the user can choose in ctx.ui.select. The program knows each by its
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
	if !isList(list) {
		luavm.RaiseArg(L, n, function, "list expected, got a table without one")
	}
	return choicesOf(L, function, list)
}

// isList reports whether a table has nothing that a list has not.
func isList(t *lua.LTable) bool {
	if t.MaxN() > 0 {
		return true
	}
	k, _ := t.Next(lua.LNil)
	return k == lua.LNil
}

// choicesOf reads the choices of a list for a function.
func choicesOf(L *lua.LState, function string, list *lua.LTable) (all choices) {
	length, err := luavm.ListLen(L, list)
	must(L, function, err)
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
	if t, ok := luavm.TableOf(L, v); ok && multi {
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
