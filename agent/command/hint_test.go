package command

import (
	"errors"
	"fmt"
	"testing"

	"pi/agent/llm"
)

func TestTheOutermostErrorThatKnowsOneSaysTheNextStep(t *testing.T) {
	provider := &llm.ProviderError{Provider: "acme", NextStep: "check the key"}
	unknown := &UnknownError{Name: "nwe", Nearest: []string{"new"}}
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"none":              {errors.New("x"), ""},
		"nil":               {nil, ""},
		"of the call":       {fmt.Errorf("ask: %w", provider), "check the key"},
		"of the command":    {unknown, "did you mean /new? /help lists the commands"},
		"the outermost":     {outer{provider}, "look outside"},
		"one of two joined": {errors.Join(errors.New("x"), provider), "check the key"},
	} {
		if got := HintOf(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

type outer struct{ error }

func (o outer) Unwrap() error { return o.error }

func (outer) Hint() string { return "look outside" }
