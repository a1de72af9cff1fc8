package luavm

import (
	"strings"
	"sync"
	"testing"
)

func TestTheSurfaceIsExactlyWhatIsAllowed(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `
local function names(t) local s = {} for k in pairs(t) do s[#s+1] = k end table.sort(s) return table.concat(s, " ") end
print(names(_G)) print(names(os)) print(names(debug)) print(names(coroutine)) print(names(table)) print(names(string))`)
	want := []string{
		"_G _VERSION assert collectgarbage coroutine debug error getfenv getmetatable ipairs load loadstring math next os pairs pcall print rawequal rawget rawset select setfenv setmetatable string table tonumber tostring type unpack xpcall",
		"clock date difftime getenv time", "traceback", "create resume running status wrap yield",
		"concat getn insert maxn remove sort", "__index byte char find format gfind gmatch gsub len lower match rep reverse sub upper",
	}
	for i, line := range h.lines {
		if line != want[i] {
			t.Errorf("got  %s\nwant %s", line, want[i])
		}
	}
}

func TestLibraryFunctionsBehave(t *testing.T) {
	h := newHook(t, Options{})
	for _, source := range []string{
		`assert(collectgarbage("count") > 0 and collectgarbage() == 0)`,
		`assert(os.time() > 1e9 and os.time({year=2020,month=1,day=1,hour=0}) > 1e9 and os.difftime(5, 3.5) == 1.5)`,
		`assert(load("return 1")() == 1 and loadstring("return ...")(7) == 7)`,
		`local parts = { "return ", "4", "2" } local i = 0 assert(load(function() i = i + 1 return parts[i] end)() == 42)`,
		`local f, e = loadstring("\27Lua") assert(f == nil and e:find("only source text"), e)`,
		`local f, e = load("x = = 1", "=chunk") assert(f == nil and e:find("^chunk:1: "), e)`,
		`assert(select("#", xpcall(function() return 1, nil, nil end, print)) == 4)`,
		`local ok, e = xpcall(function() error({ code = 5 }) end, function(e) return e.code + 1 end) assert(not ok and e == 6)`,
		`local ok, e = xpcall(function() local x = nil; x() end, debug.traceback) assert(e:find("stack traceback") and e:find("hook.lua:1"), e)`,
		`local ok, e = pcall(error) assert(not ok and e == nil)`,
		`local ok, e = pcall(error, { 1 }) assert(not ok and e[1] == 1)`,
		`local ok, a, b = pcall(function(...) return ... end, 1, nil) assert(ok and a == 1 and b == nil)`,
		`local ok, e = pcall(nil) assert(not ok and e)`,
		`assert(select("#", pcall(function() end)) == 1)`,
		`local t = setmetatable({}, { __call = function(_, x) return x * 2 end }) local ok, v = pcall(t, 4) assert(ok and v == 8)`,
		`local ok, e = pcall(string.rep) assert(not ok and e:find("^hook.lua:1: bad argument"), e)`,
		`assert(("abc"):gsub("b", "x") == "axc" and ("abc"):gsub("%w", "%0%0", 2) == "aabbc")`,
		`assert(("hello world"):gsub("(%w+) (%w+)", "%2 %1") == "world hello")`,
		`local s, n = ("abc"):gsub("", "-") assert(s == "-a-b-c-" and n == 4, s)`,
		`assert(("a b"):gsub("%w", { a = "1", b = false }) == "1 b")`,
		`assert(("a1b2"):gsub("(%a)(%d)", function(l, d) return d .. l end) == "1a2b")`,
		`assert(("x"):gsub("x", function() end) == "x" and ("x"):gsub("x", "%%") == "%" and ("xx"):gsub("x", "y", 0) == "xx")`,
		`assert(not pcall(string.gsub, "x", "x", "%2") and not pcall(string.gsub, "x", "x", function() return {} end))`,
		`assert(table.concat({ 1, 2, 3 }, ", ", 2, 3) == "2, 3" and table.concat({}, "x") == "")`,
		`local t = {} for i = 1, 10000 do t[i] = "ab" end assert(#table.concat(t) == 20000 and select("#", unpack(t)) == 10000)`,
		`assert(coroutine.running() == nil) pcall(function() assert(coroutine.running() == nil) end)`,
		`local co co = coroutine.create(function() assert(coroutine.running() == co and coroutine.status(co) == "running")
 assert(pcall(function() assert(coroutine.running() == co and coroutine.status(co) == "running") end))
 coroutine.wrap(function() assert(coroutine.status(co) == "normal") end)() end) assert(coroutine.resume(co)) assert(coroutine.status(co) == "dead")`,
		`local f = coroutine.wrap(function() pcall(coroutine.wrap(function() error("x") end)) coroutine.yield(1) return 2 end) assert(f() == 1 and f() == 2)`,
		`local f = coroutine.wrap(function() return pcall(coroutine.yield, 1) end) local ok, e = f() assert(not ok and e:find("attempt to yield across"), e)`,
		`local ok, e = pcall(coroutine.yield) assert(not ok)`,
		`local n = 0 for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do n = n + v end assert(n == 6)`,
		`local x = 0 local function inc() x = x + 1 end for i = 1, 3 do pcall(error) inc() end assert(x == 3)`,
	} {
		if err := h.do(source); err != nil {
			t.Errorf("%s\n%v", source, err)
		}
	}
}

func TestErrorLevelsNameTheRightLine(t *testing.T) {
	h := newHook(t, Options{})
	for _, c := range []struct{ source, where, message string }{
		{"error('m')", "hook.lua:1", "m"},
		{"local function f()\n error('m')\nend\nf()", "hook.lua:2", "m"},
		{"local function f()\n error('m', 2)\nend\nf()", "hook.lua:4", "m"},
		{"local function f()\n error('m', 3)\nend\nlocal function g()\n f()\nend\ng()", "hook.lua:7", "m"},
		{"local function f()\n error('m', 2)\nend\nlocal ok, e = pcall(f)\nerror(e, 0)", "hook.lua:4", "m"},
		{"local function f()\n error('m', 2)\nend\nlocal ok, e = pcall(function()\n f()\nend)\nerror(e, 0)", "hook.lua:5", "m"},
		{"\nlocal x = nil + 1", "hook.lua:2", "cannot perform add operation between nil and number"},
		{"\nerror({ message = 'table' })", "hook.lua:2", "table"},
		{"\nerror({})", "hook.lua:2", "(error object is a table value)"},
		{"\nlocal t = nil\nt.x = 1", "hook.lua:3", "attempt to index \"t\", which is nil, with key \"x\""},
		{"\n\ncoroutine.wrap(function() error('in coroutine') end)()", "hook.lua:3", "in coroutine"},
	} {
		e := h.failure(t, c.source)
		if e.Where != c.where || e.Message != c.message || !strings.HasPrefix(e.Traceback, "stack traceback:\n\thook.lua:") {
			t.Errorf("%s\ngot %v, want %s: %s\n%s", c.source, e, c.where, c.message, e.Traceback)
		}
	}
}

func TestStrictGlobals(t *testing.T) {
	h := newHook(t, Options{StrictGlobals: true})
	if err := h.do(`function helper() return 1 end assert(undeclared == nil)`, loading); err != nil {
		t.Fatal(err)
	}
	h.must(t, `assert(helper() == 1) helper = nil helper = function() return 2 end assert(helper() == 2)`)
	for source, job := range map[string]func(*Job){
		"\ncount = 1":           loading,
		"\nfunction late() end": counted,
		"\n_G.count = 1":        counted,
	} {
		if e := h.failure(t, source, job); e.Where != "hook.lua:2" || !strings.Contains(e.Message, "undeclared global") {
			t.Errorf("%s: %v", source, e)
		}
	}
	if e := h.failure(t, `setmetatable(_G, {})`); !strings.Contains(e.Message, "protected") {
		t.Error(e)
	}
}

func TestCompileNamesTheLine(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"x = \n= 1", "a.lua:2: syntax error near '='"},
		{"if x then\n", "a.lua:1: syntax error at the end of the file"},
		{"goto nowhere", "a.lua:2: no visible label 'nowhere' for <goto> at line 1"},
		{"\x1bLua", "a.lua:1: compiled Lua is not accepted, only source text"},
		{"x = 'abc", "a.lua:1: "},
	} {
		_, err := Compile("a.lua", []byte(c.source))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.source, err, c.want)
		}
	}
	if _, err := Compile("a.lua", []byte("#!/usr/bin/lua\nreturn 1")); err != nil {
		t.Error(err)
	}
}

func TestTheEndOfAFileIsNotItsLastWord(t *testing.T) {
	want := "a.lua:3: syntax error at the end of the file; a block has no braces: if … then … end"
	if _, err := Compile("a.lua", []byte("if x {\n  y()\n}\n")); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestCompileRunsInParallel(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := Compile("a.lua", hundredLines()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func FuzzCompileNeverPanics(f *testing.F) {
	for _, s := range []string{"return 1", "x = {", "local function f(...) return ... end", "goto a ::a::", "a.b:c'd'", "--[[", "\"\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		proto, err := Compile("f.lua", src)
		if (proto == nil) == (err == nil) {
			t.Errorf("%v and %v", proto, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f.lua:") {
			t.Errorf("no place in %q", err)
		}
	})
}

// A table is printed such that it can be read, unless it says itself what it is or cannot be
// written.
func TestTablesArePrintedAsJSON(t *testing.T) {
	for src, want := range map[string]string{
		`print({ a = { 1, "x" } }, "b", nil, 2)`:                                `{"a":[1,"x"]}` + "\tb\tnil\t2",
		`print(setmetatable({}, { __tostring = function() return "own" end }))`: "own",
		`print((tostring({ f = print }):gsub(":.*", "")))`:                      "table",
		`local t = { f = print } print(t) `:                                     "table: ",
		`local t = {} t.t = t print(t)`:                                         "table: ",
	} {
		h := newHook(t, Options{})
		h.must(t, src)
		if len(h.lines) != 1 || !strings.HasPrefix(h.lines[0], want) {
			t.Errorf("%s\nprints %q, want %q", src, h.lines, want)
		}
	}
}
