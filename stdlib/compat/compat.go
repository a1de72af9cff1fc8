// Package compat lets hooks that were written for another program run here after a
// translation of syntax only. Each module gives the API of such a program over the one
// of this program:
//
//	local pi = require "pi.compat.pi_v2"          hooks of pi, the TypeScript one
//	local pi = require "pi.compat.omp"            hooks of oh-my-pi
//	local marvin = require "pi.compat.marvin"     hooks of marvin
//
// A module is a Lua file of this folder, which says what the names of the other program
// mean here. What all of them need is in two more:
//
//	base.lua      the object of a module: how handlers are wrapped, where a name is
//	              looked up, what a name without a counterpart raises
//	members.lua   members that several programs have: commands, tools, dialogs
//	rows.lua      events that several programs have
//	pi_v2.lua …   the events and members of one program
//
// # To write one
//
// The file is called with c, which base.lua describes, and returns a table: events (a
// list of rows, one for each event), members of the object and of ctx, and for names that
// have no counterpart a sentence that says what to use instead. [Describe] reads the same
// tables for `pi hooks events --compat`, so nothing is written down twice.
//
// A function that stands around one of the author's has that in a local variable named
// source; errors then name the place of the author's function, and what the Lua files
// here raise is at the line that called them (see [luavm.SourceOf]).
//
// # What is done in Go
//
// Event tables that are filled when they are read (event.go), because most handlers read
// one field; the number of parameters of a function; names and suggestions.
package compat

import (
	"cmp"
	"embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

//go:embed *.lua
var files embed.FS

// systems are the modules, with the file of each.
func systems() map[string]string {
	return map[string]string{"pi.compat.marvin": "marvin.lua", "pi.compat.omp": "omp.lua", "pi.compat.pi_v2": "pi_v2.lua"}
}

// Names lists the modules, sorted.
func Names() []string { return slices.Sorted(maps.Keys(systems())) }

// Host is what the modules need of the program, besides the hook's API.
type Host struct {
	// Restyle returns a list of messages or entries, or one of them, as the older programs
	// have them. With branch the list is that of the session's branch.
	Restyle func(L *lua.LState, v lua.LValue, branch bool) lua.LValue
	// Code has the files of this folder compiled, for VMs that share it; nil: they are
	// compiled for this one.
	Code *Code
}

// Code has the files that were needed so far, compiled. The zero value is ready, and may be
// used from any goroutine: to compile them takes ten times as long as all else that Open does.
type Code struct {
	mu    sync.Mutex
	files map[string]*lua.FunctionProto
}

// file returns a file of this folder, compiled.
func (c *Code) file(name string) (*lua.FunctionProto, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if proto := c.files[name]; proto != nil {
		return proto, nil
	}
	text, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	proto, err := luavm.CompileOwn("pi.compat/"+name, text)
	if err != nil {
		return nil, err
	}
	if c.files == nil {
		c.files = map[string]*lua.FunctionProto{}
	}
	c.files[name] = proto
	return proto, nil
}

// Open makes the object of a module in a VM, inside a job of it, over the hook's global pi.
// name is one of [Names].
func Open(vm *luavm.VM, L *lua.LState, name string, host Host) lua.LValue {
	object, _ := open(vm, L, name, host)
	return object
}

// open is Open; about describes the module.
func open(vm *luavm.VM, L *lua.LState, name string, host Host) (object lua.LValue, about *lua.LTable) {
	code := host.Code
	if code == nil {
		code = new(Code)
	}
	base, define, members, rows := code.chunk(L, "base.lua"), code.chunk(L, systems()[name]), code.chunk(L, "members.lua"), code.chunk(L, "rows.lua")
	L.Push(base)
	for _, arg := range []lua.LValue{(&tools{vm: vm, host: host, strict: map[string]*lua.LTable{}}).table(L),
		L.G.Global.RawGetString("pi"), lua.LString(name), define, members, rows} {
		L.Push(arg)
	}
	L.Call(6, 2)
	object = L.Get(-2)
	about, _ = L.Get(-1).(*lua.LTable)
	L.Pop(2)
	return object, about
}

// chunk returns a file of this folder as a function.
func (c *Code) chunk(L *lua.LState, name string) *lua.LFunction {
	proto, err := c.file(name)
	if err != nil {
		luavm.Raise(L, "%v", err)
	}
	return L.NewFunctionFromProto(proto)
}

// tools are the functions that the Lua files call host.
type tools struct {
	vm     *luavm.VM
	host   Host
	strict map[string]*lua.LTable // metatables of events, by their name here
}

// table makes the table of them.
func (h *tools) table(L *lua.LState) *lua.LTable {
	t := luavm.NewRecord(L, 9)
	for name, fn := range map[string]any{
		"parameters": parameters, "hint": hint, "nearest": nearest, "names": namesOf, "event": h.event, "list": list, "framed": h.framed,
		"restyle":        func(L *lua.LState, v lua.LValue) lua.LValue { return h.restyle(L, v, false) },
		"restyle_branch": func(L *lua.LState, v lua.LValue) lua.LValue { return h.restyle(L, v, true) },
	} {
		luavm.Set(t, name, h.vm.Func(name, fn))
	}
	return t
}

func (h *tools) restyle(L *lua.LState, v lua.LValue, branch bool) lua.LValue {
	if h.host.Restyle == nil {
		return v
	}
	return h.host.Restyle(L, v, branch)
}

// parameters is host.parameters(fn): how many parameters a function names; 0 for one of Go.
func parameters(fn *lua.LFunction) int {
	if fn.IsG {
		return 0
	}
	return int(luavm.SourceOf(fn).Proto.NumParameters)
}

// framed is host.framed(fn): fn in a function of Go, which leaves the frame of its caller where it
// is in return f(…) too. What fn raises then has the line of that.
func (h *tools) framed(fn *lua.LFunction) *lua.LFunction {
	return h.vm.GFunc("hook", func(L *lua.LState) int {
		n := L.GetTop()
		L.Insert(fn, 1)
		L.Call(n, lua.MultRet)
		return L.GetTop()
	})
}

// list is host.list(t): t, which is [] in JSON when it is empty.
func list(t *lua.LTable) *lua.LTable {
	luavm.MarkList(t)
	return t
}

// hint is host.hint(name, known): the end of a message about an unknown name.
func hint(name string, known []string) string { return suggest.Hint(name, known) }

// nearest is host.nearest(name, known): the known name that is most like name. There is one.
func nearest(name string, known []string) string {
	if near := suggest.Nearest(name, known); near != "" {
		return near
	}
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Or(cmp.Compare(suggest.Distance(name, a), suggest.Distance(name, b)), strings.Compare(a, b))
	})
}

// namesOf is host.names(table): the names of all fields that a strict table may have, or
// else those that it has.
func namesOf(L *lua.LState, t *lua.LTable) []string {
	luavm.Materialise(L, t)
	if names := luavm.StrictNames(t); names != nil {
		return names
	}
	return luavm.Keys(t)
}
