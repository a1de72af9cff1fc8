package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
	"pi/session/message"
)

// unsavedAgent has a session that cannot be saved, with a prompt in it.
func unsavedAgent(t *testing.T) *agent.Agent {
	t.Helper()
	a := newAgent(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := a.SwitchWith(t.Context(), "", func(context.Context) (*session.Session, error) {
		return session.New(session.Options{Dir: filepath.Join(file, "below"), Cwd: "/w"}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var unsaved *session.SaveError
	_, err = a.Session().AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("kept")}})
	if !errors.As(err, &unsaved) {
		t.Fatal(err)
	}
	return a
}

func TestASessionThatIsOnlyInMemoryIsNotLeftUnasked(t *testing.T) {
	info := saved(t, t.TempDir(), "one")
	for _, line := range []string{"/new", "/resume one"} {
		a := unsavedAgent(t)
		store := withSessions(a, nil, info).Sessions
		before := a.Session()
		out, ui, err := runs(t, a, store, line, "no")
		if err != nil || a.Session() != before || !strings.Contains(out.Status, "still "+before.ID()) {
			t.Errorf("%s: said %q, %v", line, out.Status, err)
		}
		if !strings.Contains(ui.asked[0], "only in memory") || !strings.Contains(ui.asked[0], "/export") {
			t.Errorf("%s: asked %q", line, ui.asked)
		}
		if _, _, err := runs(t, a, store, line, "yes"); a.Session() == before {
			t.Errorf("%s: it was not left: %v", line, err)
		}
		_ = a.Session().Close()
	}
}

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
