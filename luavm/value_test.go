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

// TestValuesHaveTheFieldsThatALibraryFinds compares with gopher-luar, which gives
// Lua any Go value.
func TestValuesHaveTheFieldsThatALibraryFinds(t *testing.T) {
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
