package repl

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
	"pi/repl/terminal/keymap"
	"pi/session/message"
)

// stage is a screen without a terminal, and a clock that the test moves.
type stage struct {
	*screen
	view *transcript
	at   time.Time
}

func newStage(columns int) *stage {
	x := &stage{screen: newScreen(terminal.Palette{}, false, columns), at: time.Unix(1000, 0)}
	x.showThinking = true
	table, _ := keymap.Parse(nil)
	x.line = newLine(keyTable{table, keymap.NewReader(table, nil)}, history.Open("", nil))
	x.now = func() time.Time { return x.at }
	x.view = newTranscript(x.screen, nil)
	return x
}

// shows gives events to the transcript and returns what is in it then.
func (x *stage) shows(events ...agent.Event) string {
	for _, e := range events {
		x.view.handle(context.Background(), e)
	}
	return strings.Join(x.pending, "\n")
}

func text(s string) agent.Event {
	return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Index: 1, Text: s}}
}

func textOf(index int, s string) agent.Event {
	return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaText, Index: index, Text: s}}
}

func thinks(s string) agent.Event {
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

func over() agent.Event { return ends(message.StopEnd, message.TextBlock("said")) }

func TestTranscriptShowsWhatHappens(t *testing.T) {
	diff := agent.TextResult("Replaced 1 block")
	diff.Details = json.RawMessage(`{"diff":"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"}`)
	abort := &agent.MessageEnd{Message: &message.Message{Role: message.RoleAssistant}, Abort: &agent.Abort{By: "guard\x1b[2J", Reason: "not\nthat"}}
	for _, c := range []struct {
		name   string
		events []agent.Event
		want   string
	}{
		{"text as it comes", []agent.Event{text("a"), text("b\n\n"), text("c"), over()}, "ab\n\nc"},
		{"what can still change waits", []agent.Event{text("a paragraph\n\nand ano")}, "a paragraph\n"},
		{"words cut into blocks are one text", []agent.Event{textOf(1, "a st"), textOf(2, "ep b"), textOf(2, ""), over()}, "a step b"},
		{"blocks apart are two", []agent.Event{textOf(1, "one"), textOf(3, "two"), over()}, "one\ntwo"},
		{"thinking is marked", []agent.Event{thinks("hm"), thinks("m\n"), text("yes"), over()}, "∴ hmm\n\nyes"},
		{"a sequence split over two steps", []agent.Event{text("a\x1b"), text("[31mb"), over()}, "ab"},
		{"a call is one row", []agent.Event{text("so"), over(), begun("1", "bash", `{"command":"ls -l"}`), done("1", "x\ny")},
			"so\n\n• bash ls -l ✓ 2 lines\n  x\n  y"},
		{"a call that runs is not in the transcript", []agent.Event{begun("1", "ls", `{}`)}, ""},
		{"results are in the order of the calls", []agent.Event{begun("1", "ls", `{}`), begun("2", "read", `{"path":"a\u001b[2J"}`), done("2", ""), done("1", "x")},
			"• ls ✓\n  x\n• read a ✓"},
		{"a call that ended before one that runs waits", []agent.Event{begun("1", "ls", `{}`), begun("2", "read", `{"path":"a"}`), done("2", "")}, ""},
		{"a rewritten call says who did it", []agent.Event{begun("1", "bash", `{"command":"rm x"}`),
			&agent.ToolCall{ID: "1", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`), RewrittenBy: "guard"}, done("1", "")},
			"• bash ls ✓\n  guard made it so"},
		{"a change is shown with its rows", []agent.Event{begun("1", "edit", `{"path":"f"}`), &agent.ToolExecutionEnd{ID: "1", Name: "edit", Result: diff}},
			"• edit f ✓ +1 −1\n  1 - old\n  1 + new"},
		{"an answer that a hook stopped says so", []agent.Event{text("I will rm"), text(" -rf"), abort, text("Then not."), over()},
			"I will rm -rf\nstopped by hook guard: not that\n\nThen not."},
		{"an answer that the model's limit ended says so", []agent.Event{text("a lo"), ends(message.StopLength, message.TextBlock("a lo"))},
			"a lo\nwarning: the answer was cut off at the token limit"},
		{"an empty answer is told of", []agent.Event{thinks("hm"), ends(message.StopEnd, message.TextBlock("\n"))}, "∴ hm\nthe answer is empty"},
		{"one with a call is none", []agent.Event{ends(message.StopEnd, message.Block{Type: message.BlockToolCall, ID: "1", Name: "ls"})}, ""},
		{"nor is one that failed", []agent.Event{ends(message.StopError)}, ""},
		{"a message of a hook", []agent.Event{&agent.CustomShow{Message: &message.Message{Role: message.RoleCustom, CustomType: "memo", Display: true,
			Content: []message.Block{message.TextBlock("by\x1b[2J the way")}}}}, "[memo] by the way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newStage(80).shows(c.events...); got != c.want {
				t.Errorf("shows\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestThinkingIsShownOnlyIfTheUserWantsIt(t *testing.T) {
	x := newStage(80)
	x.showThinking = false
	if got := x.shows(thinks("hm"), text("yes"), over()); got != "yes" {
		t.Errorf("shows %q", got)
	}
}

func TestWhatAModelSaysBetweenItsCallsIsShownThoughItComesAsAThought(t *testing.T) {
	x := newStage(80)
	x.showThinking = false
	says := &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaThinking, Text: "I look at it.", Spoken: true}}
	if got := x.shows(says, over()); got != "∴ I look at it." {
		t.Errorf("shows %q", got)
	}
	piece := func(index int, text string, spoken bool) agent.Event {
		return &agent.MessageUpdate{Delta: llm.Delta{Kind: llm.DeltaThinking, Index: index, Text: text, Spoken: spoken}}
	}
	x = newStage(80)
	x.showThinking = false
	if got := x.shows(piece(0, "hm", false), piece(1, "I read ", false), piece(1, "it.", false), piece(1, "", true), over(), piece(1, "", true)); got != "∴ I read it." {
		t.Errorf("it is known at its end, and shows %q", got)
	}
	x = newStage(80)
	if got := x.shows(piece(0, "I read ", false), piece(0, "it.", false), piece(0, "", true), over()); got != "∴ I read it." {
		t.Errorf("where thoughts are shown, it shows %q", got)
	}
}

func TestAnAnswerThatBrokeOffSaysThatItStartsOver(t *testing.T) {
	again := func(x *stage) { x.change(func() { x.startOver() }) }
	x := newStage(80)
	x.shows(text("Hello wor"))
	again(x)
	if got, want := x.shows(text("Hello world"), over()), "Hello wor\nthe answer starts over\n\nHello world"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
	x = newStage(80)
	again(x)
	if got := x.shows(text("Hello"), over()); got != "Hello" {
		t.Errorf("nothing was shown, and yet %q", got)
	}
}

func TestNoRowOfTextIsWiderThanTheWindow(t *testing.T) {
	words := strings.Repeat("The quick brown 日本語 fox, ", 20)
	for _, columns := range []int{1, 7, 20, 40, 81} {
		x := newStage(columns)
		x.shows(thinks(words), text(words), over(), begun("1", "bash", `{"command":"`+words+`"}`), done("1", words+"\n"+words))
		for _, row := range x.pending {
			if w := widthOf(row); w > max(columns, 2) {
				t.Errorf("%d columns: %q has %d", columns, row, w)
			}
		}
	}
}

// A notice of a hook is not put between the words of a sentence.
func TestANoticeWaitsUntilItSplitsNothing(t *testing.T) {
	x := newStage(40)
	x.shows(text("one two"))
	x.notify("news", agent.LevelInfo)
	if rows := x.zone(40, 30).Rows; strings.Contains(strings.Join(rows, "\n"), "news") {
		t.Errorf("it is shown at once: %q", rows)
	}
	x.at = x.at.Add(noticeWait)
	if rows := x.notices.waitingRows(40, x.at); len(rows) != 1 || rows[0] != "news" {
		t.Errorf("after 2 s the zone has %q", rows)
	}
	if got, want := x.shows(text(" three"), over()), "one two three\nnews"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
	if rows := x.notices.waitingRows(40, x.at); rows != nil {
		t.Errorf("it is there twice: %q", rows)
	}
}

func TestTranscriptIsDrawnByHooksThatWantTo(t *testing.T) {
	x := newStage(24)
	x.view = newTranscript(x.screen, drawsAll{})
	got := x.shows(
		&agent.CustomShow{Message: &message.Message{Role: message.RoleCustom, CustomType: "card", Display: true}},
		begun("1", "one", `{}`), &agent.ToolExecutionEnd{ID: "1", Name: "one", Result: agent.TextResult("not this")},
		begun("2", "two", `{}`), &agent.ToolExecutionEnd{ID: "2", Name: "two"})
	want := "card of 23, which is m…\n• one ✓\n  result of one\n• two ✓ #1 · Ctrl+O\n    below\n  result of two"
	if got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
}

// drawsAll draws everything itself.
type drawsAll struct{}

func (drawsAll) Message(_ context.Context, _ *message.Message, _ bool, width int) ([]string, bool) {
	return []string{fmt.Sprintf("card of %d\x1b[2J, which is more than fits", width)}, true
}

func (drawsAll) ToolCall(c agent.DrawnCall, _ bool, _ int) ([]string, bool) {
	if c.Name == "one" {
		return []string{c.Name}, true
	}
	return []string{c.Name, "below"}, true
}

func (drawsAll) ToolResult(c agent.DrawnCall, _ agent.Result, _ bool, _ int) ([]string, bool) {
	return []string{"result of " + c.Name}, true
}

func (drawsAll) DrawsTool(string) bool { return true }
