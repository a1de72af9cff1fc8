package luavm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type price struct{ Input, Output float64 }

type model struct {
	Provider  string
	ID        string
	MaxTokens int
	Reasoning bool
	Input     []string
	Cost      price
	Previous  *price
	Secret    string `lua:"-"`
	Special   string `lua:"odd"`
}

func (model) Delete() { panic("methods are not for Lua") }

func TestGoFunctionsFollowTheRulesOfTheLibrary(t *testing.T) {
	h := newHook(t, Options{})
	set := func(name string, fn any) { h.SetGlobal(name, h.Func(name, fn)) }
	set("add", func(a, b float64) float64 { return a + b })
	set("open", func(path string) (string, error) {
		if path == "" {
			return "", errors.New("no such file")
		}
		return "content", nil
	})
	set("save", func(string) error { return nil })
	set("misuse", func() error { return Misusef("unknown event %q", "x") })
	set("opt", func(a string, n *int, s *string) string {
		if n == nil {
			return a + "-" + fmt.Sprint(s == nil)
		}
		return a + fmt.Sprint(*n)
	})
	set("join", func(sep string, parts ...string) string { return strings.Join(parts, sep) })
	set("keys", func(t *lua.LTable) int { return t.Len() })
	set("any", func(v lua.LValue) lua.LValue { return v })
	set("list", func() ([]string, map[string]int, *price) { return []string{"a", "b"}, map[string]int{"x": 1}, nil })
	set("call", func(L *lua.LState, f *lua.LFunction) lua.LValue {
		L.Push(f)
		L.Call(0, 1)
		return L.Get(-1)
	})
	set("sleepy", func(ctx context.Context, n int) (int, error) {
		if h.main.G.CurrentThread != nil {
			return 0, errors.New("still holding the VM")
		}
		return n * 2, ctx.Err()
	})
	h.must(t, `
assert(add(1, 2) == 3)
assert(open("x") == "content")
local v, e = open("") assert(v == nil and e == "no such file")
assert(save("x") == true)
assert(opt("a") == "a-true" and opt("a", nil, "s") == "a-false" and opt("a", 7) == "a7")
assert(join(",") == "" and join(",", "a", "b") == "a,b")
assert(keys({1, 2, 3}) == 3)
assert(any() == nil and any(7) == 7)
local l, m, p = list() assert(#l == 2 and l[2] == "b" and m.x == 1 and p == nil)
assert(call(function() return "r" end) == "r")
assert(sleepy(21) == 42)
`)
	for source, want := range map[string]string{
		`add(1)`:            "bad argument #2 to 'add' (number expected, got no value)",
		`add(1, "2")`:       "bad argument #2 to 'add' (number expected, got string)",
		`add(1, 2, 3)`:      "'add' takes at most 2 arguments, got 3",
		`open(5)`:           "bad argument #1 to 'open' (string expected, got number)",
		`opt("a", {})`:      "bad argument #2 to 'opt' (number expected, got table)",
		`join(",", "a", 1)`: "bad argument #3 to 'join' (string expected, got number)",
		`misuse()`:          `misuse: unknown event "x"`,
		`keys(nil)`:         "bad argument #1 to 'keys' (table expected, got nil)",
	} {
		if e := h.failure(t, "\n"+source); e.Message != want || e.Where != "hook.lua:2" {
			t.Errorf("%s: got %v, want hook.lua:2: %s", source, e, want)
		}
	}
}

func TestStructsAreReadOnly(t *testing.T) {
	h := newHook(t, Options{})
	m := model{Provider: "p", ID: "i", MaxTokens: 5, Input: []string{"text"}, Cost: price{1, 2}, Secret: "s", Special: "o"}
	h.SetGlobal("m", h.Value(m))
	h.SetGlobal("none", h.Value((*model)(nil)))
	h.must(t, `
assert(m.provider == "p" and m.id == "i" and m.max_tokens == 5 and m.reasoning == false)
assert(m.cost.input == 1 and m.cost.output == 2 and m.previous == nil and m.input[1] == "text")
assert(m.odd == "o")
for _, name in ipairs{ "secret", "Delete", "delete", "Provider" } do assert(not pcall(function() return m[name] end), name) end
m.input[1] = "changed" assert(m.input[1] == "text")
assert(none == nil and getmetatable(m) == false)`)
	for _, source := range []string{`m.id = "x"`, `m.cost.input = 3`, `m.new = 1`} {
		if e := h.failure(t, source); !strings.Contains(e.Message, "read-only") || e.Where != "hook.lua:1" {
			t.Errorf("%s: %v", source, e)
		}
	}
}

func TestOptionTables(t *testing.T) {
	h := newHook(t, Options{})
	type got struct {
		cwd     string
		timeout time.Duration
		env     map[string]string
		args    []string
		n       *int
		fn      *lua.LFunction
	}
	var g got
	h.SetGlobal("exec", h.GFunc("exec", func(L *lua.LState) int {
		g = got{cwd: "default"}
		Unpack(L, 2, "exec", Opt("cwd", &g.cwd), Opt("timeout", &g.timeout), Opt("env", &g.env),
			Opt("args", &g.args), Opt("n", &g.n), Opt("fn", &g.fn))
		return 0
	}))
	h.SetGlobal("need", h.GFunc("need", func(L *lua.LState) int {
		var name string
		Unpack(L, 1, "need", Opt("name", &name).Required())
		return 0
	}))
	h.must(t, `exec("x")`)
	if g.cwd != "default" || g.n != nil || g.timeout != 0 {
		t.Errorf("got %+v", g)
	}
	h.must(t, `exec("x", { cwd = "/", timeout = 1500, env = { A = "b", N = 1 }, args = { "a", 2 }, n = 3, fn = print })`)
	if g.cwd != "/" || g.timeout != 1500*time.Millisecond || g.env["A"] != "b" || g.env["N"] != "1" || strings.Join(g.args, " ") != "a 2" || *g.n != 3 || g.fn == nil {
		t.Errorf("got %+v", g)
	}
	for source, want := range map[string]string{
		`exec("x", { timout = 1 })`:         `exec: unknown option "timout", did you mean "timeout"?`,
		`exec("x", { [1] = 1 })`:            `exec: unknown option "1"; it has cwd, timeout, env, args, n, fn`,
		`exec("x", { timeout = "1" })`:      `exec: option "timeout" must be a number of milliseconds, not a string`,
		`exec("x", { args = { {} } })`:      `exec: option "args" must be a list of strings, not a table`,
		`exec("x", { args = { a = "b" } })`: `exec: option "args" must be a list of strings, not a table`,
		`exec("x", 5)`:                      `bad argument #2 to 'exec' (table expected, got number)`,
		`need()`:                            `need: option "name" is missing`,
	} {
		if e := h.failure(t, "\n\n"+source); e.Message != want || e.Where != "hook.lua:3" {
			t.Errorf("%s: got %v, want %s", source, e, want)
		}
	}
}

func TestStubsCannotBeToldFromTables(t *testing.T) {
	for _, source := range []string{
		`assert(s.id == "i" and s.missing == nil)`,
		`s.id = "new" assert(s.id == "new" and s.type == "k")`,
		`s.extra = 1 assert(s.extra == 1 and s.id == "i")`,
		`assert(#s == 0 and type(s) == "table")`,
		`local n = 0 for k, v in pairs(s) do n = n + 1 end assert(n == 3)`,
		`local k, v = next(s) assert(k == "id" and v == "i" and next(s, k) == "type")`,
		`for _ in ipairs(s) do error("no list") end`,
		`assert(unpack(s) == nil and select("#", unpack(s)) == 0)`,
		`table.insert(s, "x") assert(s[1] == "x" and s.id == "i" and #s == 1)`,
		`assert(table.remove(s) == nil and table.concat(s) == "" and table.maxn(s) == 0) table.sort(s)`,
		`assert(rawget(s, "id") == "i" and rawget(s, 1) == nil)`,
		`rawset(s, "id", 2) assert(s.id == 2 and s.type == "k")`,
		`assert(rawequal(s, s) and s == s and not rawequal(s, {}) and s ~= {})`,
		`assert(getmetatable(s) == false) local _ = s.id assert(getmetatable(s) == false)`,
		`local was = s setmetatable(s, { __index = { fallback = 7 } }) assert(s.fallback == 7 and s.id == "i" and was == s)`,
		`local keyed = { [s] = 1 } local _ = s.id assert(keyed[s] == 1)`,
		`s[1] = "x" assert(s[1] == "x" and s.id == "i")`,
		`assert(s[1] == nil and s.id == "i")`,
		`assert(tostring(s):find("^table: "))`,
		`assert(#list == 3 and list[2].id == "i" and list[4] == nil) table.remove(list, 1) list[#list + 1] = list[1] assert(#list == 3)`,
	} {
		h := newHook(t, Options{})
		rec := &record{"i", "k", "p"}
		h.SetGlobal("s", h.NewStub(rec, buildRecord))
		h.SetGlobal("list", h.NewStubList(h.State(), 3, func(int) any { return rec }, buildRecord))
		if err := h.do(source); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestStubsRememberWhatTheyStandFor(t *testing.T) {
	h := newHook(t, Options{})
	rec := &record{"i", "k", "p"}
	s := h.NewStub(rec, buildRecord)
	if ref, ok := StubRef(s); !ok || ref != any(rec) {
		t.Errorf("untouched: %v %v", ref, ok)
	}
	h.SetGlobal("s", s)
	h.must(t, `local copy = { s } assert(copy[1] == s)`)
	if _, ok := StubRef(s); !ok {
		t.Error("passing it on touched it")
	}
	h.must(t, `assert(s.id)`)
	if _, ok := StubRef(s); ok {
		t.Error("still untouched after a look")
	}
	if ref, ok := StubOrigin(s); !ok || ref != any(rec) {
		t.Errorf("origin: %v %v", ref, ok)
	}
	if _, ok := StubOrigin(h.State().NewTable()); ok {
		t.Error("a plain table has an origin")
	}
	out, err := EncodeJSON(h.State(), h.NewStub(rec, buildRecord), JSON{})
	if string(out) != `{"id":"i","type":"k","parent_id":"p"}` || err != nil {
		t.Errorf("as JSON: %s %v", out, err)
	}
}

func TestParametersAreReadAsOptionsAre(t *testing.T) {
	h := newHook(t, Options{})
	h.SetGlobal("f", h.Func("f", func(list []string, texts map[string]string, d time.Duration) string {
		return fmt.Sprint(list, texts, d)
	}))
	h.must(t, `assert(f({ "a", 1 }, { b = "c" }, 1500) == "[a 1] map[b:c] 1.5s")`)
	if e := h.failure(t, `f({ a = 1 }, {}, 1)`); e.Message != "bad argument #1 to 'f' (list of strings expected, got table)" {
		t.Error(e.Message)
	}
}
