package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

// rewriter adds a word to each message of another role, changes what must stay, and notes the
// roles in their order.
func rewriter(roles *[]string) listener {
	return listener{
		KindOtherMessageStart: func(_ context.Context, e Event) error {
			*roles = append(*roles, "start "+string(e.(*MessageStart).Message.Role))
			return nil
		},
		KindOtherMessageEnd: func(_ context.Context, e Event) error {
			end := e.(*MessageEnd)
			*roles = append(*roles, "end "+string(end.Message.Role))
			changed := *end.Message.Clone()
			changed.Content = append(changed.Content, message.TextBlock("seen"))
			changed.Output += " seen"
			changed.ToolCallID, changed.ToolName, changed.CustomType, changed.Command = "other", "other", "other", "other"
			changed.IsError, changed.Display = !changed.IsError, !changed.Display
			end.Message = &changed
			return nil
		},
	}
}

func TestMessagesOfAllRolesAreToldBeforeTheyAreStored(t *testing.T) {
	var roles []string
	draft := session.Draft{Type: session.TypeCustomMessage, Body: session.CustomMessage{CustomType: "note", Content: []message.Block{message.TextBlock("draft")}}}
	drafts := listener{KindTurnEnd: func(_ context.Context, e Event) error {
		if end := e.(*TurnEnd); end.TurnIndex == 0 {
			end.Entries = []session.Draft{draft}
		}
		return nil
	}}
	r := newHarness(t, Options{Listeners: []Listener{rewriter(&roles), drafts}, Tools: []Tool{echo("ls")},
		Shell: func(context.Context, string, func(string)) (BashOutcome, error) {
			return BashOutcome{Output: "listed"}, nil
		}},
		use(call{"c1", "ls", "{}"}, call{"c2", "absent", "{}"}), say("done"))
	if err := r.Prompt(t.Context(), Prompt{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Bash(t.Context(), UserCommand{Line: "ls"}); err != nil {
		t.Fatal(err)
	}
	custom := &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock("custom")}}
	if err := r.SendCustom(t.Context(), Prompt{Custom: custom}, DeliverSteer, false); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, role := range []string{"user", "toolResult", "toolResult", "custom", "bashExecution", "custom"} {
		told = append(told, "start "+role, "end "+role)
	}
	if got, want := strings.Join(roles, ", "), strings.Join(told, ", "); got != want {
		t.Errorf("told\n%s, want\n%s", got, want)
	}
	want := []string{
		"user hello|seen", "assistant |", `toolResult ls{}|seen c1 ls false`, "toolResult no tool absent|seen c2 absent true",
		"custom draft|seen note", "assistant done", "bashExecution ls listed seen", "custom custom|seen note",
	}
	for i, item := range r.Session().Context() {
		m := item.Message
		var texts []string
		for _, b := range m.Content {
			texts = append(texts, b.Text)
		}
		got := string(m.Role) + " " + strings.Join(texts, "|")
		switch m.Role {
		case message.RoleBashExecution:
			got = "bashExecution " + m.Command + " " + m.Output
		case message.RoleCustom:
			got += " " + m.CustomType
		case message.RoleToolResult:
			got += fmt.Sprint(" ", m.ToolCallID, " ", m.ToolName, " ", m.IsError)
		}
		if i >= len(want) || got != want[i] && !strings.HasPrefix(want[i], "toolResult no tool") {
			t.Errorf("message %d is %q, want %q", i, got, want[min(i, len(want)-1)])
		} else if strings.HasPrefix(want[i], "toolResult no tool") && !strings.HasSuffix(got, "|seen c2 absent true") {
			t.Errorf("message %d is %q", i, got)
		}
		if m.Display {
			t.Errorf("message %d is shown", i)
		}
	}
}

func TestAMessageThatIsLeftWithoutContentStaysAsItWas(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{listener{KindOtherMessageEnd: func(_ context.Context, e Event) error {
		end := e.(*MessageEnd)
		end.Message = &message.Message{Role: end.Message.Role}
		return nil
	}}}}, say("done"))
	if err := r.Prompt(t.Context(), Prompt{Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	if got := r.Session().Context()[0].Message.Text(); got != "hello" {
		t.Errorf("the prompt is %q", got)
	}
}
