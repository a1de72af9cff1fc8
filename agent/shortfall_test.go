package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// sized is a request to a model of about so many tokens that are sure to be sent.
func sized(tokens int, cost *llm.Price) *llm.Request {
	third := strings.Repeat("word", tokens/3)
	thought := message.Block{Type: message.BlockThinking, Text: strings.Repeat("word", 100_000)} // may not go along
	call := message.Block{Type: message.BlockToolCall, Name: "look", Arguments: []byte(`"` + third + `"`)}
	return &llm.Request{
		Model:  &llm.Model{Provider: "acme", ID: "one", API: "test", Cost: cost},
		System: third, Tools: []llm.ToolSpec{{Name: "look", Description: thought.Text}},
		Messages: []*message.Message{
			userMessage([]message.Block{message.TextBlock(third), {Type: message.BlockImage, Data: "x"}}),
			{Role: message.RoleAssistant, Content: []message.Block{thought, call}},
		},
	}
}

func TestAPromptThatTheServerCutIsToldOfOnce(t *testing.T) {
	free := &llm.Price{}
	const cut = "the server of acme/one counted 4096 tokens of a prompt of about 12"
	for _, c := range []struct {
		name string
		r    *llm.Request
		used *message.Usage
		told bool
	}{
		{"cut at the window", sized(12000, nil), &message.Usage{Input: 4096}, true},
		{"what was in the cache counts", sized(12000, free), &message.Usage{Input: 96, CacheRead: 3000, CacheWrite: 1000}, true},
		{"a price in parts", sized(12000, &llm.Price{Input: -1, Output: 2}), &message.Usage{Input: 4096}, true},
		{"counted otherwise", sized(12000, free), &message.Usage{Input: 6500}, false},
		{"half of it was in the cache", sized(12000, free), &message.Usage{Input: 6000, CacheRead: 6000}, false},
		{"the new part alone is counted", sized(12000, free), &message.Usage{Input: 300}, false},
		{"nothing is counted", sized(12000, free), nil, false},
		{"a service that takes money", sized(12000, &llm.Price{Input: 1, Output: 2}), &message.Usage{Input: 4096}, false},
		{"nothing was sent", nil, &message.Usage{Input: 4096}, false},
	} {
		l := &log{}
		f, s := &shortfall{events: listening(l)}, unsaved(t, "go")
		f.noteCut(t.Context(), s, c.r, c.used)
		f.noteCut(t.Context(), s, c.r, c.used)
		if !c.told {
			if len(l.notes) != 0 {
				t.Errorf("%s: %q", c.name, l.notes)
			}
			continue
		}
		f.noteCut(t.Context(), unsaved(t, "go"), c.r, c.used) // another session
		if len(l.notes) != 2 || !strings.HasPrefix(l.notes[0], cut) || !strings.Contains(l.notes[0], "OLLAMA_CONTEXT_LENGTH=32768") {
			t.Errorf("%s: %q", c.name, l.notes)
		}
	}
}

func TestImagesThatAreLeftOutAreToldOf(t *testing.T) {
	l := &log{}
	r := newHarness(t, Options{Listeners: []Listener{l}}, say("a"), say("b"), say("c"), say("d"), say("e"))
	show := func(text string, images ...message.Block) {
		t.Helper()
		if err := r.Prompt(t.Context(), Prompt{Text: text, Attachments: images}); err != nil {
			t.Fatal(err)
		}
	}
	show("it sees one", imageOf(t, 2, 2))
	r.SetModel(t.Context(), &llm.Model{Provider: "acme", ID: "blind", API: "test", Input: []string{"text"}}, "test")
	show("it does not")
	show("and is not told of again")
	show("but of another", imageOf(t, 3, 3))
	show("nor of that")
	notes := slices.DeleteFunc(l.notes, func(n string) bool { return !strings.Contains(n, "images") })
	want := []string{"acme/blind takes no images: the one of this conversation is left out", "acme/blind takes no images: the 2 of this conversation are left out"}
	if fmt.Sprint(notes) != fmt.Sprint(want) {
		t.Errorf("%q", notes)
	}
}
