package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// Growing returns what the requests of one conversation send, each longer than
// the one before: prompts, thoughts, calls with ids of all kinds, results in
// parallel, images, steering, and answers of another model among those of m. The
// same seed gives the same conversation.
func Growing(seed uint64, m *llm.Model, requests int) [][]*message.Message {
	g := &grower{r: rand.New(rand.NewPCG(seed, 1)), model: m}
	g.prompt()
	var all [][]*message.Message
	for len(all) < requests {
		all = append(all, append([]*message.Message{}, g.messages...))
		if g.answer(); g.open == nil || g.r.IntN(4) == 0 {
			g.results()
			g.prompt()
		}
		g.results()
	}
	return all
}

type grower struct {
	r        *rand.Rand
	model    *llm.Model
	messages []*message.Message
	open     []string // calls without a result
}

func (g *grower) words() string {
	return strings.Repeat(fmt.Sprintf("<w%d> & é\n", g.r.IntN(100)), 1+g.r.IntN(3))
}

// shown is content of a user or a tool: a text and, by chance, an image.
func (g *grower) shown() []message.Block {
	blocks := []message.Block{message.TextBlock(g.words())}
	if g.r.IntN(5) == 0 {
		blocks = append(blocks, message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"})
	}
	return blocks
}

// prompt adds a message of the user.
func (g *grower) prompt() {
	g.messages = append(g.messages, &message.Message{Role: message.RoleUser, Content: g.shown()})
}

// answer adds an answer with a thought, text and calls, each by chance; a fourth of the
// answers is of another model.
func (g *grower) answer() {
	m := &message.Message{Role: message.RoleAssistant, API: g.model.API, Provider: g.model.Provider, Model: g.model.ID}
	if g.r.IntN(4) == 0 {
		m.API, m.Provider, m.Model = "another", "another", "another"
	}
	if g.r.IntN(2) == 0 {
		m.Content = append(m.Content, message.Block{Type: message.BlockThinking, Text: g.words(), Signature: []string{"reasoning_content", "c2ln", ""}[g.r.IntN(3)]})
	}
	calls := g.r.IntN(4)
	if calls == 0 || g.r.IntN(2) == 0 {
		m.Content = append(m.Content, message.TextBlock(g.words()))
	}
	for range calls {
		id := []string{"functions.read:0", "call_0", "", "toolu_" + fmt.Sprint(g.r.IntN(1000)), strings.Repeat("x", 450)}[g.r.IntN(5)]
		m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(`{"path":"a<b"}`)})
		g.open = append(g.open, id)
	}
	g.messages = append(g.messages, m)
}

// results adds the results of the open calls.
func (g *grower) results() {
	for _, id := range g.open {
		content := g.shown()[g.r.IntN(2):]
		g.messages = append(g.messages, &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", Content: content, IsError: g.r.IntN(4) == 0})
	}
	g.open = nil
}

// Grows holds for many conversations with a model that each request is one that a
// strict server takes, that it is the same bytes each time it is written, and that
// it goes on as the one before began. more holds what else there is to hold of both.
func Grows(t *testing.T, m *llm.Model, check func([]byte) error, encode func(*llm.Request) []byte, more func(before, body []byte)) {
	t.Helper()
	tools := []llm.ToolSpec{{Name: "read", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	for seed := range uint64(20) {
		var before []byte
		for _, messages := range Growing(seed, m, 10) {
			r := &llm.Request{Model: m, System: "s", Tools: tools, Messages: messages, Thinking: "low", SessionID: "s1"}
			body := encode(r)
			if again := encode(r); !bytes.Equal(again, body) {
				t.Fatalf("%s, seed %d: the same request twice:\n%s\n%s", m.ID, seed, body, again)
			}
			if err := check(body); err != nil {
				t.Fatalf("%s, seed %d: %v", m.ID, seed, err)
			}
			if before != nil {
				Continues(t, before, body)
				more(before, body)
			}
			before = body
		}
	}
}

// Continues holds the rule that keeps provider caches warm, byte for byte: what
// a request says of the conversation, without cache markers, is the beginning of
// what a later one says.
func Continues(t *testing.T, first, second []byte) {
	t.Helper()
	a, b := fields(t, first), fields(t, second)
	list := conversationField(a)
	before, after := a[list], b[list]
	if len(before) < 3 {
		t.Fatalf("no %s in %s", list, first)
	}
	// The last message may have got more content, or be followed by another.
	if !bytes.HasPrefix(after, bytes.TrimSuffix(before, []byte("]"))) && !bytes.HasPrefix(after, bytes.TrimSuffix(before, []byte("]}]"))) {
		t.Fatalf("%s changed:\n%s\n%s", list, before, after)
	}
}
