package luavm

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
)

// roundTrip decodes raw into the global v, runs source, and encodes v.
func roundTrip(t testing.TB, raw, source string, conv JSON) (string, error) {
	t.Helper()
	h := newHook(t, Options{})
	v, err := h.DecodeJSON(json.RawMessage(raw), conv)
	if err != nil {
		t.Fatal(err)
	}
	h.SetGlobal("v", v)
	h.SetGlobal("null", Null)
	h.must(t, source)
	out, err := EncodeJSON(h.State(), h.State().G.Global.RawGetString("v"), conv)
	return string(out), err
}

func TestDecodedJSONGoesBackAsItCameExceptWhereChanged(t *testing.T) {
	for _, c := range []struct{ name, raw, source, want string }{
		{"untouched keeps spaces", `{ "a" : [ 1.0 , 2e3 ] }`, ``, `{ "a" : [ 1.0 , 2e3 ] }`},
		{"read keeps bytes", `{ "a" : [ 1.0 , {"b": null} ] }`, `assert(v.a[1] == 1 and v.a[2].b == nil and #v.a == 2)`, `{ "a" : [ 1.0 , {"b": null} ] }`},
		{"sibling of a change", `{"big":12345678901234567890,"x":1,"n":null}`, `v.x = 2`, `{"big":12345678901234567890,"x":2,"n":null}`},
		{"new key last", `{"b":1,"a":2}`, `v.c = "x"`, `{"b":1,"a":2,"c":"x"}`},
		{"removed key", `{"b":1,"a":2}`, `v.b = nil`, `{"a":2}`},
		{"null filled", `{"a":null}`, `v.a = 1`, `{"a":1}`},
		{"empty array", `{"a":[]}`, `assert(#v.a == 0) v.x = 1`, `{"a":[],"x":1}`},
		{"empty array read only", `[]`, `for _ in ipairs(v) do end`, `[]`},
		{"empty object", `{"a":{}}`, `assert(next(v.a) == nil)`, `{"a":{}}`},
		{"array grown", `[]`, `v[#v+1] = {}; table.insert(v, "s")`, `[{},"s"]`},
		{"array element changed", `[1.50, 2.50, [3.50]]`, `v[2] = true`, `[1.50,true,[3.50]]`},
		{"deep change", `{"a":{"b":[{"c":1.0},{"c":2.0}]},"z":1e2}`, `v.a.b[2].c = 3`, `{"a":{"b":[{"c":1.0},{"c":3}]},"z":1e2}`},
		{"null in list", `[1,null,3]`, `assert(v[2] == null and #v == 3) v[1] = 0`, `[0,null,3]`},
		{"equal keys", `{"a":1,"a":2}`, `assert(v.a == 2) v.b = 3`, `{"a":2,"b":3}`},
		{"object becomes list", `{"a":1}`, `v.a = nil; v[1] = 2`, `[2]`},
		{"list emptied", `[1]`, `table.remove(v)`, `[]`},
		{"list becomes object", `[1]`, `v[1] = nil; v.k = 2`, `{"k":2}`},
		{"string", `"\u00e9\n"`, `assert(v == "\195\169\n")`, `"é\n"`},
		{"number", `1e2`, `assert(v == 100)`, `100`},
		{"null alone", `null`, `assert(v == nil)`, `null`},
		{"copied subtree keeps bytes", `{"a":{"n":1.0}}`, `v = { copy = v.a }`, `{"copy":{"n":1.0}}`},
		{"pairs sees all", `{"x":1,"y":[2]}`, `local s = "" for k in pairs(v) do s = s .. k end assert(s == "xy")`, `{"x":1,"y":[2]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := roundTrip(t, c.raw, c.source, JSON{})
			if err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestLuaValuesBecomeJSON(t *testing.T) {
	for _, c := range []struct{ source, want, err string }{
		{`v = {}`, `{}`, ""},
		{`v = { {}, {1}, "a" }`, `[{},[1],"a"]`, ""},
		{`v = { z = 1, a = 2, m = 3 }`, `{"z":1,"a":2,"m":3}`, ""},
		{`v = { x = 2^53, y = -2^60, f = 0.1, neg = -3 }`, `{"x":9007199254740992,"y":-1152921504606847000,"f":0.1,"neg":-3}`, ""},
		{`v = "q\"\\\1\255ü\t"`, `"q\"\\\u0001` + "\ufffd" + `ü\t"`, ""},
		{`v = { a = { 1, { run = print } } }`, "", `at .a[2].run: a function cannot be JSON`},
		{`v = { a = 0/0 }`, "", `at .a: not a number`},
		{`v = { 1/0 }`, "", `at [1]: infinity`},
		{`v = { 1, x = 2 }`, "", `a table has list entries and the key "x"`},
		{`v = { a = { [3] = 1 } }`, "", `at .a: a list has no entry 1 but has an entry 3`},
		{`v = { [true] = 1 }`, "", `a boolean cannot be a key`},
		{`v = {} v.self = { v }`, "", `at .self[1]: the table contains itself`},
		{`v = {} for i = 1, 300 do v = { v } end`, "", `nested more than 256 deep`},
		{`v = {} for i = 1, 3 do v[i] = ("x"):rep(40*2^20) end`, "", `larger than 64 MiB`},
		{`v = coroutine.create(print)`, "", `a thread cannot be JSON`},
		{`local shared = {1} v = { shared, shared }`, `[[1],[1]]`, ""},
	} {
		got, err := roundTrip(t, "0", c.source, JSON{})
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s\ngot %s, %v; want %s", c.source, got, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s\ngot %s, %v; want error %s", c.source, got, err, c.err)
		case got != "" && !json.Valid([]byte(got)):
			t.Errorf("%s\nnot JSON: %s", c.source, got)
		}
	}
}

func TestKeysAreRenamedBothWays(t *testing.T) {
	conv := JSON{
		ToLua:  func(k string) string { return strings.ReplaceAll(k, "oldText", "old_text") },
		ToWire: func(k string) string { return strings.ReplaceAll(k, "new_text", "newText") },
	}
	got, err := roundTrip(t, `{"edits":[{"oldText":"a"}],"odd_key":1}`, `
assert(v.edits[1].old_text == "a" and v.edits[1].oldText == nil)
v.edits[1].new_text = "b"`, conv)
	if want := `{"edits":[{"oldText":"a","newText":"b"}],"odd_key":1}`; got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

// What was renamed on the way in has the names of Lua where nothing is renamed on
// the way out, whether it was looked at or not.
func TestKeysThatWereRenamedKeepTheNamesOfLuaElsewhere(t *testing.T) {
	conv := JSON{ToLua: strings.ToLower, ToWire: strings.ToUpper}
	for _, source := range []string{``, `assert(v.a[1].b == 1)`, `v.a[1].c = nil`, `w = { v = v }`} {
		h := newHook(t, Options{})
		v, err := h.DecodeJSON(json.RawMessage(`{"A":[{"B":1, "N":null}], "E":[]}`), conv)
		if err != nil {
			t.Fatal(err)
		}
		h.SetGlobal("v", v)
		h.SetGlobal("w", lua.LNil)
		h.must(t, source)
		got, err := EncodeJSON(h.State(), h.State().G.Global.RawGetString("v"), JSON{})
		if want := `{"a":[{"b":1,"n":null}],"e":[]}`; string(got) != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", source, got, err, want)
		}
		if got, err = EncodeJSON(h.State(), h.State().G.Global.RawGetString("v"), conv); string(got) != `{"A":[{"B":1, "N":null}], "E":[]}` || err != nil {
			t.Errorf("%s: back it is %s, %v", source, got, err)
		}
	}
}

func TestAFieldCanBeMadeNull(t *testing.T) {
	got, err := roundTrip(t, `{"a":null,"b":1}`, `assert(v.a == nil) v.b = null`, JSON{})
	if want := `{"a":null,"b":null}`; got != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestAnEmptyTableCanBeMarkedAsList(t *testing.T) {
	h := newHook(t, Options{})
	list := h.State().NewTable()
	MarkList(list)
	h.SetGlobal("v", list)
	h.must(t, `assert(getmetatable(v) == false and #v == 0)`)
	if out, err := EncodeJSON(h.State(), list, JSON{}); string(out) != "[]" || err != nil {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestInvalidJSONIsRefused(t *testing.T) {
	h := newHook(t, Options{})
	for _, raw := range []string{"", "{", `{"a"}`, "[1,]", "nul", "1 2", "\x00"} {
		if v, err := h.DecodeJSON(json.RawMessage(raw), JSON{}); err == nil {
			t.Errorf("%q was taken as %v", raw, v)
		}
	}
}

// touchAll looks at everything, as a script that reads all of it would.
func touchAll(L *lua.LState, v lua.LValue) {
	if t, ok := v.(*lua.LTable); ok {
		Materialise(L, t)
		t.ForEach(func(_, e lua.LValue) { touchAll(L, e) })
	}
}

// strip rebuilds a value without what it remembers of its text.
func strip(L *lua.LState, v lua.LValue) lua.LValue {
	t, ok := v.(*lua.LTable)
	if !ok {
		return v
	}
	Materialise(L, t)
	copied := L.NewTable()
	if o, ok := markOf(t).(*jsonOrigin); ok && o.array {
		MarkList(copied)
	}
	for k, e := t.Next(lua.LNil); k != lua.LNil; k, e = t.Next(k) {
		copied.RawSet(k, strip(L, e))
	}
	return copied
}

func FuzzJSONSurvivesLua(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],"c":"x\"y"}`, `[]`, `{}`, ` [ 1 , "é\ud83d\ude00" , true ] `, `{"a":1,"a":{"b":2}}`,
		`{"":""}`, `[[[[]]]]`, `"\\"`, `-0.0`, `1e400`, `{"k":"\u0000"}`, `["\ud800"]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := newHook(t, Options{})
		v, err := h.DecodeJSON(raw, JSON{})
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil {
			return
		}
		L := h.State()
		touchAll(L, v)
		if _, isTable := v.(*lua.LTable); isTable {
			out, err := EncodeJSON(L, v, JSON{})
			if err == nil && !bytes.Equal(out, bytes.TrimSpace(raw)) {
				t.Errorf("%q came back as %q", raw, out)
			}
		}
		out, err := EncodeJSON(L, strip(L, v), JSON{})
		if err != nil {
			return // too deep or out of range
		}
		var want, got any
		_ = json.Unmarshal(raw, &want)
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(withoutNullFields(want), got) {
			t.Errorf("%q became %q: %v", raw, out, err)
		}
	})
}

// withoutNullFields is v as Lua has it: a field that is nil is none.
func withoutNullFields(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNullFields(v[i])
		}
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				v[k] = withoutNullFields(e)
			}
		}
	}
	return v
}
