package luavm

import (
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
