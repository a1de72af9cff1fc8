package luavm

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openLibs opens the libraries that hooks may use and takes out of them what
// they may not.
func (vm *VM) openLibs() {
	L := vm.main
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath, lua.OpenCoroutine, lua.OpenOs} {
		L.Push(L.NewFunction(open))
		L.Call(0, 0)
	}
	g := L.G.Global
	for _, name := range []string{"dofile", "loadfile", "module", "newproxy", "_printregs", "require", "_GOPHER_LUA_VERSION"} {
		Set(g, name, lua.LNil)
	}
	setAll(L, g, map[string]lua.LGFunction{
		"print": vm.print, "error": raiseAt, "tonumber": toNumberFunc,
		"load": load, "collectgarbage": collectGarbage,
		"loadstring": func(L *lua.LState) int {
			src := L.CheckString(1)
			return pushCompiled(L, src, L.OptString(2, src))
		},
	})
	debug := NewRecord(L, 1)
	setAll(L, debug, map[string]lua.LGFunction{"traceback": traceback})
	Set(g, "debug", debug)
	Set(g.RawGetString("math").(*lua.LTable), "huge", lua.LNumber(math.Inf(1)))
	openOS(L, g, vm.opts)
	openStrings(L, g)
	openTables(L, g)
	vm.threads.openPcall(g)
	vm.threads.openCoroutines(g)
	if vm.opts.StrictGlobals {
		vm.makeStrict(g)
	}
}

// print is print: one line to Options.Print. A table is written as JSON if it can be.
func (vm *VM) print(L *lua.LState) int {
	if vm.opts.Print == nil || vm.Dead() {
		return 0
	}
	var b strings.Builder
	for i := 1; i <= L.GetTop(); i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(shown(L, L.Get(i)))
	}
	vm.opts.Print(b.String())
	return 0
}

// shown is what print writes for a value.
func shown(L *lua.LState, v lua.LValue) string {
	if t, ok := v.(*lua.LTable); ok && L.GetMetaField(t, "__tostring") == lua.LNil {
		if raw, err := EncodeJSON(L, t, JSON{}); err == nil {
			return string(raw)
		}
	}
	return L.ToStringMeta(v).String()
}

// raiseAt is error(value, level). Level 2 is the line that called the function that
// calls error; Go functions in between do not count.
func raiseAt(L *lua.LState) int {
	v := L.Get(1)
	level := L.OptInt(2, 1)
	if s, ok := v.(lua.LString); ok && level > 0 {
		v = lua.LString(placed(where(L, level), string(s)))
	}
	L.Error(v, 0)
	return 0
}

// traceback is debug.traceback(message?).
func traceback(L *lua.LState) int {
	switch m := L.Get(1).(type) {
	case lua.LString, lua.LNumber:
		L.Push(lua.LString(m.String() + "\n" + trace(L)))
	case *lua.LNilType:
		L.Push(lua.LString(trace(L)))
	default:
		L.Push(m)
	}
	return 1
}

// collectGarbage is collectgarbage: for "count" it returns the heap of the whole process
// in KiB, and it does nothing for all else, because the heap belongs to the program.
func collectGarbage(L *lua.LState) int {
	n := lua.LNumber(0)
	if L.OptString(1, "collect") == "count" {
		n = lua.LNumber(heapBytes()) / 1024
	}
	L.Push(n)
	return 1
}

// load is load(chunk, name?); the chunk is a string, or a function that returns its
// pieces.
func load(L *lua.LState) int {
	switch chunk := L.Get(1).(type) {
	case lua.LString:
		return pushCompiled(L, string(chunk), L.OptString(2, "=(load)"))
	case *lua.LFunction:
		src, ok := readPieces(L, chunk)
		if !ok {
			L.Push(lua.LNil)
			L.Push(lua.LString("reader function must return a string"))
			return 2
		}
		return pushCompiled(L, src, L.OptString(2, "=(load)"))
	}
	L.TypeError(1, lua.LTFunction)
	return 0
}

// readPieces joins the strings that a function returns, call by call, until it returns
// nil or "", or they are larger than a program may be. It returns false if one is no
// string.
func readPieces(L *lua.LState, reader *lua.LFunction) (string, bool) {
	var b strings.Builder
	for b.Len() <= MaxSource {
		L.Push(reader)
		L.Call(0, 1)
		piece := L.Get(-1)
		L.Pop(1)
		if piece == lua.LNil || piece == lua.LString("") {
			break
		}
		if !lua.LVCanConvToString(piece) {
			return "", false
		}
		b.WriteString(piece.String())
	}
	return b.String(), true
}

// pushCompiled compiles src and pushes the function, or nil and a message. It returns
// how many values.
func pushCompiled(L *lua.LState, src, name string) int {
	proto, err := Compile(chunkName(name), []byte(src))
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(L.NewFunctionFromProto(proto))
	return 1
}

// chunkName returns the name of a chunk for messages, as Lua does: x for "=x" and "@x",
// else [string "…"] with the first line of the source.
func chunkName(name string) string {
	if strings.HasPrefix(name, "=") || strings.HasPrefix(name, "@") {
		return name[1:]
	}
	line, _, more := strings.Cut(name, "\n")
	if len(line) > 40 {
		line, more = line[:40], true
	}
	if more {
		line += "..."
	}
	return `[string "` + line + `"]`
}

// makeStrict makes writing a global that nobody declared raise; reading one gives nil.
// While a job with Loading runs, writing a function declares its name.
func (vm *VM) makeStrict(g *lua.LTable) {
	declared := map[string]bool{}
	meta := NewRecord(vm.main, 2)
	Set(meta, "__metatable", lua.LFalse)
	Set(meta, "__newindex", vm.main.NewFunction(func(L *lua.LState) int {
		name, value := L.Get(2), L.Get(3)
		if s, ok := name.(lua.LString); ok {
			if value.Type() == lua.LTFunction && vm.Loading() {
				declared[string(s)] = true
			} else if !declared[string(s)] {
				L.Error(lua.LString(placed(where(L, 1), "assignment to undeclared global '"+string(s)+"' (use local)")), 0)
			}
		}
		L.RawSet(g, name, value)
		return 0
	}))
	g.Metatable = meta
}
