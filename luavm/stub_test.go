package luavm

import (
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestAStubIsFilledOnceAndKeepsItsIdentity(t *testing.T) {
	L := lua.NewState()
	defer L.Close()
	built := 0
	stub := newStubs(L).init(new(stub), "ref", func(L *lua.LState, ref any) *lua.LTable {
		built++
		t := L.NewTable()
		t.RawSetString("name", lua.LString(ref.(string)))
		return t
	})
	if ref, ok := StubRef(stub); !ok || ref != "ref" || built != 0 {
		t.Errorf("untouched: %v, built %d times", ref, built)
	}
	L.SetGlobal("stub", stub)
	if err := L.DoString(`assert(stub.name == "ref" and stub.name == "ref") stub.more = 1`); err != nil || built != 1 {
		t.Errorf("%v, built %d times", err, built)
	}
	if _, ok := StubRef(stub); ok {
		t.Error("it was touched")
	}
	if ref, ok := StubOrigin(stub); !ok || ref != "ref" {
		t.Errorf("origin: %v", ref)
	}
}
