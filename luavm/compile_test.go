package luavm

import (
	"context"
	"runtime"
	"sync"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestACompiledFunctionKeepsNothingInReserve(t *testing.T) {
	proto, err := Compile("x.lua", []byte(`
local limit = 3
local function outer(a, b)
  local function inner(c) return print(a, c, limit) end
  return inner(b) + limit
end
return outer`))
	if err != nil {
		t.Fatal(err)
	}
	functions := 0
	everyFunction(proto, func(p *lua.FunctionProto) {
		functions++
		for what, spare := range map[string]int{
			"code": cap(p.Code) - len(p.Code), "lines": cap(p.DbgSourcePositions) - len(p.DbgSourcePositions),
			"constants": cap(p.Constants) - len(p.Constants), "calls": cap(p.DbgCalls) - len(p.DbgCalls),
			"locals": cap(p.DbgLocals) - len(p.DbgLocals), "upvalues": cap(p.DbgUpvalues) - len(p.DbgUpvalues),
			"functions": cap(p.FunctionPrototypes) - len(p.FunctionPrototypes),
		} {
			if spare != 0 {
				t.Errorf("the function at line %d keeps room for %d more %s", p.LineDefined, spare, what)
			}
		}
	})
	if functions != 3 {
		t.Errorf("%d functions, want 3", functions)
	}
}

func everyFunction(p *lua.FunctionProto, f func(*lua.FunctionProto)) {
	f(p)
	for _, inner := range p.FunctionPrototypes {
		everyFunction(inner, f)
	}
}

func compiled(t *testing.T, c *Code, name, src string) *lua.FunctionProto {
	t.Helper()
	proto, err := c.Compile(name, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return proto
}

func TestAFileIsCompiledOnceForAllVMsThatHaveIt(t *testing.T) {
	var c Code
	first := compiled(t, &c, "a.lua", "return 1")
	if compiled(t, &c, "a.lua", "return 1") != first {
		t.Error("the same file was compiled twice")
	}
	for name, src := range map[string]string{"a.lua": "return 2", "b.lua": "return 1"} {
		if p := compiled(t, &c, name, src); p == first || p.SourceName != name {
			t.Errorf("%s with %q is another file", name, src)
		}
	}
	if compiled(t, new(Code), "a.lua", "return 1") == first || compiled(t, nil, "a.lua", "return 1") == first {
		t.Error("a file came from elsewhere")
	}
	for range 2 {
		if _, err := c.Compile("bad.lua", []byte("x =")); err == nil || err.Error() != "bad.lua:1: syntax error at the end of the file" {
			t.Errorf("%v", err)
		}
	}
	runtime.KeepAlive(first)
}

func TestCompiledFilesGoWithTheLastVM(t *testing.T) {
	var c Code
	vm := New(Options{})
	vm.NewChunk(vm.State(), compiled(t, &c, "kept.lua", "return 1"))
	compiled(t, &c, "dropped.lua", "return 2")
	files := func() map[string]bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		names := map[string]bool{}
		for key := range c.files {
			names[key.name] = true
		}
		return names
	}
	for files()["dropped.lua"] { // the collector calls back when it likes
		runtime.GC()
	}
	if !files()["kept.lua"] {
		t.Error("what a VM has was dropped")
	}
	vm.Close()
	vm = nil
	for len(files()) > 0 {
		runtime.GC()
	}
}

// What VMs share is only read: the race detector looks.
func TestVMsRunACompiledFileAtOnce(t *testing.T) {
	var c Code
	var all sync.WaitGroup
	for range 4 {
		h := newHook(t, Options{StrictGlobals: true})
		all.Go(func() {
			proto, err := c.Compile("shared.lua", []byte(`
local n = 0
local function add(t) for _, x in ipairs(t) do n = n + x end return n end
local ok, why = pcall(function() return add({ 1, 2, 3 }) + nil end)
assert(not ok and why:find("shared.lua:4", 1, true), why)
assert(n == 6 and not pcall(function() addd() end))`))
			if err != nil {
				t.Error(err)
				return
			}
			if err := h.Run(context.Background(), Job{Name: "load", Loading: true, Run: func(L *lua.LState) error {
				L.Push(h.NewChunk(L, proto))
				L.Call(0, 0)
				return nil
			}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
