package command

import (
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestTheTextToCopyIsThatOfTheLastAnswer(t *testing.T) {
	s := session.New(session.Options{})
	add := func(role message.Role, blocks ...message.Block) {
		t.Helper()
		if _, err := s.AppendMessage(&message.Message{Role: role, Content: blocks}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := TextToCopy(s.Branch(), ""); err == nil || !strings.Contains(err.Error(), "no answer yet") {
		t.Error(err)
	}
	add(message.RoleUser, message.TextBlock("hello"))
	add(message.RoleAssistant, message.TextBlock("the first"))
	add(message.RoleUser, message.TextBlock("again"))
	const answer = "So:\n\n1. run\n   ```sh\n   go test\n   ```\n2. see\n\n```\n\tok \n```"
	add(message.RoleAssistant, message.TextBlock(answer))
	add(message.RoleAssistant, message.TextBlock(" \n")) // cut off
	for _, tt := range []struct{ which, text, what, err string }{
		{"", answer, "the last answer", ""},
		{"1", "go test\n", "code block 1 of 2", ""},
		{"2", "\tok \n", "code block 2 of 2", ""},
		{"3", "", "", "the last answer has 2 code blocks"},
		{"0", "", "", `"0" is not the number of a code block`},
		{"all", "", "", `"all" is not the number of a code block`},
	} {
		text, what, err := TextToCopy(s.Branch(), tt.which)
		if text != tt.text || what != tt.what || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: %q, %q, %v", tt.which, text, what, err)
		}
	}
}
