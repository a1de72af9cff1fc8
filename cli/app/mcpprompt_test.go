package app

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pi/agent/command"
	"pi/agent/mcp"
	"pi/session/message"
)

func TestArgumentsOfPromptsAreNamedOrInOrder(t *testing.T) {
	p := mcp.Prompt{Arguments: []mcp.PromptArgument{{Name: "a", Required: true}, {Name: "b"}, {Name: "c"}}}
	for _, c := range []struct {
		typed, failure string
		want           map[string]string
	}{
		{"", "a is missing", nil},
		{"b=1", "a is missing", nil},
		{"a=", "a is missing", nil},
		{"1", "", map[string]string{"a": "1"}},
		{"1 2 3", "", map[string]string{"a": "1", "b": "2", "c": "3"}},
		{"b=2 1 3", "", map[string]string{"a": "1", "b": "2", "c": "3"}},
		{"c=x a=y", "", map[string]string{"a": "y", "c": "x"}},
		{`"one two" 'b=3'`, "", map[string]string{"a": "one two", "b": "3"}},
		{"a=x=y", "", map[string]string{"a": "x=y"}},
		{"x=y", "", map[string]string{"a": "x=y"}},
		{"1 2 3 4", `it takes 3 arguments, and "4" is one more`, nil},
		{"a=1 a=2", "a is given twice", nil},
		{"a=1 2 3 B=4", `there is no argument "B", did you mean "b"?`, nil},
	} {
		got, err := promptValues(p, command.Words(c.typed))
		if c.failure != "" {
			if err == nil || !strings.Contains(err.Error(), c.failure) {
				t.Errorf("%s: %v, want %s", c.typed, err, c.failure)
			}
			continue
		}
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.typed, got, err, c.want)
		}
	}
	if got := missingArguments(p, "b=1 x"); !slices.Equal(got, []string{"a=", "c="}) {
		t.Errorf("%q", got)
	}
}

func TestTheMessagesOfAPromptAreOneText(t *testing.T) {
	text := func(role, text string) mcp.Message {
		return mcp.Message{Role: role, Content: []message.Block{message.TextBlock(text)}, Hidden: 1}
	}
	image := mcp.Message{Role: "user", Content: []message.Block{{Type: message.BlockImage, Data: "x"}}}
	for _, c := range []struct {
		messages []mcp.Message
		want     string
		along    int
	}{
		{nil, "", 0},
		{[]mcp.Message{text("user", "one"), image, text("user", "two")}, "one\n\ntwo", 1},
		{[]mcp.Message{text("user", "one"), text("assistant", "two"), image}, "[user]\none\n\n[assistant]\ntwo", 1},
		{[]mcp.Message{image}, "", 1},
	} {
		if got, along, _ := promptText(c.messages); got != c.want || len(along) != c.along {
			t.Errorf("%q with %d, want %q with %d", got, len(along), c.want, c.along)
		}
	}
	if got := typable("a b/c.d\u200be:f"); got != "a_b_c_d_e:f" {
		t.Errorf("%q", got)
	}
}
