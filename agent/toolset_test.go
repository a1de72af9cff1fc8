package agent

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestUnresolvedSchemaIsWarnedAboutOnce(t *testing.T) {
	l := &log{}
	odd := echo("odd")
	odd.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"s":{"type":"string","pattern":"(?!x)"}}}`)
	r := newHarness(t, Options{Tools: []Tool{odd}, Listeners: []Listener{l}})
	for range 3 {
		if got := r.CallTool(t.Context(), "odd", input(`{"s":"x"}`)); got.IsError {
			t.Errorf("%+v", got)
		}
	}
	if want := []string{"tool odd: its schema does not resolve; ignoring /properties/s/pattern"}; !reflect.DeepEqual(l.notes, want) {
		t.Errorf("notices %q", l.notes)
	}
}

func TestReplacedToolIsCheckedByItsOwnSchema(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}})
	if got := r.CallTool(t.Context(), "look", input(`{"s":"x"}`)); !got.IsError {
		t.Error("an unknown property passes")
	}
	other := echo("look")
	other.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"s":{"type":"string"}}}`)
	r.SetTools([]Tool{other}, "")
	if got := r.CallTool(t.Context(), "look", input(`{"s":"x"}`)); got.IsError {
		t.Errorf("%+v", got)
	}
}

func TestToolReplacedWhileItsSchemaIsReadIsCheckedByItsOwn(t *testing.T) {
	var r *harness
	odd := echo("look")
	odd.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"s":{"pattern":"("}}}`)
	r = newHarness(t, Options{Tools: []Tool{odd}, Listeners: []Listener{on(func(*Notice) { r.SetTools([]Tool{echo("look")}, "") })}})
	r.CallTool(t.Context(), "look", nil)
	if got := r.CallTool(t.Context(), "look", input(`{"s":"x"}`)); !got.IsError {
		t.Error("the schema of the tool that is gone was used")
	}
}

func TestAToolsetKnowsWhoChoseItsTools(t *testing.T) {
	var s toolset
	s.set([]Tool{echo("look"), echo("touch")}, "hook")
	if tools, by := s.toolsAndChooser(); len(tools) != 2 || by != "hook" || s.tool("touch") != tools[1] || s.tool("taste") != nil {
		t.Errorf("%v by %q", s.names(), by)
	}
	first, err := s.checker(s.tool("look"), func(text string) { t.Error(text) })
	if again, _ := s.checker(s.tool("look"), nil); err != nil || first != again {
		t.Errorf("a checker is made twice: %v", err)
	}
}
