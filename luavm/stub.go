package luavm

import lua "github.com/yuin/gopher-lua"

// A stub is a table that is empty until Lua looks at it. Its metatable, made
// for it alone, carries the Go value that it stands for in a place that Lua
// cannot reach (the metatable's own Metatable field), and shares its hash part
// with all other metatables of stubs. The first look builds the contents and
// copies them over the table in place, so that its identity stays and it is as
// fast as any table afterwards. Only a Peeker answers for single fields before.

// mark is what hides behind the metatable of a stub or of a table that was one.
type mark interface {
	lua.LValue
	isMark()
}

// opaque makes a Go struct a value that Lua can do nothing with.
type opaque struct{}

func (opaque) String() string       { return "opaque" }
func (opaque) Type() lua.LValueType { return lua.LTUserData }
func (opaque) isMark()              {}

// stub is one allocation for the table, its metatable and what it stands for.
type stub struct {
	opaque
	table, meta lua.LTable
	ref         any
	build       func(L *lua.LState, ref any) *lua.LTable
}

// origin marks a table that was a stub and has been filled.
type origin struct {
	opaque
	ref    any
	fields *Fields // of a strict table
}

// stubs makes stubs.
type stubs struct {
	meta lua.LTable // is copied into each of them
}

// newStubs makes the metatable of stubs. Reading, writing or measuring a stub fills it
// first; pairs and other functions of Go call [Materialise].
func newStubs(L *lua.LState) *stubs {
	t := L.CreateTable(0, 4)
	Set(t, "__metatable", lua.LFalse)
	setAll(L, t, map[string]lua.LGFunction{
		"__index": func(L *lua.LState) int {
			t := L.CheckTable(1)
			if v, ok := peek(t, L.Get(2)); ok {
				L.Push(v)
				return 1
			}
			Materialise(L, t)
			L.Push(L.GetTable(t, L.Get(2))) // the table may be strict
			return 1
		},
		"__newindex": func(L *lua.LState) int {
			t := L.CheckTable(1)
			Materialise(L, t)
			L.RawSet(t, L.Get(2), L.Get(3))
			return 0
		},
		"__len": func(L *lua.LState) int {
			t := L.CheckTable(1)
			Materialise(L, t)
			L.Push(lua.LNumber(t.Len()))
			return 1
		},
	})
	return &stubs{meta: *t}
}

// Peeker may be implemented by the value of a stub. It reads single fields without the table
// being filled. Peek answers as the filled table would, or not at all.
type Peeker interface {
	Peek(key string) (lua.LValue, bool)
}

// peek returns the value of a field of an untouched stub without filling it; false if
// that cannot be done: the table is no stub, or what it stands for is no Peeker or does
// not know.
func peek(t *lua.LTable, key lua.LValue) (lua.LValue, bool) {
	s, _ := markOf(t).(*stub)
	name, isString := key.(lua.LString)
	if s == nil || !isString {
		return nil, false
	}
	if p, ok := s.ref.(Peeker); ok {
		return p.Peek(string(name))
	}
	return nil, false
}

// NewStub makes a table that stands for ref. On first touch build is called,
// once, and must return a fresh table, whose contents the stub takes over. In
// Lua it cannot be told from a plain table.
func (vm *VM) NewStub(ref any, build func(L *lua.LState, ref any) *lua.LTable) *lua.LTable {
	return vm.stubs.init(new(stub), ref, build)
}

// init turns the zeroed s into a stub that stands for ref and is filled by build, and
// returns its table.
func (all *stubs) init(s *stub, ref any, build func(*lua.LState, any) *lua.LTable) *lua.LTable {
	s.ref, s.build = ref, build
	s.meta = all.meta
	s.meta.Metatable = s
	s.table.Metatable = &s.meta
	return &s.table
}

// stubChunk is how many stubs of a list share one piece of memory, which lives
// as long as any of them.
const stubChunk = 64

// NewStubList makes a list of n stubs, cheaper than one by one.
func (vm *VM) NewStubList(L *lua.LState, n int, ref func(i int) any, build func(L *lua.LState, ref any) *lua.LTable) *lua.LTable {
	var chunk []stub
	return NewList(L, n, func(i int) lua.LValue {
		if len(chunk) == 0 {
			chunk = make([]stub, min(stubChunk, n-i))
		}
		s := &chunk[0]
		chunk = chunk[1:]
		return vm.stubs.init(s, ref(i), build)
	})
}

// StubRef returns what an untouched stub stands for. It is false for every
// other table, also for a stub that has been looked at.
func StubRef(t *lua.LTable) (any, bool) {
	if s, ok := markOf(t).(*stub); ok {
		return s.ref, true
	}
	return nil, false
}

// StubOrigin returns what a table made by NewStub stood for, touched or not.
// It is lost when Lua sets a metatable.
func StubOrigin(t *lua.LTable) (any, bool) {
	switch m := markOf(t).(type) {
	case *stub:
		return m.ref, true
	case *origin:
		return m.ref, true
	}
	return nil, false
}

// Materialise fills t if it is a stub that nobody looked at yet, or a strict table with fields that
// are made ([Fields.Make]), and otherwise does nothing. Every Go function that looks into a table that Lua gave it calls this first, or
// one that does: [TableOf], [ListLen], [Strings], [UnpackTable].
func Materialise(L *lua.LState, t *lua.LTable) {
	fill(L, t)
	strictOf(t).takeAll(t)
}

// fill fills t if it is a stub.
func fill(L *lua.LState, t *lua.LTable) {
	s, ok := markOf(t).(*stub)
	if !ok {
		return
	}
	built := *s.build(L, s.ref)
	strict := strictOf(&built)
	if markOf(&built) == nil || strict != nil {
		var own lua.LTable
		if meta, ok := built.Metatable.(*lua.LTable); ok {
			own = *meta // a copy: the hash part is still that of all tables of this kind
		}
		own.Metatable = &origin{ref: s.ref, fields: strict}
		built.Metatable = &own
	}
	*t = built
}

// TableOf returns v as a table that may be looked into; false if it is none.
func TableOf(L *lua.LState, v lua.LValue) (*lua.LTable, bool) {
	t, ok := v.(*lua.LTable)
	if ok {
		Materialise(L, t)
	}
	return t, ok
}

// marker hides a mark behind a metatable that does nothing.
func marker(m mark) *lua.LTable { return &lua.LTable{Metatable: m} }

// markOf returns the Go value hidden behind a table's metatable: a *stub, *origin or
// *jsonOrigin; nil for a table that has none.
func markOf(t *lua.LTable) mark {
	if meta, ok := t.Metatable.(*lua.LTable); ok {
		m, _ := meta.Metatable.(mark)
		return m
	}
	return nil
}
