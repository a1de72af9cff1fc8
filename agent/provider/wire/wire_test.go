package wire_test

import (
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
)

func TestEachRowIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, api := range wire.APIs() {
		if seen[api.Name] || api.New == nil || api.CheckCompat == nil {
			t.Errorf("%q is there twice, or lacks a function", api.Name)
		}
		seen[api.Name] = true
		if api.CheckCompat(map[string]any{"?": true}) == nil {
			t.Errorf("%s has a switch that nobody has", api.Name)
		}
		if maker, known := catalogue.Find(api.Maker); !known || maker.Name != api.Maker || len(catalogue.Models(api.Maker)) == 0 {
			t.Errorf("%s is of %q, which the catalogue does not know", api.Name, api.Maker)
		}
	}
}

func TestAnAPIIsFoundByItsNameAlone(t *testing.T) {
	if api, ok := wire.Find(llm.OpenAIResponses); !ok || api.Name != llm.OpenAIResponses {
		t.Errorf("found %q", api.Name)
	}
	for _, name := range []string{"", "lua", "openai", "OPENAI-RESPONSES"} {
		if api, ok := wire.Find(name); ok {
			t.Errorf("%q is %q", name, api.Name)
		}
	}
}
