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
