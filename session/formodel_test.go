package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/session/message"
)

// script makes a context: "u hello", "a text c1,c2" (with calls), "A" the same
// but aborted, "E" failed, "r c1" a result, "x cmd" and "X cmd" commands (the
// second excluded), "m" a hook's message, "S" system, "b" and "C" summaries.
func script(lines ...string) []Item {
	var items []Item
	for i, l := range lines {
		kind, arg, _ := strings.Cut(l, " ")
		m := &message.Message{Timestamp: int64(i)}
		switch kind {
		case "u":
			m.Role, m.Content = message.RoleUser, []message.Block{message.TextBlock(arg)}
		case "a", "A", "E":
			m.Role, m.StopReason = message.RoleAssistant, map[string]message.StopReason{"a": message.StopEnd, "A": message.StopAborted, "E": message.StopError}[kind]
			text, calls, _ := strings.Cut(arg, " ")
			m.Content = []message.Block{message.TextBlock(text)}
			for _, id := range strings.FieldsFunc(calls, func(r rune) bool { return r == ',' }) {
				m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: id, Name: "tool", Arguments: json.RawMessage("{}")})
			}
		case "r":
			m.Role, m.ToolCallID, m.Content = message.RoleToolResult, arg, []message.Block{message.TextBlock("result")}
		case "x", "X":
			m.Role, m.Command, m.Output, m.ExcludeFromContext = message.RoleBashExecution, arg, "printed\n", kind == "X"
		case "m":
			m.Role, m.Content, m.CustomType = message.RoleCustom, []message.Block{message.TextBlock(arg)}, "h"
		case "S":
			m.Role, m.Content = message.RoleSystem, []message.Block{message.TextBlock(arg)}
		case "C":
			m.Role, m.Summary = message.RoleCompactionSummary, arg
		case "b":
			m.Role, m.Summary = message.RoleBranchSummary, arg
		default:
			m.Role, m.Content = message.Role(kind), []message.Block{message.TextBlock(arg)}
		}
		items = append(items, Item{Message: m, Index: -1})
	}
	return items
}

// sent abbreviates what ForModel gives.
func sent(ms []*message.Message) string {
	var out []string
	for _, m := range ms {
		word := map[message.Role]string{message.RoleUser: "u:", message.RoleAssistant: "a:", message.RoleToolResult: "r:"}[m.Role]
		switch {
		case m.Role == message.RoleToolResult && m.IsError:
			word += m.ToolCallID + "!" + m.Text()
		case m.Role == message.RoleToolResult:
			word += m.ToolCallID
		default:
			word += m.Text()
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// afterBegin takes off the message that a conversation without a prompt begins
// with.
func afterBegin(ms []*message.Message) []*message.Message {
	if len(ms) > 0 && ms[0].Text() == beginText {
		return ms[1:]
	}
	return ms
}

func TestWhatIsSentBeginsWithAUserMessage(t *testing.T) {
	for _, c := range []struct {
		items []Item
		want  string
	}{
		{script("a t c1", "r c1", "u n"), "u:" + beginText + " a:t r:c1 u:n"},
		{script("S sys", "E no", "r c0", "X secret", "a t"), "u:" + beginText + " a:t"},
		{script("x ls", "a t"), "u:The user ran a shell command:\n$ ls\n<output>\nprinted\n</output> a:t"},
		{script("C sum", "a t"), "u:" + message.AsUser(&message.Message{Role: message.RoleCompactionSummary, Summary: "sum"}).Text() + " a:t"},
		{script("r c1"), ""},
	} {
		if got := sent(ForModel(c.items)); got != c.want {
			t.Errorf("sent %q, want %q", got, c.want)
		}
	}
}

func TestWhatIsSentIsPaired(t *testing.T) {
	for _, c := range []struct {
		name  string
		items []Item
		want  string
	}{
		{"nothing", nil, ""},
		{"pairs stay", script("u q", "a t c1,c2", "r c1", "r c2", "a e"), "u:q a:t r:c1 r:c2 a:e"},
		{"results in the order of the calls", script("a t c1,c2", "r c2", "r c1"), "a:t r:c1 r:c2"},
		{"call without a result", script("u q", "a t c1,c2", "r c1", "u n"), "u:q a:t r:c1 r:c2!interrupted u:n"},
		{"call at the very end", script("a t c1"), "a:t r:c1!interrupted"},
		{"result behind something else", script("a t c1", "m note", "r c1", "a e"), "a:t r:c1 u:note a:e"},
		{"result behind the next answer", script("a t c1", "a e", "r c1"), "a:t r:c1!interrupted a:e"},
		{"result without a call", script("u q", "r c1", "a t"), "u:q a:t"},
		{"second result", script("a t c1", "r c1", "r c1"), "a:t r:c1"},
		{"same id in two answers", script("a s c1", "r c1", "a t c1", "r c1"), "a:s r:c1 a:t r:c1"},
		{"same id twice in one answer", script("a s c1,c1", "r c1", "r c1"), "a:s r:c1 r:c1"},
		{"aborted answer and its results", script("u q", "A t c1", "r c1", "u n"), "u:q u:n"},
		{"failed answer", script("u q", "E t", "a e"), "u:q a:e"},
		{"failed answer between call and result", script("a t c1", "E x", "r c1"), "a:t r:c1"},
		{"excluded command", script("X secret", "u q"), "u:q"},
		{"system and unknown roles", script("S sys", "u q", "other x"), "u:q"},
		{"empty messages", script("u ", "u  \n", "m ", "a ", "C ", "u q"), "u:q"},
		{"answer of nothing but calls", script("a  c1", "r c1"), "a: r:c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sent(afterBegin(ForModel(c.items))); got != c.want {
				t.Errorf("sent %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatIsSentGrowsAtItsEnd(t *testing.T) {
	items := script("C sum", "u q", "a t c1,c2", "r c2", "r c1", "x ls", "E no", "m note", "a  c3", "r c3", "b other", "u n", "a e")
	whole := ForModel(items)
	for n := range items {
		part := ForModel(items[:n])
		if slices.ContainsFunc(part, func(m *message.Message) bool { return m.IsError }) {
			continue // a call whose result comes next
		}
		for i, m := range part {
			if got, want := encoded(t, m), encoded(t, whole[i]); got != want {
				t.Errorf("first %d items: message %d is %s, of all items %s", n, i, got, want)
			}
		}
	}
	again := ForModel(items)
	for i := range whole {
		if encoded(t, whole[i]) != encoded(t, again[i]) {
			t.Errorf("message %d differs the second time", i)
		}
	}
}

func TestSummariesAndCommandsSayWhatTheyAre(t *testing.T) {
	status := 2
	command := script("x make")
	command[0].Message.ExitCode, command[0].Message.Truncated, command[0].Message.FullOutputPath = &status, true, "/t/full"
	for _, c := range []struct {
		items []Item
		want  []string
	}{
		{script("C the goal"), []string{"summary of the earlier conversation", "the goal"}},
		{script("b tried it"), []string{"summary of another branch", "tried it"}},
		{command, []string{"$ make\n", "printed\n", "status 2", "/t/full"}},
	} {
		ms := ForModel(c.items)
		if len(ms) != 1 || ms[0].Role != message.RoleUser {
			t.Fatalf("%d messages", len(ms))
		}
		for _, want := range c.want {
			if !strings.Contains(ms[0].Text(), want) {
				t.Errorf("%q lacks %q", ms[0].Text(), want)
			}
		}
	}
}

func TestBrokenTextNeverReachesAModel(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"a":1}`, `{"a":1}`},
		{`{"z":1,"a":12345678901234567890,"s":"\ud83d\ude00"}`, `{"z":1,"a":12345678901234567890,"s":"\ud83d\ude00"}`},
		{`{"a":"\ud800"}`, `{"a":"\ufffd"}`},
		{`{"a":"\uDC00x\ud800\ud800\udc00"}`, `{"a":"\ufffdx\ufffd\ud800\udc00"}`},
		{`{"a":"\\ud800"}`, `{"a":"\\ud800"}`},
		{"{\"a\":\"\xff\"}", `{"a":"` + "\uFFFD" + `"}`},
		{`[1]`, `{}`}, {`"x"`, `{}`}, {``, `{}`}, {`{"a":`, `{}`},
	} {
		m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockToolCall, ID: "c", Arguments: json.RawMessage(c.in)}}}
		if got := string(afterBegin(ForModel([]Item{{Message: m}}))[0].Content[0].Arguments); got != c.want {
			t.Errorf("arguments %s became %s, want %s", c.in, got, c.want)
		}
		if string(m.Content[0].Arguments) != c.in {
			t.Error("the message itself was changed")
		}
	}
	m := user("a\xffb\xed\xa0\x80")
	if got := ForModel([]Item{{Message: m}})[0].Text(); !strings.HasPrefix(got, "a\uFFFDb\uFFFD") || strings.ContainsRune(got, 0xd800) {
		t.Errorf("text %q", got)
	}
	signed := &message.Message{Role: message.RoleAssistant, Content: []message.Block{{Type: message.BlockText, Signature: "s"}, {Type: message.BlockThinking, Redacted: true}, {Type: message.BlockThinking}, message.TextBlock(" ")}}
	if got := afterBegin(ForModel([]Item{{Message: signed}}))[0].Content; len(got) != 2 {
		t.Errorf("%d blocks are left of %d, want the two that carry something", len(got), 4)
	}
}

func TestNamesThatAModelInventedAreMadeFit(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"read", "read"}, {"my-tool_2", "my-tool_2"}, {"functions.read", "functions_read"}, {"read<|channel|>x", "read__channel__x"},
		{"", "unknown"}, {"l\u00e4s", "l_s"}, {"a\xffb", "a_b"}, {strings.Repeat("x", 70), strings.Repeat("x", 64)},
	} {
		items := script("u q", "a t c1", "r c1")
		items[1].Message.Content[1].Name, items[2].Message.ToolName = c.in, c.in
		got := ForModel(items)
		if name := got[1].ToolCalls()[0].Name; name != c.want {
			t.Errorf("a call of %q goes out as %q, want %q", c.in, name, c.want)
		}
		if name := got[2].ToolName; name != c.want && c.in != "" {
			t.Errorf("a result of %q goes out as one of %q, want %q", c.in, name, c.want)
		}
		if string(got[1].ToolCalls()[0].Arguments) != "{}" || items[1].Message.Content[1].Name != c.in {
			t.Error("something else was changed")
		}
	}
}

func TestMessagesThatNeedNoChangeAreNotCopied(t *testing.T) {
	items := script("u q", "a t c1", "r c1")
	for i, m := range ForModel(items) {
		if m != items[i].Message {
			t.Errorf("message %d is a copy", i)
		}
	}
}

// A result that somebody took out of the list is told from one that never came.
func TestACallWhoseResultWasRemovedWasNotInterrupted(t *testing.T) {
	s := New(Options{})
	add := func(m *message.Message) *Entry {
		e, err := s.AppendMessage(m)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	call := func() {
		add(&message.Message{Role: message.RoleAssistant, StopReason: message.StopToolUse, Content: []message.Block{{Type: message.BlockToolCall, ID: "id", Name: "look", Arguments: []byte(`{}`)}}})
	}
	result := func(text string) *Entry {
		return add(&message.Message{Role: message.RoleToolResult, ToolCallID: "id", ToolName: "look", Content: []message.Block{message.TextBlock(text)}})
	}
	add(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("go")}})
	call()
	result("taken out by a hook")
	call()
	edited := result("taken out of the session")
	call() // nobody lived to see its result
	call()
	result("kept")
	if _, err := s.Append(TypeContextEdit, ContextEdit{TargetID: edited.ID}); err != nil {
		t.Fatal(err)
	}
	var left []Item
	for _, it := range s.Context() {
		if it.Message.Text() != "taken out by a hook" {
			left = append(left, it)
		}
	}
	var view View
	view.Context(s)
	for name, sent := range map[string][]*message.Message{"the session": s.ForModel(left), "a view": view.ForModel(left)} {
		var got []string
		for _, m := range sent {
			if m.Role == message.RoleToolResult {
				got = append(got, fmt.Sprint(m.Text(), " ", m.IsError))
			}
		}
		want := []string{removedText + " false", removedText + " false", interruptedText + " true", "kept false"}
		if !slices.Equal(got, want) {
			t.Errorf("%s says\n%s", name, strings.Join(got, "\n"))
		}
	}
}
