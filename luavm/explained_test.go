package luavm

import (
	"errors"
	"testing"
)

func TestWhatCannotBeCalledIsNamed(t *testing.T) {
	const unnamed = "attempt to call a non-function object"
	cases := []struct{ src, want string }{
		{`local t = {} t.go("x")`, `attempt to call "t.go", which is no function`},
		{`local t = {} t:go("x")`, `attempt to call "t.go", which is no function`},
		{`local t = { a = {} } return t.a.go()`, `attempt to call "t.a.go", which is no function`},
		{`nothing()`, `attempt to call "nothing", which is no function`},
		{`local f f(1, 2)`, `attempt to call "f", which is no function`},
		{`local t, f = {} local function g() f() end g()`, `attempt to call "f", which is no function`},
		{"local t, f = {}\nlocal function g()\nf() end g()", `attempt to call "f", which is no function`},
		{`local t = {} tostring(t.go(type("x")))`, `attempt to call "t.go", which is no function`},
		{`local t = { see = tostring } t.see(t.go())`, `attempt to call "t.go" or "t.see", which is no function`},
		{`local t = {} t.a(t.b(t.c(t.d())))`, unnamed},
		{`local t = {} t[1]()`, `attempt to call "t[1]", which is no function`},
		{`local t = {} for x in t do end`, `attempt to loop over "t", which is no function; a list: for i, x in ipairs(t) do`},
		{`local t = { l = {} } for _, x in ipairs(t.l:split(" ")) do end`, `attempt to call "t.l.split", which is no function`},
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

// What could not be indexed, joined, added or compared is named as the author wrote it.
func TestOperandsAreNamed(t *testing.T) {
	for src, want := range map[string]string{
		`local t = {} return t.a.b`:                                                `attempt to index "t.a", which is nil, with key "b"`,
		`local t = {} t.a.b = 1`:                                                   `attempt to index "t.a", which is nil, with key "b"`,
		`local t = {} t.a:b()`:                                                     `attempt to index "t.a", which is nil, with key "b"`,
		`local t = { a = {} } return t.a.b.c.d`:                                    `attempt to index "t.a.b", which is nil, with key "c"`,
		`local n = 1 return n.x`:                                                   `attempt to index "n", which is a number, with key "x"`,
		`return nothing.x`:                                                         `attempt to index "nothing", which is nil, with key "x"`,
		`return tostring(nothing).x.y`:                                             `attempt to index "tostring(…).x", which is nil, with key "y"`,
		`local t = {} return t.f(1).x`:                                             `attempt to call "t.f", which is no function`,
		`local t = { f = type } local k = "x" return t[k].y`:                       `attempt to index "t[k]", which is nil, with key "y"`,
		`local t = { l = {} } return t.l[0].y`:                                     `attempt to index "t.l[0]", which is nil, with key "y"; lists begin with 1`,
		`local t local function f() return t.x end f()`:                            `attempt to index "t", which is nil, with key "x"`,
		`local t = {} return t.a.x, t.b.x`:                                         `attempt to index "t.a" or "t.b", which is nil, with key "x"`,
		`local t = {} return "a" .. t .. "b"`:                                      `cannot perform concat operation between table and string: "t" is a table`,
		`local t = {} return "a" .. t.b`:                                           `cannot perform concat operation between string and nil: "t.b" is nil`,
		`local a, b = "a" return a .. b`:                                           `cannot perform concat operation between string and nil`,
		`local n return n + 1`:                                                     `cannot perform add operation between nil and number: "n" is nil`,
		`local n return 2 < n`:                                                     `attempt to compare number with nil: "n" is nil`,
		`local t = {} local n = #t.a`:                                              `attempt to get the length of "t.a", which is nil`,
		`local t = { a = "x" } return #t.a + #t.b.c`:                               `attempt to index "t.b", which is nil, with key "c"`,
		`local t = { a = "x" } return #t.a + #t.b`:                                 `attempt to get the length of "t.b", which is nil`,
		`local t = { n = 5 } return #t.n`:                                          `attempt to get the length of "t.n", which is a number`,
		`local n = 5 return #n`:                                                    `attempt to get the length of "n", which is a number`,
		`for i = 1, 3 do end local function f() end local z = f() return z .. "a"`: `cannot perform concat operation between nil and string: "z" is nil`,
		`return #nothing`:                                                          `attempt to get the length of "nothing", which is nil`,
		`return #tostring`:                                                         `attempt to get the length of "tostring", which is a function`,
		`local t = {} return #(t.a or t.b)`:                                        `attempt to get the length of a nil value`,
		`local t = {} for i, x in ipairs(t.a) do end`:                              `bad argument #1 to ipairs (table expected, got nil): "t.a" is nil`,
		`local t = {} for k in pairs(t.a) do end`:                                  `bad argument #1 to pairs (table expected, got nil): "t.a" is nil`,
		`local t = {} local x = ipairs(t.a or t.b)`:                                `bad argument #1 to ipairs (table expected, got nil)`,
		`local x = ipairs(nil)`:                                                    `bad argument #1 to ipairs (table expected, got nil)`,
		`local t = {} return (("x"):rep(t.n))`:                                     `bad argument #2 to rep (number expected, got nil): "t.n" is nil`,
		`local t, f = {}, type return (("x"):rep(f(t), nil))`:                      `bad argument #2 to rep (number expected, got string)`,
		`local t = {} table.insert(t.list, t.value)`:                               `bad argument #1 to insert (table expected, got nil): "t.list" is nil`,
		`local t = {} table.concat(tostring(nil), t.x, nil)`:                       `bad argument #1 to concat (table expected, got string)`,
		`local s = "a" return s + "b"`:                                             `cannot perform add operation between string and string; .. joins texts`,
		`local s = "x" error("kept: " .. s .. "; attempt")`:                        `kept: x; attempt`,
	} {
		h := newHook(t, Options{})
		if e := h.failure(t, src); e.Message != want {
			t.Errorf("%s\nsays %q\nwant %q", src, e.Message, want)
		}
	}
}

// A name that is nil was misspelt, or it is one that Lua has elsewhere.
func TestNamesThatAreNilAreHelpedWith(t *testing.T) {
	instead := map[string]string{"io": "files are read with files.read", "os.execute": "programs run with run", "ctx": "it is a parameter"}
	for src, want := range map[string]string{
		`local function allowed() end alowed()`:             `attempt to call "alowed", which is no function, did you mean "allowed"?`,
		`strng.upper("x")`:                                  `attempt to index "strng", which is nil, with key "upper", did you mean "string"?`,
		`io.open("x")`:                                      `attempt to index "io", which is nil, with key "open"; files are read with files.read`,
		`os.execute("x")`:                                   `attempt to call "os.execute", which is no function; programs run with run`,
		`ctx.ui.notify("x")`:                                `attempt to index "ctx", which is nil, with key "ui"; it is a parameter`,
		`local t = {} t.io.open()`:                          `attempt to index "t.io", which is nil, with key "open"`,
		`local zebra zebra.x = 1`:                           `attempt to index "zebra", which is nil, with key "x"`,
		`local ctx = {} ctx.ui.notify("x")`:                 `attempt to index "ctx.ui", which is nil, with key "notify"`,
		`for index = 1, 2 do (function() indx() end)() end`: `attempt to call "indx", which is no function, did you mean "index"?`,
	} {
		h := newHook(t, Options{Instead: func(name string) string { return instead[name] }})
		if e := h.failure(t, src); e.Message != want {
			t.Errorf("%s\nsays %q\nwant %q", src, e.Message, want)
		}
	}
}

// A function of the program that returned nil says why in its second result. One of the hook
// that has such a name may mean anything by nil.
func TestTheMessageThatWasLostIsSpokenOf(t *testing.T) {
	const hint = "; own.read returned nil and a message: local r, err = own.read(…), or assert(own.read(…))"
	for src, want := range map[string]string{
		`return own.read("x").y`:                                                                  `attempt to index "own.read(…)", which is nil, with key "y"` + hint,
		`local own = own return own.read("x").y`:                                                  `attempt to index "own.read(…)", which is nil, with key "y"` + hint,
		`local own = own local function f() return #own.read("x") end f()`:                        `attempt to get the length of "own.read(…)", which is nil` + hint,
		`return "x" .. own.read("x")`:                                                             `cannot perform concat operation between string and nil: "own.read(…)" is nil` + hint,
		`for _, x in ipairs((own.read("x"))) do end`:                                              `bad argument #1 to ipairs (table expected, got nil): "own.read(…)" is nil` + hint,
		`return own.find("x").y`:                                                                  `attempt to index "own.find(…)", which is nil, with key "y"`,
		`local own = { read = function() end } return own.read("x").y`:                            `attempt to index "own.read(…)", which is nil, with key "y"`,
		`local own = { read = function() end } local function f() return own.read("x").y end f()`: `attempt to index "own.read(…)", which is nil, with key "y"`,
	} {
		h := newHook(t, Options{Fails: func(name string) bool { return name == "own.read" }})
		own := h.main.NewTable()
		for _, name := range []string{"read", "find"} {
			own.RawSetString(name, h.Func(name, func(path string) (*string, error) { return nil, nil }))
		}
		h.SetGlobal("own", own)
		if e := h.failure(t, src); e.Message != want {
			t.Errorf("%s\nsays %q\nwant %q", src, e.Message, want)
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

// Of a call that is the last argument all values are handed on, though the author saw the first.
func TestValuesThatACallGivesBesidesAreSaidToBeItsOwn(t *testing.T) {
	const hint = "; own.two(…) gives 2 values, and in parentheses gives the first: (own.two(…))"
	for src, want := range map[string]string{
		`own.one(own.two())`:                              `'own.one' takes at most 1 arguments, got 2` + hint,
		`return own.one(own.two())`:                       `'own.one' takes at most 1 arguments, got 2` + hint,
		`local one = own.one one("x", own.two())`:         `'own.one' takes at most 1 arguments, got 3`,
		`local own = own return (own.one(own.two("y")))`:  `'own.one' takes at most 1 arguments, got 2` + hint,
		`own.add(1, own.two())`:                           `'own.add' takes at most 2 arguments, got 3` + hint,
		`own.one((own.two()), 3)`:                         `'own.one' takes at most 1 arguments, got 2`,
		`own.one("x", (own.two()))`:                       `'own.one' takes at most 1 arguments, got 2`,
		`own.one("x", own.two())`:                         `'own.one' takes at most 1 arguments, got 3`,
		`own.one(own.two()) own.one(own.two())`:           `'own.one' takes at most 1 arguments, got 2` + hint,
		`own.one(own.three()) own.one(own.two())`:         `'own.one' takes at most 1 arguments, got 3`,
		`own.add(own.two())`:                              `bad argument #2 to 'own.add' (number expected, got string); it is value 2 of own.two(…), which in parentheses gives the first: (own.two(…))`,
		`own.add(1, own.two()) own.add(own.three())`:      `'own.add' takes at most 2 arguments, got 3`,
		`own.add(own.two(), "x")`:                         `bad argument #2 to 'own.add' (number expected, got string)`,
		`local s = "1" return tonumber(s:gsub("x", "y"))`: `bad argument #2 to 'tonumber' (base out of range); it is value 2 of s.gsub(…), which in parentheses gives the first: (s.gsub(…))`,
		`own.one(own.read("x"))`:                          `'own.one' takes at most 1 arguments, got 2; own.read returned nil and a message: local r, err = own.read(…), or assert(own.read(…))`,
		`own.one(own.page("x"))`:                          `'own.one' takes at most 1 arguments, got 2; own.page(…) gives 2 values, and in parentheses gives the first: (own.page(…))`,
	} {
		h := newHook(t, Options{Fails: func(name string) bool { return name == "own.read" || name == "own.page" }})
		own := h.main.NewTable()
		for name, fn := range map[string]any{
			"one":   func(s *string) {},
			"add":   func(a, b int) int { return a + b },
			"two":   func(of *string) (int, string) { return 1, "b" },
			"three": func() (int, int, int) { return 1, 2, 3 },
			"read":  func(path string) (*string, error) { return nil, errors.New("there is none") },
			"page":  func(path string) (string, string, error) { return "a", "b", nil },
		} {
			own.RawSetString(name, h.Func("own."+name, fn))
		}
		h.SetGlobal("own", own)
		if e := h.failure(t, src); e.Message != want {
			t.Errorf("%s\nsays %q\nwant %q", src, e.Message, want)
		}
	}
}
