package stdlib

import (
	"context"
	"strings"
	"testing"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// eval runs Lua code with every module in a global of its name without "pi.",
// and returns its result as text, or its error.
func eval(t *testing.T, code string) string {
	t.Helper()
	vm := luavm.New(luavm.Options{})
	defer vm.Close()
	proto, err := luavm.Compile("test.lua", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	result := ""
	err = vm.Run(context.Background(), luavm.Job{Run: func(L *lua.LState) error {
		for _, name := range Names() {
			vm.SetGlobal(strings.TrimPrefix(name, "pi."), Module(name)(vm, L, &Env{}))
		}
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 1)
		result = L.Get(-1).String()
		return nil
	}})
	if err != nil {
		return err.Error()
	}
	return result
}

func TestJSON(t *testing.T) {
	cases := []struct{ code, want string }{
		{`return json.encode({ a = { 1, 2.5, "x", true } })`, `{"a":[1,2.5,"x",true]}`},
		{`return json.encode(nil)`, `null`},
		{`return json.encode({ json.null })`, `[null]`},
		{`return json.encode(json.decode('{"b":[],"a":12345678901234567890,"n":null}'))`, `{"b":[],"a":12345678901234567890,"n":null}`},
		{`local v = json.decode('{"a":{"b":[1,2]}}') v.a.b[3] = 3 return json.encode(v)`, `{"a":{"b":[1,2,3]}}`},
		{`return tostring(assert(json.decode("null")) == json.null)`, `true`},
		{`return json.decode("false") == false and "false"`, `false`},
		{`local v, err = json.decode("{") return tostring(v) .. " " .. err`, `nil decode JSON: unexpected end of JSON input`},
		{`local v, err = json.decode("") return tostring(v) .. " " .. err`, `nil decode JSON: unexpected end of JSON input`},
		{`json.encode(print)`, `test.lua:1: json.encode: a function cannot be JSON`},
		{`json.encode({ ["100%d"] = { print } })`, `test.lua:1: json.encode: at .100%d[1]: a function cannot be JSON`},
		{`json.decode({})`, `string expected, got table`},
	}
	for _, c := range cases {
		if got := eval(t, c.code); !strings.Contains(got, c.want) {
			t.Errorf("%s\ngave %s, want %s", c.code, got, c.want)
		}
	}
}

func TestModulesAreThoseThatAreNamed(t *testing.T) {
	for _, name := range Names() {
		if Module(name) == nil {
			t.Errorf("there is no module %s", name)
		}
	}
	if Module("pi.nothing") != nil {
		t.Error("a module that nobody named")
	}
}

func TestTheTourIsLua(t *testing.T) {
	if _, err := luavm.Compile("tour.lua", Tour()); err != nil {
		t.Error(err)
	}
}
