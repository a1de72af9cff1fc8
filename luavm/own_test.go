package luavm

import (
	"context"
	"errors"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// around is code of the program's own that makes functions around others, and raises.
const around = `
local own = {}
function own.wrap(source) return function(...) return source(...) end end
function own.twice(source) return own.wrap(own.wrap(source)) end
function own.checks(source) return function() local v = source() error("no " .. v) end end
function own.returns(source) return function() local v = source() return v end end
function own.plain() return function() end end
function own.raise() error("no") end
function own.index() local t return t.x end
function own.call(f, ...) return f(...) end
return own`

// withOwn runs a hook's code with what around returns as the global own, and then what is to
// be done with the function that it returns.
func withOwn(t *testing.T, code string, then ...func(L *lua.LState, made *lua.LFunction)) (*lua.LFunction, error) {
	t.Helper()
	vm := New(Options{})
	t.Cleanup(vm.Close)
	own, err := CompileOwn("pi.around", []byte(around))
	if err != nil {
		t.Fatal(err)
	}
	hook, err := Compile("hook.lua", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	var result *lua.LFunction
	err = vm.Run(context.Background(), Job{Name: "test", Run: func(L *lua.LState) error {
		L.Push(L.NewFunctionFromProto(own))
		L.Call(0, 1)
		vm.SetGlobal("own", L.Get(-1))
		L.Pop(1)
		L.Push(L.NewFunctionFromProto(hook))
		L.Call(0, 1)
		result, _ = L.Get(-1).(*lua.LFunction)
		L.Pop(1)
		for _, do := range then {
			do(L, result)
		}
		return nil
	}})
	return result, err
}

func TestWhatOwnCodeRaisesIsAtTheLineOfTheHook(t *testing.T) {
	for code, want := range map[string]string{
		"\nown.raise()": "hook.lua:2: no",
		"\nown.index()": "hook.lua:2: attempt to index \"t\", which is nil, with key \"x\"",
		"\nlocal f = own.wrap(function()\n error('mine') end)\nf()":            "hook.lua:3: mine",
		"\nlocal f = own.wrap(function() own.raise() end)\n\nf()":              "hook.lua:2: no",
		"\nlocal _, e = pcall(own.raise)\nerror('caught ' .. e, 0)":            "caught hook.lua:2: no",
		"\nlocal _, e = pcall(own.index)\nerror(e, 0)":                         "hook.lua:2: attempt to index \"t\", which is nil, with key \"x\"",
		"\nown.call(error, 'deep')":                                            "hook.lua:2: deep",
		"\nown.call(string.rep)":                                               "hook.lua:2: bad argument #1 to f (string expected, got nil)",
		"error('[pi.around]:1: said by a hook', 0)":                            "hook.lua:1: said by a hook",
		"own.call(function() own.call(function() own.raise() end) end)":        "hook.lua:1: no",
		"\nlocal co = coroutine.wrap(function() own.raise() end)\n\nco()":      "hook.lua:2: no",
		"\nown.call(setmetatable({}, { __call = function() error('x') end }))": "hook.lua:2: x",
	} {
		_, err := withOwn(t, code)
		var e *Error
		if !errors.As(err, &e) || e.Error() != want {
			t.Errorf("%q says %q, want %q", code, err, want)
		}
	}
}

// The frame of a hook's function is gone when it has returned, and when the last that it did
// was to call another.
func TestWhatOwnCodeRaisesOfWhatAHookReturnedIsWhereThatReturns(t *testing.T) {
	for code, want := range map[string]string{
		"return own.checks(function()\n local v = 'x'\n return v\nend)":                 "hook.lua:3: no x",
		"\nreturn own.checks(function(v)\n if v then return 'x' end\n return 'y'\nend)": "hook.lua:2: no y",
		"return own.returns(function()\n return own.raise()\nend)":                      "hook.lua:2: no",
		"return own.returns(function()\n local t\n return own.index(t)\nend)":           "hook.lua:3: attempt to index \"t\", which is nil, with key \"x\"",
	} {
		_, err := withOwn(t, code, func(L *lua.LState, made *lua.LFunction) {
			L.Push(made)
			L.Call(0, 0)
		})
		var e *Error
		if !errors.As(err, &e) || e.Error() != want {
			t.Errorf("%q says %q, want %q", code, err, want)
		}
	}
}

func TestAFunctionAroundOneOfAHookIsDefinedWhereThatIs(t *testing.T) {
	for code, line := range map[string]int{
		"\n\nreturn own.wrap(function() end)":                 3,
		"\nreturn own.twice(function() end)":                  2,
		"\n\n\nreturn function() end":                         4,
		"local source = print return function() source() end": 1,
	} {
		fn, err := withOwn(t, code)
		if err != nil {
			t.Fatal(err)
		}
		if of := SourceOf(fn); of.Proto.SourceName != "hook.lua" || of.Proto.LineDefined != line {
			t.Errorf("%q: defined at %s:%d", code, of.Proto.SourceName, of.Proto.LineDefined)
		}
	}
	fn, err := withOwn(t, "return own.plain()")
	if err != nil || SourceOf(fn) != fn {
		t.Errorf("a function around nothing is %v, %v", SourceOf(fn), err)
	}
}
