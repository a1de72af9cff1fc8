package luavm

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestAViewIsReadAndNotWritten(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"a field", `return v.a .. #v.list`, "12"},
		{"one that is not there", `return tostring(v.b)`, "nil"},
		{"what is changed in one is gone", `v.list[1] = "z"; v.list[3] = "y"; return v.list[1] .. #v.list`, "x2"},
		{"pairs", `local all = ""; for k in pairs(v) do all = all .. k .. " " end; return all`, "a list "},
		{"its text", `return tostring(v)`, "pi.settings"},
		{"a field is set", `v.a = 2`, "cannot set a: pi.settings is read-only"},
		{"a new one is set", `v.new = 2`, "cannot set new: pi.settings is read-only"},
		{"its metatable", `return tostring(getmetatable(v))`, "false"},
		{"a mistyped field", `return v.lst`, `pi.settings has no field "lst", did you mean "list"?`},
	} {
		vm := New(Options{})
		var got string
		err := vm.Run(t.Context(), Job{Name: "test", Run: func(L *lua.LState) error {
			view := View{Of: "pi.settings", Names: []string{"a", "list"}, Read: func(name string) lua.LValue {
				if name == "a" {
					return lua.LNumber(1)
				}
				l := L.NewTable()
				l.Append(lua.LString("x"))
				l.Append(lua.LString("w"))
				return l
			}}
			if strings.Contains(tt.code, "lst") {
				view.Known = view.Names
			}
			vm.SetGlobal("v", vm.ViewOf(view))
			proto, err := new(Code).Compile("test.lua", []byte(tt.code))
			if err != nil {
				return err
			}
			L.Push(vm.NewChunk(L, proto))
			if err := L.PCall(0, 1, nil); err != nil {
				return err
			}
			got = L.Get(-1).String()
			raw, err := EncodeJSON(L, L.GetGlobal("v"), JSON{})
			if string(raw) != `{"a":1,"list":["x","w"]}` {
				t.Errorf("as JSON it is %s, %v", raw, err)
			}
			return nil
		}})
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		vm.Close()
	}
}
