package hooktest

import (
	"fmt"
	"strings"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Failure is why a case failed: where, and what was found instead.
type Failure struct {
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Case    string   `json:"case"`
	Message string   `json:"message"`
	Want    string   `json:"want,omitempty"` // of a check that compares
	Got     string   `json:"got,omitempty"`
	Notices []string `json:"notices,omitempty"` // the last ones of the hooks
}

// checks are the checks. One that fails ends the case.
func (f *file) checks() functions {
	return functions{
		"equal":   f.checkEqual,
		"match":   f.checkMatch,
		"ok":      f.checkOK,
		"blocked": f.checkBlocked,
		"ran":     f.checkRan,
		"shown":   f.checkShown,
		"raises":  f.checkRaises,
		"fail":    func(L *lua.LState, message string) { f.fails(L, "fail", Failure{Message: message}) },
	}
}

// fails ends the case with a failure at the line of the test.
func (f *file) fails(L *lua.LState, check string, why Failure) {
	s := f.current(L, check)
	why.File, why.Line = f.shown, f.line(L)
	s.fail(why)
	message := why.Message
	if why.Want != "" {
		message += ": got " + why.Got + ", want " + why.Want
	}
	luavm.Raise(L, "%s", message)
}

// wording is what a test says of a check, as the beginning of its message.
func wording(message *string, usual string) string {
	if message != nil && *message != "" {
		return *message
	}
	return usual
}

// checkEqual is t.equal(got, want, message?): tables are compared by what is in them.
func (f *file) checkEqual(L *lua.LState, got, want lua.LValue, message *string) {
	if f.current(L, "equal"); !same(L, got, want, 0) {
		f.fails(L, "equal", Failure{Message: wording(message, "not equal"), Got: shown(L, got), Want: shown(L, want)})
	}
}

// checkMatch is t.match(text, pattern, message?), with a pattern of Lua.
func (f *file) checkMatch(L *lua.LState, text lua.LValue, pattern string, message *string) {
	f.current(L, "match")
	s, ok := text.(lua.LString)
	if ok {
		find := L.GetGlobal("string").(*lua.LTable).RawGetString("find")
		L.Push(find)
		L.Push(s)
		L.Push(lua.LString(pattern))
		L.Call(2, 1)
		ok = L.Get(-1) != lua.LNil
		L.Pop(1)
	}
	if !ok {
		f.fails(L, "match", Failure{Message: wording(message, "no match"), Got: shown(L, text), Want: "what matches " + pattern})
	}
}

// checkOK is t.ok(value, message?) → value, for anything but nil and false. Of a call that
// returns nil and a message that message is shown.
func (f *file) checkOK(L *lua.LState, value, message lua.LValue) lua.LValue {
	f.current(L, "ok")
	if lua.LVAsBool(value) {
		return value
	}
	text := "not ok"
	if message != lua.LNil {
		text = L.ToStringMeta(message).String()
	}
	f.fails(L, "ok", Failure{Message: text, Got: shown(L, value), Want: "a value that is true"})
	return value
}

// checkBlocked is t.blocked(tool, part of the reason?): a call of it was refused, and did
// not run.
func (f *file) checkBlocked(L *lua.LState, tool string, reason *string) {
	calls, part := f.current(L, "blocked").stage.witness.called(tool), ""
	if reason != nil {
		part = *reason
	}
	var got []string
	for _, c := range calls {
		switch {
		case c.ran:
			got = append(got, "it ran")
		case !c.isError:
			got = append(got, "it has not ended")
		case strings.Contains(c.text, part):
			return
		default:
			got = append(got, "it was refused: "+c.text)
		}
	}
	f.fails(L, "blocked", Failure{Message: tool + " was not blocked" + because(part), Got: f.callsOf(tool, got), Want: "a call that is blocked" + because(part)})
}

func because(part string) string {
	if part == "" {
		return ""
	}
	return fmt.Sprintf(" because of %q", part)
}

// checkRan is t.ran(tool, part of its input?): a call of it ran.
func (f *file) checkRan(L *lua.LState, tool string, input *string) {
	var got []string
	for _, c := range f.current(L, "ran").stage.witness.called(tool) {
		switch {
		case c.ran && (input == nil || strings.Contains(string(c.input), *input)):
			return
		case c.ran:
			got = append(got, "it ran with "+string(c.input))
		default:
			got = append(got, "it was refused: "+c.text)
		}
	}
	f.fails(L, "ran", Failure{Message: tool + " did not run", Got: f.callsOf(tool, got), Want: "a call that runs"})
}

// callsOf is what was seen of the calls of a tool, or which tools were called if it was none
// of them.
func (f *file) callsOf(tool string, seen []string) string {
	if len(seen) > 0 {
		return strings.Join(seen, "; ")
	}
	var others []string
	for _, c := range f.scene.stage.witness.called("") {
		others = append(others, c.name)
	}
	if len(others) == 0 {
		return "no call of " + tool + ", nor of any other tool"
	}
	return "no call of " + tool + ", but of " + strings.Join(others, ", ")
}

// checkShown is t.shown(part): a user would have read it: in a notice, a dialog, the
// status line, a widget, or a message of a hook.
func (f *file) checkShown(L *lua.LState, part string) {
	seen := f.current(L, "shown").stage.witness.shown()
	for _, text := range seen {
		if strings.Contains(text, part) {
			return
		}
	}
	got := "nothing was shown"
	if len(seen) > 0 {
		got = strings.Join(seen[max(0, len(seen)-10):], "\n")
	}
	f.fails(L, "shown", Failure{Message: "not shown", Got: got, Want: part})
}

// checkRaises is t.raises(fn, part of the message?) → the message.
func (f *file) checkRaises(L *lua.LState, fn *lua.LFunction, part *string) string {
	f.current(L, "raises")
	L.Push(L.GetGlobal("pcall"))
	L.Push(fn)
	L.Call(1, 2)
	ok, raised := lua.LVAsBool(L.Get(-2)), L.Get(-1)
	L.Pop(2)
	want := "an error"
	if part != nil {
		want = fmt.Sprintf("an error with %q", *part)
	}
	if ok {
		f.fails(L, "raises", Failure{Message: "nothing was raised", Got: "no error", Want: want})
	}
	text := L.ToStringMeta(raised).String()
	if part != nil && !strings.Contains(text, *part) {
		f.fails(L, "raises", Failure{Message: "another error was raised", Got: text, Want: want})
	}
	return text
}
