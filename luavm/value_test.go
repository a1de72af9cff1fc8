package luavm

import (
	"testing"

	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"
)

type base struct{ Kind, Hidden string }

type withFields struct {
	base
	*price
	Name      string
	MaxTokens int
	Hidden    int    // stands before that of base
	Odd       bool   `lua:"strange"`
	Gone      string `lua:"-"`
	private   string
}

// Names aside, a field is what gopher-luar makes of it by itself.
func TestValuesHaveTheFieldsThatTheLibraryFinds(t *testing.T) {
	v := withFields{base: base{"k", "below"}, price: &price{1, 2}, Name: "n", MaxTokens: 3, Hidden: 4, Odd: true, Gone: "g", private: "p"}
	h := newHook(t, Options{})
	h.SetGlobal("ours", h.Value(v))
	L := lua.NewState()
	defer L.Close()
	L.SetGlobal("theirs", luar.New(L, v))
	for snake, camel := range map[string]string{
		"kind": "Kind", "input": "Input", "output": "Output", "name": "Name", "max_tokens": "MaxTokens", "hidden": "Hidden", "strange": "Odd",
	} {
		if err := L.DoString("value = tostring(theirs." + camel + ")"); err != nil {
			t.Fatal(err)
		}
		h.SetGlobal("want", L.GetGlobal("value"))
		h.must(t, "assert(tostring(ours."+snake+") == want, \""+snake+" is \" .. tostring(ours."+snake+") .. \", not \" .. want)")
	}
	h.must(t, `assert(ours[1] == nil)
for _, name in ipairs{ "gone", "private", "Name", "none" } do
	local ok, why = pcall(function() return ours[name] end)
	assert(not ok and why:find("this value has no field", 1, true), name)
end`)
}

func TestValuesAreEqualIfTheirFieldsAre(t *testing.T) {
	h := newHook(t, Options{})
	h.SetGlobal("a", h.Value(model{ID: "i", Input: []string{"text"}}))
	h.SetGlobal("b", h.Value(model{ID: "i", Input: []string{"text"}}))
	h.SetGlobal("c", h.Value(model{ID: "j", Input: []string{"text"}}))
	h.SetGlobal("d", h.Value(price{}))
	h.must(t, `assert(a == b and a ~= c and a ~= d and tostring(a) == "read-only value")`)
}

func TestAnEmbeddedStructThatIsNotThereHasNoFields(t *testing.T) {
	h := newHook(t, Options{})
	h.SetGlobal("v", h.Value(withFields{Name: "n"}))
	h.must(t, `assert(v.name == "n" and v.input == nil)`)
}

// What gopher-luar would do otherwise: nil for a name that is not there, methods,
// lists without ipairs and maps that can be written to.
func TestValuesAreStricterThanTheLibrary(t *testing.T) {
	type inner struct{ MaxTokens int }
	type outer struct {
		Name   Loud
		Levels []string
		Deep   []inner
		Prices map[string]float64
		Inner  *inner
		Price  *float64
		Bytes  []byte
		Run    func()
		None   *float64
	}
	price := 0.5
	v := outer{Name: "n", Levels: []string{"low", "high"}, Deep: []inner{{1}, {2}}, Prices: map[string]float64{"in": 1}, Inner: &inner{3}, Price: &price, Bytes: []byte("b"), Run: func() {}}
	h := newHook(t, Options{})
	h.SetGlobal("v", h.Value(&v))
	h.SetGlobal("loud", h.Value(struct{ Loud }{"l"}))
	h.must(t, `
assert(v.name == "n" and v.price == 0.5 and v.bytes == "b" and v.run == nil and v.none == nil)
local seen = {}
for i, level in ipairs(v.levels) do seen[i] = level end
assert(table.concat(seen, " ") == "low high" and #v.levels == 2)
v.levels[1] = "changed" v.prices.out = 2
assert(v.levels[1] == "low" and v.prices["in"] == 1 and v.prices.out == nil)
assert(v.deep[2].max_tokens == 2 and v.inner.max_tokens == 3 and v.inner == v.inner)
assert(tostring(loud) == "read-only value")`)
	for source, want := range map[string]string{
		"x = v.nmae":               `this value has no field "nmae", did you mean "name"?`,
		"x = v.inner.maxTokens":    `this value has no field "maxTokens", did you mean "max_tokens"?`,
		"x = v.inner.zzz":          `this value has no field "zzz"; it has max_tokens`,
		"x = loud.shout":           `this value has no field "shout"; it has loud`,
		"x = loud.String":          `this value has no field "String"; it has loud`,
		`v.inner.max_tokens = 4`:   "cannot set max_tokens: this value is read-only",
		`v.deep[1].max_tokens = 4`: "cannot set max_tokens: this value is read-only",
		"x = -v":                   "",
		"x = v ^ v.inner":          "",
		"x = v()":                  "",
	} {
		if e := h.failure(t, source); want != "" && e.Message != want {
			t.Errorf("%s: got %v, want %s", source, e, want)
		}
	}
	if v.Levels[0] != "low" || len(v.Prices) != 1 || v.Inner.MaxTokens != 3 {
		t.Errorf("Lua changed what it was given: %+v", v)
	}
}

func TestPairsAndJSONTakeAValueAsATable(t *testing.T) {
	h := newHook(t, Options{})
	h.SetGlobal("v", h.Value(withFields{base: base{"k", "below"}, Name: "n", MaxTokens: 3}))
	h.must(t, `
local t = {}
for k, x in pairs(v) do t[#t + 1] = k .. "=" .. tostring(x) end
assert(table.concat(t, " ") == "kind=k name=n max_tokens=3 hidden=0 strange=false", table.concat(t, " "))
for _, f in ipairs{ ipairs, next, rawset, rawget } do assert(not pcall(f, v, "name", 1)) end`)
	got, err := EncodeJSON(h.State(), h.Value(model{ID: "i", Input: []string{"text"}, Cost: price{1, 2}}), JSON{})
	const want = `{"provider":"","id":"i","max_tokens":0,"reasoning":false,"input":["text"],"cost":{"input":1,"output":2},"odd":""}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// What the library would hand out as it is could be written to: each is a table, a string,
// nil or a value of ours.
func TestNothingInsideAValueCanBeWrittenTo(t *testing.T) {
	type inner struct{ N int }
	type Embedded struct{ Deep inner }
	name, list := "n", []string{"a"}
	v := struct {
		Embedded
		List    []string
		Pair    [2]int
		Map     map[string]int
		Inner   inner
		Pointer *inner
		Name    *string
		Lists   *[]string
		Any     any
		Nothing any
		Channel chan int
		Run     func()
		Complex complex128
	}{List: list, Map: map[string]int{"a": 1}, Pointer: &inner{1}, Name: &name, Lists: &list, Any: list, Channel: make(chan int), Run: func() {}}
	h := newHook(t, Options{})
	h.SetGlobal("v", h.Value(v))
	h.must(t, `
local want = { embedded = "userdata", deep = "userdata", list = "table", pair = "table", map = "table", inner = "userdata",
	pointer = "userdata", name = "string", lists = "table", any = "table", nothing = "nil", channel = "nil", run = "nil", complex = "nil" }
for field, kind in pairs(want) do
	local value = v[field]
	assert(type(value) == kind, field .. " is a " .. type(value))
	if kind == "userdata" then
		assert(tostring(value) == "read-only value" and not pcall(function() value.n = 2 end), field)
	elseif kind == "table" then
		value[1], value.a = "changed", 2
		assert(v[field][1] ~= "changed" and v[field].a ~= 2, field)
	end
end
assert(v.deep.n == 0 and v.embedded.deep.n == 0 and v.pair[2] == 0 and v.name == "n")`)
	if list[0] != "a" || v.Map["a"] != 1 {
		t.Errorf("Lua changed what it was given: %v", v)
	}
}

type Loud string

func (l Loud) String() string { return "LOUD" }

func (l *Loud) Shout() { *l += "!" }
