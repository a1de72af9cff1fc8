package luavm

import "testing"

func TestWhatCannotBeCalledIsNamed(t *testing.T) {
	const unnamed = "attempt to call a non-function object"
	cases := []struct{ src, want string }{
		{`local t = {} t.go("x")`, `attempt to call "go", which is no function`},
		{`local t = {} t:go("x")`, `attempt to call "go", which is no function`},
		{`local t = { a = {} } return t.a.go()`, `attempt to call "go", which is no function`},
		{`nothing()`, `attempt to call "nothing", which is no function`},
		{`local f f(1, 2)`, `attempt to call "f", which is no function`},
		{`local t, f = {} local function g() f() end g()`, `attempt to call "f", which is no function`},
		{"local t, f = {}\nlocal function g()\nf() end g()", `attempt to call "f", which is no function`},
		{`local t = {} tostring(t.go(type("x")))`, `attempt to call "go", which is no function`},
		{`local t = { see = tostring } t.see(t.go())`, `attempt to call "go" or "see", which is no function`},
		{`local t = {} t.a(t.b(t.c(t.d())))`, unnamed},
		{`local t = {} t[1]()`, unnamed},
		{`(function() end)()()`, unnamed},
		{`pcall(3) error("kept: " .. select(2, pcall(3)))`, "kept: hook.lua:1: " + unnamed},
	}
	for _, c := range cases {
		h := newHook(t, Options{})
		if e := h.failure(t, c.src); e.Message != c.want {
			t.Errorf("%s\nsays %q, want %q", c.src, e.Message, c.want)
		}
	}
}

func TestACallWithAColonWhereADotBelongsIsSaidToBeOne(t *testing.T) {
	const hint = "; call it with a dot: .confirm(…)"
	cases := []struct{ src, want string }{
		{`ui:confirm("x")`, "bad argument #1 to 'confirm' (string expected, got table)" + hint},
		{`ui.confirm(("x"):rep(2), ui:confirm("y"))`, "bad argument #1 to 'confirm' (string expected, got table)" + hint},
		{`ui:confirm("x", "y")`, "'confirm' takes at most 2 arguments, got 3" + hint},
		{`ui.confirm({})`, "bad argument #1 to 'confirm' (string expected, got table)"},
		{`local s = "x" ui.confirm({}, s:upper())`, "bad argument #1 to 'confirm' (string expected, got table)"},
		{`local o = { say = function(self) error("bad argument #1 to 'confirm' (x, got table)") end } o:say()`,
			"bad argument #1 to 'confirm' (x, got table)"},
	}
	for _, c := range cases {
		h := newHook(t, Options{})
		ui := h.main.NewTable()
		ui.RawSetString("confirm", h.Func("confirm", func(title string, message *string) bool { return message == nil }))
		h.SetGlobal("ui", ui)
		if e := h.failure(t, c.src); e.Message != c.want {
			t.Errorf("%s\nsays %q, want %q", c.src, e.Message, c.want)
		}
	}
}
