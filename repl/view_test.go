package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	"pi/repl/terminal"
	"pi/session"
	"pi/session/message"
)

// shown is what a transcript writes for events.
func shown(colours bool, events ...agent.Event) string {
	var out bytes.Buffer
	t := &transcript{Screen: terminal.NewScreen(&out, terminal.Palette{On: colours}), showThinking: true, columns: func() int { return 80 }}
	for _, e := range events {
		t.handle(e)
	}
	return out.String()
}

func text(s string) agent.Event {
	return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Index: 1, Text: s}}
}

func nextText(s string) agent.Event {
	return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Index: 2, Text: s}}
}

func thought(s string) agent.Event {
	return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaThinking, Text: s}}
}

func begun(id, name, input string) agent.Event {
	return &agent.ToolExecutionStart{ID: id, Name: name, Input: json.RawMessage(input)}
}

func done(id, result string) agent.Event {
	return &agent.ToolExecutionEnd{ID: id, Result: agent.TextResult(result)}
}

func ends(reason message.StopReason, content ...message.Block) agent.Event {
	return &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant, StopReason: reason, Content: content}}
}

func TestTranscriptShowsWhatHappens(t *testing.T) {
	over := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant}}
	diff := agent.TextResult("Replaced 1 block")
	diff.Details = json.RawMessage(`{"diff":"--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n"}`)
	for _, c := range []struct {
		name    string
		colours bool
		events  []agent.Event
		want    string
	}{
		{"text as it comes", false, []agent.Event{text("a"), text("b\n"), text("c"), over}, "ab\nc\n"},
		{"words cut into blocks are one text", false, []agent.Event{text("a st"), nextText("ep\n"), thought(""), nextText("b"), nextText(""), over}, "a step\nb\n"},
		{"an answer that ends its line gets no empty one", false, []agent.Event{text("a\n"), over}, "a\n"},
		{"thinking is dimmed", true, []agent.Event{thought("hm"), thought("m\n"), text("yes"), over}, "\x1b[2mhm\x1b[0m\x1b[2mm\x1b[0m\nyes\n"},
		{"a character split over two steps", false, []agent.Event{text("\xc3"), text("\xa9"), over}, "é\n"},
		{"a sequence split over two steps", false, []agent.Event{text("a\x1b"), text("[31mb"), over}, "ab\n"},
		{"a call is one line", false, []agent.Event{text("so"), over, begun("1", "bash", `{"command":"ls\n -l"}`), done("1", "x\ny")},
			"so\n• bash ls -l ✓\n  x\n  y\n"},
		{"calls side by side name themselves at their end", false,
			[]agent.Event{begun("1", "ls", `{}`), begun("2", "read", `{"path":"a\u001b[2J"}`), done("1", "x"), done("2", "")},
			"• ls\n• read a\n• ls ✓\n  x\n• read a ✓\n"},
		{"a rewritten call says who did it", false,
			[]agent.Event{begun("1", "bash", `{"command":"rm x"}`), &agent.ToolCall{ID: "1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`), RewrittenBy: "guard"}, done("1", "")},
			"• bash rm x\n  guard made it: bash ls\n• bash ls ✓\n"},
		{"a change is shown as a coloured diff", true, []agent.Event{begun("1", "edit", `{"path":"f"}`), &agent.ToolExecutionEnd{ID: "1", Result: diff}},
			"\x1b[36m• edit f\x1b[0m\x1b[32m ✓\x1b[0m\n  \x1b[1m--- a\x1b[0m\n  \x1b[1m+++ b\x1b[0m\n  \x1b[36m@@ -1 +1 @@\x1b[0m\n  \x1b[31m-old\x1b[0m\n  \x1b[32m+new\x1b[0m\n   same\n"},
		{"an answer that a hook stopped says so", true,
			[]agent.Event{text("I will rm"), text(" -rf"), &agent.MessageEnd{Message: over.Message,
				Abort: &agent.Abort{By: "guard\x1b[2J", Reason: "not\nthat"}}, text("Then not."), over},
			"I will rm -rf\n\x1b[2mstopped by hook guard: not that\x1b[0m\nThen not.\n"},
		{"an answer that the model's limit ended says so", false, []agent.Event{text("a lo"), ends(message.StopLength, message.TextBlock("a lo"))},
			"a lo\nthe answer was cut off at the token limit\n"},
		{"an empty answer is told of", false, []agent.Event{thought("hm"), ends(message.StopEnd, message.TextBlock("\n"))}, "hm\nthe answer is empty\n"},
		{"one with a call is none", false, []agent.Event{ends(message.StopEnd, message.Block{Type: message.BlockToolCall, ID: "1", Name: "ls"})}, ""},
		{"nor is one that failed", false, []agent.Event{ends(message.StopError)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(c.colours, c.events...); got != c.want {
				t.Errorf("shows %q\nwant  %q", got, c.want)
			}
		})
	}
}

func TestLongResultIsFolded(t *testing.T) {
	got := shown(false, begun("1", "ls", "{}"), done("1", strings.Repeat("line\n", 100)))
	if want := "• ls ✓\n" + strings.Repeat("  line\n", foldedLines) + "  … 95 more lines\n"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
}

func TestStatusIsOneLineOfWhatMatters(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/topic/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := &llm.Model{Provider: "p", ID: "one", ContextWindow: 4000, Reasoning: true}
	s := session.New(session.Options{})
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleAssistant, Usage: &message.Usage{Input: 900, Output: 100, CacheRead: 500, Cost: message.Cost{Total: 0.0254}}}); err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Options{Session: s, Model: model, Thinking: "high", Cwd: filepath.Join(dir)})
	var st status
	if got := st.line(a, 80); strings.Contains(got, "$") {
		t.Errorf("a session that nobody went on with yet is added up: %q", got)
	}
	st.spend(0.001)
	st.set("b", "two\x1b[31m\r\n\t words\x07")
	st.set("a", "one")
	st.set("c", "gone")
	st.set("c", "")
	if got, want := st.line(a, 80), "p/one:high · 1.5k tokens (38%) · $0.025 · topic/x · one two words"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
	if got, want := st.line(a, 12), "p/one:high …"; got != want {
		t.Errorf("cut to %q, want %q", got, want)
	}
}

func paid(model string, cost float64) message.Message {
	return message.Message{Role: message.RoleAssistant, Provider: "p", Model: model, Usage: &message.Usage{Input: 1, Cost: message.Cost{Total: cost}}}
}

func TestTheCostInTheStatusIsThatOfTheSession(t *testing.T) {
	price := &llm.Price{Input: 1, Output: 1, CacheRead: -1, CacheWrite: -1}
	models := llm.NewModels(nil)
	free := &llm.Model{Provider: "p", ID: "free"}
	models.Register(llm.ProviderSpec{Name: "p", Models: llm.Listed(&llm.Model{Provider: "p", ID: "paid", Cost: price}, free)})
	for _, tt := range []struct {
		name, want string
		used       []message.Message
	}{
		{"of all that was asked", "p/free:off · 1 tokens · $0.750", []message.Message{paid("paid", 0.5), paid("paid", 0.25)}},
		{"what has no price is not in it", "p/free:off · 1 tokens · $0.500+", []message.Message{paid("paid", 0.5), paid("free", 0)}},
		{"of a new session", "p/free:off", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := session.New(session.Options{})
			for _, m := range tt.used {
				if _, err := s.AppendMessage(&m); err != nil {
					t.Fatal(err)
				}
			}
			var st status
			st.spend(0.001)
			a := agent.New(agent.Options{Session: s, Models: models, Model: free, Cwd: t.TempDir()})
			if got := st.line(a, 80); got != tt.want {
				t.Errorf("status %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBranchOfALinkedWorkTree(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"tree/.git": "gitdir: ../real/wt\n", "real/wt/HEAD": "0123456789abcdef\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := gitBranch(filepath.Join(dir, "tree")); got != "01234567" {
		t.Errorf("branch %q", got)
	}
}

func TestTranscriptIsDrawnByHooksThatWantTo(t *testing.T) {
	var out bytes.Buffer
	v := &transcript{Screen: terminal.NewScreen(&out, terminal.Palette{On: true}), renderer: drawsAll{}, columns: func() int { return 24 }}
	for _, line := range v.message(t.Context(), &message.Message{CustomType: "card"}) {
		v.Screen.Print(line)
	}
	for _, e := range []agent.Event{
		&agent.ToolExecutionStart{ID: "1", Name: "one", Input: json.RawMessage(`{}`)}, &agent.ToolExecutionEnd{ID: "1", Name: "one"},
		&agent.ToolExecutionStart{ID: "2", Name: "two", Input: json.RawMessage(`{}`)}, &agent.ToolExecutionEnd{ID: "2", Name: "two"},
	} {
		v.handle(e)
	}
	want := "card of 23\x1b[36m, which is m…\x1b[39m\x1b[0m\n" +
		"\x1b[36m• \x1b[1mone\x1b[22m\x1b[0m\x1b[0m\x1b[32m ✓\x1b[0m\n  result of one\n" +
		"\x1b[36m• two\x1b[0m\n  below\n\x1b[36m• two\x1b[0m\x1b[32m ✓\x1b[0m\n  result of two\n"
	if out.String() != want {
		t.Errorf("shows %q\nwant  %q", out.String(), want)
	}
}

// drawsAll draws everything itself.
type drawsAll struct{}

func (drawsAll) Message(_ context.Context, _ *message.Message, _ bool, width int) ([]string, bool) {
	return []string{fmt.Sprintf("card of %d\x1b[2J", width) + terminal.Palette{On: true}.Paint("accent", ", which is more than fits")}, true
}

func (drawsAll) ToolCall(name string, _ json.RawMessage, _ int) ([]string, bool) {
	if name == "one" {
		return []string{terminal.Palette{On: true}.Paint("bold", name)}, true
	}
	return []string{name, "below"}, true
}

func (drawsAll) ToolResult(name string, _ agent.Result, _ bool, _ int) ([]string, bool) {
	return []string{"result of " + name}, true
}

func TestWhatTheSummaryOfABranchCostIsSpent(t *testing.T) {
	s := session.New(session.Options{})
	e, err := s.Append(session.TypeBranchSummary, session.BranchSummary{Summary: "s", Usage: &message.Usage{Cost: message.Cost{Total: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	r := &REPL{status: new(status)}
	for _, e := range []*agent.SessionTree{{}, {SummaryEntry: e}} {
		if !r.Wants(e.Kind()) || r.Handle(t.Context(), e) != nil {
			t.Error("nobody listens")
		}
	}
	if !r.status.spent {
		t.Error("nothing is spent")
	}
}
