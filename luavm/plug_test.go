package luavm

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// Every script here would hang or kill a program that runs Lua carelessly.
func TestHostileScriptsStop(t *testing.T) {
	const deadline = 50 * time.Millisecond
	for _, c := range []struct {
		name, source string
		kind         Kind
		message      string
		limit        time.Duration // beyond the deadline
		dead         bool
	}{
		{"endless loop", `while true do end`, Timeout, "ran longer than 50ms", 0, false},
		{"endless loop in pcall", `while true do pcall(function() while true do end end) end`, Timeout, "", 0, false},
		{"endless loop in xpcall", `while true do xpcall(function() while true do end end, function() while true do end end) end`, Timeout, "", 0, false},
		{"endless loop in coroutine", `while true do coroutine.resume(coroutine.create(function() while true do end end)) end`, Timeout, "", 0, false},
		{"endless yields", `local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end`, Timeout, "", 0, false},
		{"endless coroutines", `while true do coroutine.wrap(function() end)() end`, Timeout, "", 0, false},
		{"endless load", `while true do loadstring("return 1")() end`, Timeout, "", 0, false},
		{"endless iterator", `for _ in function() return 1 end do end`, Timeout, "", 0, false},
		{"endless goto", `::again:: goto again`, Timeout, "", 0, false},
		{"endless repeat", `repeat until false`, Timeout, "", 0, false},
		{"endless count", `for i = 1, math.huge do end`, Timeout, "", 0, false},
		{"endless comparator", `table.sort({ 3, 2, 1 }, function() while true do end end)`, Timeout, "", 0, false},
		{"endless comparison", `local m = { __lt = function() while true do end end } local a, b = setmetatable({}, m), setmetatable({}, m) return a < b`, Timeout, "", 0, false},
		{"endless callback of gsub", `("abc"):gsub(".", function() while true do end end)`, Timeout, "", 0, false},
		{"endless gmatch", `while true do for _ in ("abc"):gmatch("") do end end`, Timeout, "", 0, false},
		{"endless __index", `local t = setmetatable({}, { __index = function() while true do end end }) return t.x`, Timeout, "", 0, false},
		{"endless __newindex", `local t = setmetatable({}, { __newindex = function() while true do end end }) t.x = 1`, Timeout, "", 0, false},
		{"endless __call", `setmetatable({}, { __call = function() while true do end end })()`, Timeout, "", 0, false},
		{"endless __concat", `return "" .. setmetatable({}, { __concat = function() while true do end end })`, Timeout, "", 0, false},
		{"endless __eq", `local m = { __eq = function() while true do end end } return setmetatable({}, m) == setmetatable({}, m)`, Timeout, "", 0, false},
		{"endless __tostring", `print(setmetatable({}, { __tostring = function() while true do end end }))`, Timeout, "", 0, false},
		{"endless ipairs", `for _ in ipairs(setmetatable({}, { __index = function() return 1 end })) do end while true do end`, Timeout, "", 0, false},
		{"endless reader of load", `error((select(2, load(function() return " " end))), 0)`, Raised, "larger than 512 KiB", 0, false},
		{"endless collection", `while true do collectgarbage() collectgarbage("count") end`, Timeout, "", 0, false},
		{"endless traceback", `while true do debug.traceback("x") end`, Timeout, "", 0, false},
		{"endless errors", `while true do pcall(error, {}) end`, Timeout, "", 0, false},
		{"endless handler", `xpcall(function() error("x") end, function() while true do end end)`, Timeout, "", 0, false},
		{"handler that fails", `while true do xpcall(function() error("x") end, function() error("y") end) end`, Timeout, "", 0, false},
		{"handler that calls itself", `local function h() return xpcall(error, h) end while true do xpcall(error, h) end`, Timeout, "", 0, false},
		{"endless chain of __index", `local t = {} for i = 1, 1e5 do t = setmetatable({}, { __index = t }) end return t.x`, Raised, "", time.Second, false},
		{"circle of __index", `local a, b = {}, {} setmetatable(a, { __index = b }) setmetatable(b, { __index = a }) return a.x`, Raised, "", 0, false},
		{"front insertion", `local t = {} while true do table.insert(t, 1, 1) end`, Timeout, "", 0, false},
		{"bytecode", `assert(load("\27LuaQ"))`, Raised, "only source text", 0, false},
		{"bytecode in parts", `local n = 0 assert(load(function() n = n + 1 return ({ "\27", "LuaQ" })[n] end))`, Raised, "only source text", 0, false},
		{"dumped function", `assert(loadstring(string.dump(function() end)))`, Raised, "", 0, false},
		{"wide format", `local s = ("%999999999d"):format(1) assert(#s < 1e6) error("done")`, Raised, "", 0, false},
		{"precise format", `local s = ("%.999999999f"):format(1) assert(#s < 1e6) error("done")`, Raised, "", 0, false},
		{"many formats", `local s = ("x"):rep(6e7); ("%s%s%s%s"):format(s, s, s, s)`, Raised, "resulting string too long", 0, false},
		{"concat of nothing", `table.concat({}, ("x"):rep(1e6), 1, 1e9)`, Raised, "", 0, false},
		{"long date", `os.date(("%c"):rep(1e7))`, Raised, "format too long", 0, false},
		{"deep not", `loadstring("return " .. ("not "):rep(1e5) .. "1") error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep minus", `loadstring("return " .. ("-"):rep(1) .. ("(-"):rep(1e5) .. "1" .. (")"):rep(1e5)) error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep power", `loadstring("return " .. ("2^"):rep(2e5) .. "1") error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep functions", `loadstring(("return function() "):rep(2e4) .. ("end "):rep(2e4)) error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep blocks", `loadstring(("do "):rep(8e4) .. ("end "):rep(8e4)) error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep fields", `loadstring("return a" .. (".b"):rep(2e5)) error("done")`, Raised, "done", 2 * time.Second, false},
		{"deep else", `loadstring("if a then " .. ("elseif a then "):rep(5e3) .. "end") error("done")`, Raised, "done", 2 * time.Second, false},
		{"recursion", `local function f() return 1 + f() end f()`, Raised, "stack overflow", 0, false},
		{"recursion in pcall", `local function f() pcall(f) f() end f()`, Timeout, "", 0, false},
		{"recursion of pcall", `local function f() local ok, e = pcall(f) if not ok then error(e, 0) end end f()`, Raised, "too many nested pcalls", 0, false},
		{"tail recursion", `local function f() return f() end f()`, Timeout, "", 0, false},
		{"tail recursion in pcall", `local function f() return f() end pcall(f) pcall(f)`, Timeout, "", 0, false},
		{"tail recursion, then error", `local n = 0 local function f() n = n + 1 if n > 1e5 then error("deep") end return f() end f()`, Raised, "deep", 0, false},
		{"__index recursion", `local t = {} setmetatable(t, { __index = function(t, k) return t[k .. "x"] end }) print(t.a)`, Raised, "stack overflow", 0, false},
		{"__newindex recursion", `local t = {} setmetatable(t, { __newindex = function(t, k, v) t[k] = v end }) t.a = 1`, Raised, "stack overflow", 0, false},
		{"__tostring recursion", `local t = {} setmetatable(t, { __tostring = tostring }) tostring(t)`, Raised, "stack overflow", 0, false},
		{"gsub recursion", `local function f(s) return (s:gsub(".", f)) end f("x")`, Raised, "stack overflow", 0, false},
		{"sort recursion", `local function f(a, b) table.sort({2, 1}, f) return true end f()`, Raised, "stack overflow", 0, false},
		{"coroutine.wrap recursion", `local function f() coroutine.wrap(f)() end f()`, Raised, "too many nested coroutines", 0, false},
		{"coroutine recursion in pcall", `local function f() pcall(coroutine.wrap(f)) while true do end end f()`, Timeout, "", 0, false},
		{"coroutine resumes itself", `local co co = coroutine.wrap(function() co() end) co()`, Raised, "cannot resume non-suspended coroutine", 0, false},
		{"coroutine resumes its parent", `local a, b a = coroutine.create(function() b() end) b = coroutine.wrap(function() local _, e = coroutine.resume(a) error(e, 0) end) local _, e = coroutine.resume(a) error(e, 0)`, Raised, "cannot resume non-suspended coroutine", 0, false},
		{"far array index", `local t = {} t[6e7] = 1 assert(t[6e7] == 1) for i = 1, 60 do t[i * 1e6] = i end error("done")`, Raised, "done", 0, false},
		{"far insert", `local t = {} table.insert(t, 6e7, 1) error("done")`, Raised, "done", 0, false},
		{"rep of 1e9", `("x"):rep(1e9)`, Raised, "resulting string too long", 0, false},
		{"rep of 1e18", `("x"):rep(1e18)`, Raised, "resulting string too long", 0, false},
		{"rep of a rep", `local s = ("x"):rep(6e7) s:rep(2)`, Raised, "resulting string too long", 0, false},
		{"concat of long strings", `local s, t = ("x"):rep(2^20), {} for i = 1, 70 do t[i] = s end table.concat(t)`, Raised, "resulting string too long", 0, false},
		{"gsub of long replacements", `("x"):rep(1e5):gsub("x", ("y"):rep(1e5))`, Raised, "resulting string too long", 0, false},
		{"unpack of too much", `unpack({}, 1, 1e9)`, Raised, "too many results", 0, false},
		{"unpack of everything", `unpack({}, -1e300, 1e300)`, Raised, "too many results", 0, false},
		{"bytes of a long string", `("x"):rep(1e6):byte(1, -1)`, Raised, "string slice too long", 0, false},
		{"sort with a bad comparator", `local t = {} for i = 1, 1000 do t[i] = i % 7 end for i = 1, 3 do table.sort(t, function() return true end) end error("done")`, Raised, "done", 0, false},
		{"sort forever", `local t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t, function(a, b) return a > b end) end`, Timeout, "", 0, false},
		{"doubling concatenation", `local s = "x" while true do s = s .. s end`, Memory, "the memory of the whole process", 8 * time.Second, false},
		{"table growth", `local t = {} while true do t[#t + 1] = { {}, {}, {} } end`, Timeout, "", 2 * time.Second, false},
		{"deep source", `assert(loadstring("return " .. ("{"):rep(4e4) .. ("}"):rep(4e4)))() error("done")`, Raised, "", 2 * time.Second, false},
		{"deep calls in source", `loadstring("return f" .. ("()"):rep(2e4)) error("done")`, Raised, "done", 2 * time.Second, false},
		{"big source", `error((select(2, loadstring(("x=1 "):rep(2e5)))), 0)`, Raised, "larger than 512 KiB", 0, false},
		{"repeated concatenation", `local s = ("x"):rep(2^20) while true do s = s .. ("x"):rep(2^20) end`, Timeout, "", 3 * time.Second, false},
		{"pathological gsub", `local s = ("a"):rep(9e3) while true do s:gsub(".-b", "") end`, Timeout, "ran longer than 50ms", 0, false},
		{"pathological gmatch", `local s = ("a"):rep(9e3) while true do for _ in s:gmatch(".-b") do end end`, Timeout, "ran longer than 50ms", 0, false},
		{"pathological pattern", `local s = ("a"):rep(9e3) while true do s:find(".-b") end`, Timeout, "ran longer than 50ms", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if raceEnabled && c.kind == Memory {
				t.Skip("the race detector follows every byte of gigabytes")
			}
			h := newHook(t, Options{})
			limit, patience := deadline, time.Second
			if raceEnabled {
				patience = 10 * time.Second // for what ends by itself
			}
			if c.limit > 0 {
				limit = 2 * time.Second
			}
			start, used := time.Now(), processorTime()
			e := h.failure(t, c.source, within(deadline), func(j *Job) {
				if c.kind != Timeout && c.kind != Abandoned {
					j.Timeout = 30 * time.Second // its own error ends it long before
				}
			})
			// On a busy machine time passes in which this process does nothing.
			if took := min(time.Since(start), processorTime()-used); took > max(c.limit, patience)+limit {
				t.Errorf("took %v", took)
			}
			if c.kind == Memory && e.Kind == Abandoned {
				c.kind, c.dead = Abandoned, true // a busy machine copied gigabytes for longer than anyone waits
			}
			if e.Kind != c.kind || !strings.Contains(e.Message, c.message) {
				t.Errorf("got %s: %v, want %s: %s", e.Kind, e, c.kind, c.message)
			}
			if h.Dead() != c.dead {
				t.Fatalf("dead: %v", h.Dead())
			}
			if len(e.Traceback) > 2000 {
				t.Errorf("trace of %d bytes", len(e.Traceback))
			}
			if !c.dead {
				h.must(t, `assert(1 + 1 == 2 and pcall(print) and coroutine.wrap(function() return 7 end)() == 7)`)
			}
		})
	}
}

func TestACoroutineLivesAcrossJobs(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `co = coroutine.create(function() coroutine.yield(1) coroutine.yield(2) while true do end end)
assert(select(2, coroutine.resume(co)) == 1)`)
	h.must(t, `assert(select(2, coroutine.resume(co)) == 2)`)
	if e := h.failure(t, `coroutine.resume(co)`, within(50*time.Millisecond)); e.Kind != Timeout {
		t.Errorf("got %v", e)
	}
	h.must(t, `assert(coroutine.status(co) == "dead")`)
}

func TestADeadVMRefusesEverything(t *testing.T) {
	h := newHook(t, Options{})
	called := make(chan struct{}, 1)
	h.SetGlobal("touch", h.Func("touch", func() { called <- struct{}{} }))
	release := make(chan struct{})
	stuck := make(chan string, 1)
	h.SetGlobal("stick", h.main.NewFunction(func(L *lua.LState) int { // Go code that never looks at a context
		<-release
		defer func() {
			e, _ := recover().(*lua.ApiError)
			stuck <- messageOf(e.Object)
			panic(e)
		}()
		L.Push(L.GetGlobal("touch"))
		L.Call(0, 0)
		return 0
	}))
	if e := h.failure(t, `stick()`, within(20*time.Millisecond)); e.Kind != Abandoned || !h.Dead() {
		t.Fatalf("got %s: %v", e.Kind, e)
	}
	if err := h.do(`print(1)`); err != ErrDead {
		t.Errorf("a new job got %v", err)
	}
	close(release)
	if m := <-stuck; !strings.Contains(m, "abandoned") {
		t.Errorf("the orphan's call got %q", m)
	}
	select {
	case <-called:
		t.Error("the orphan reached shared state")
	default:
	}
}

func TestMemoryWatchForgivesGarbage(t *testing.T) {
	h := newHook(t, Options{MemoryLimit: 96 << 20})
	h.must(t, `for i = 1, 300 do local s = ("x"):rep(2^20) end`)
}

func TestJobsThatWereCancelledSayWhy(t *testing.T) {
	h := newHook(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := h.Run(ctx, Job{Run: func(*lua.LState) error { t.Error("ran"); return nil }})
	if e, ok := err.(*Error); !ok || e.Kind != Cancelled {
		t.Errorf("got %v", err)
	}
}

// What others take at the same time cannot be told from what a job takes, so that it is stopped only
// for more than all of them may take together.
func TestWhatOthersMayTakeIsNoGrowthOfAJob(t *testing.T) {
	const take = `local t = {} for i = 1, %d do t[i] = ("x"):rep(2^20) .. i end return #t`
	for name, c := range map[string]struct {
		sharers func() int
		mib     int
		want    string // "" for no error
	}{
		"alone":                 {nil, 150, "(limit 64 MiB)"},
		"one of five":           {func() int { return 5 }, 150, ""}, // of which as much again is garbage, for a while
		"too much for a couple": {func() int { return 2 }, 300, "(limit 64 MiB); 2 agents worked at the time, each of which may take as much"},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			h := newHook(t, Options{MemoryLimit: 64 << 20, Sharers: c.sharers})
			err := h.do(fmt.Sprintf(take, c.mib), within(20*time.Second))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
