package luavm

import (
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

func TestFieldsThatAreMadeAreAsFieldsThatAreStored(t *testing.T) {
	for _, tt := range []struct{ name, code, made, want string }{
		{"nothing", `return "quiet"`, "", "quiet"},
		{"one that is read", `return t.one().name`, "one", "one"},
		{"read twice it is the same", `return tostring(t.one == t.one)`, "one", "true"},
		{"by rawget", `return tostring(rawget(t, "one") == t.one) .. tostring(rawget(t, "none"))`, "one", "truenil"},
		{"pairs", `local all = {} for k in pairs(t) do all[#all + 1] = k end table.sort(all) return table.concat(all, " ")`, "one two", "one two"},
		{"next", `return tostring(t[next(t)] ~= nil)`, "one two", "true"},
		{"rawset", `rawset(t, "one", 5) return tostring(t.one)`, "one two", "5"},
		{"one that is written first", `t.one = 5 for k, v in pairs(t) do if k == "one" then return tostring(v) end end`, "one two", "5"},
		{"one that is removed first", `t.one = nil return tostring(t.one)`, "one", "nil"},
		{"one that is removed after it was read", `local f = t.one t.one = nil return tostring(t.one)`, "one", "nil"},
		{"a new one", `t.new = 7 return tostring(t.new)`, "", "7"},
		{"one behind another table", `return setmetatable({}, { __index = t }).two().name`, "two", "two"},
		{"a live one", `return t.live .. tostring(rawget(t, "live"))`, "", "nownow"},
		{"a mistyped one", `return t.ones`, "", `the table has no field "ones", did you mean "one"?`},
		{"a new one that is read-only", `fixed.new = 1`, "", "it is fixed"},
		{"one that is read-only and stored", `fixed.one = 1 return tostring(fixed.one)`, "one", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vm := New(Options{})
			defer vm.Close()
			var made []string
			fields := func(readOnly string) *Fields {
				return &Fields{Of: "the table", ReadOnly: readOnly, Names: func() []string { return []string{"live", "one", "two"} },
					Live: func(_ *lua.LState, name string) (lua.LValue, bool, error) {
						return lua.LString("now"), name == "live", nil
					},
					Make: func(name string) lua.LValue {
						if name != "one" && name != "two" {
							return nil
						}
						made = append(made, name)
						return vm.Func(name, func(L *lua.LState) *lua.LTable {
							t := NewRecord(L, 1)
							Set(t, "name", lua.LString(name))
							return t
						})
					}}
			}
			var got string
			err := vm.Run(t.Context(), Job{Name: "test", Run: func(L *lua.LState) error {
				vm.SetGlobal("t", vm.NewTable(fields("")))
				vm.SetGlobal("fixed", vm.NewTable(fields("it is fixed")))
				proto, err := Compile("test.lua", []byte(tt.code))
				if err != nil {
					return err
				}
				L.Push(vm.NewChunk(L, proto))
				L.Call(0, 1)
				got = L.Get(-1).String()
				return nil
			}})
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) || strings.Join(made, " ") != tt.made {
				t.Errorf("%q and it made %q, want %q and %q", got, made, tt.want, tt.made)
			}
		})
	}
}
