package repl

import (
	"encoding/json"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestWhatWasCutOffIsNamed(t *testing.T) {
	user := func(text string) message.Message {
		return message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}
	}
	says := func(text string, stop message.StopReason) message.Message {
		return message.Message{Role: message.RoleAssistant, StopReason: stop, Content: []message.Block{message.TextBlock(text)}}
	}
	call := message.Message{Role: message.RoleAssistant, StopReason: message.StopToolUse, Content: []message.Block{message.TextBlock("I look."),
		{Type: message.BlockToolCall, ID: "1", Name: "bash", Arguments: json.RawMessage(`{"command":"sleep 60"}`)},
		{Type: message.BlockToolCall, ID: "2", Name: "ls", Arguments: json.RawMessage(`{}`)}}}
	result := func(id, text string, failed bool) message.Message {
		return message.Message{Role: message.RoleToolResult, ToolCallID: id, IsError: failed, Content: []message.Block{message.TextBlock(text)}}
	}
	failed := says("", message.StopError)
	failed.ErrorMessage = "acme: HTTP 529\nOverloaded"
	for _, c := range []struct {
		name     string
		messages []message.Message
		answer   string
		cut      string
	}{
		{"nothing", []message.Message{user("old"), says("old answer", message.StopEnd), user("hi"), says("one", message.StopEnd)}, "one", ""},
		{"a prompt", []message.Message{says("old answer", message.StopEnd), user("hi")}, "", `the prompt has no answer; say "go on" to have one`},
		{"an answer", []message.Message{user("hi"), says("I beg", message.StopAborted)}, "I beg", "the answer was interrupted"},
		{"a request", []message.Message{user("hi"), failed}, "", "the request failed: acme: HTTP 529 Overloaded"},
		{"calls", []message.Message{user("hi"), call}, "I look.",
			"bash sleep 60 had not ended when the program did; the model is told so|ls had not ended when the program did; the model is told so"},
		{"one of two calls", []message.Message{user("hi"), call, result("2", "a", false)}, "I look.", "bash sleep 60 had not ended when the program did; the model is told so"},
		{"a call that was stopped", []message.Message{user("hi"), call, result("1", "interrupted", true), result("2", "a", false)}, "I look.", "bash sleep 60 was interrupted"},
		{"none, for the model went on", []message.Message{user("hi"), call, result("1", "interrupted", true), result("2", "a", false), says("Well.", message.StopEnd)}, "Well.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := session.New(session.Options{})
			for _, m := range c.messages {
				if _, err := s.AppendMessage(&m); err != nil {
					t.Fatal(err)
				}
			}
			branch := s.Branch()
			x := exchangeOf(branch[lastPrompt(branch):])
			if got := strings.Join(x.cutOff(), "|"); x.prompt != "hi" || x.answer != c.answer || got != c.cut {
				t.Errorf("prompt %q, answer %q, cut off %q", x.prompt, x.answer, got)
			}
		})
	}
	if at := lastPrompt(nil); at != -1 {
		t.Errorf("an empty session has a prompt at %d", at)
	}
}

func TestThePromptOfALastExchangeIsOneRow(t *testing.T) {
	x := newStage(20)
	for text, want := range map[string]string{
		"hello":                  "> hello",
		"\nhello\x1b[2J\tyou\n":  "> hello    you",
		"first\nsecond":          "> first …",
		strings.Repeat("ab", 20): "> ababababababababa…",
	} {
		if got := x.promptRow(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if x.plain = true; x.promptRow("hello") != "you: hello" {
		t.Errorf("plain: %q", x.promptRow("hello"))
	}
}
