package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/session/folder"
)

func TestSessionsAreCompletedByName(t *testing.T) {
	a := newAgent(t)
	now := time.Now()
	o := withSessions(a, agent.NoUI{},
		folder.Info{ID: "id1", Name: "fix the\nlexer", FirstPrompt: "why", Modified: now.Add(-3 * time.Hour), Messages: 2},
		folder.Info{ID: "id2", FirstPrompt: "without a name", Modified: now, Messages: 1},
		folder.Info{ID: a.Session().ID(), Name: "the current one"})
	o.Sessions.IDs = func(prefix string) []string { return withPrefix([]string{"id1", "id2"}, prefix) }
	cmd := resumeCommand(o)
	for prefix, want := range map[string]string{"": "id1|id2|fix the lexer", "id2": "id2|fix the lexer", "rm id": "id1|id2|fix the lexer"} {
		if got := strings.Join(cmd.Complete(prefix), "|"); got != want {
			t.Errorf("%q: %s, want %s", prefix, got, want)
		}
	}
	for candidate, want := range map[string]string{
		"id1": "fix the · 3 h ago · 2 messages", "fix the lexer": "3 h ago · 2 messages", "id2": "without a name · just now · 1 message", "id3": "",
	} {
		if got := cmd.Describe(candidate); got != want {
			t.Errorf("%s is described as %q, want %q", candidate, got, want)
		}
	}
}

func TestASessionIsNamedByItsName(t *testing.T) {
	o := withSessions(newAgent(t), agent.NoUI{}, folder.Info{Path: "/1", ID: "id1", Name: "The lexer"},
		folder.Info{Path: "/2", ID: "id2", Name: "twice"}, folder.Info{Path: "/3", ID: "id3", Name: "Twice"})
	o.Sessions.Find = func(ref string) (string, error) { return "", &folder.NotFoundError{Prefix: ref} }
	r := resumer{Options: o, store: *o.Sessions}
	if path, err := r.existing("the  lexer"); path != "/1" || err != nil {
		t.Errorf("the lexer: %q, %v", path, err)
	}
	several, ok := errors.AsType[*folder.AmbiguousError](second(r.existing("twice")))
	if !ok || strings.Join(several.Paths, " ") != "/2 /3" {
		t.Errorf("twice: %v", several)
	}
	if _, ok := errors.AsType[*folder.NotFoundError](second(r.existing("lexer"))); !ok {
		t.Error("a part of a name names a session")
	}
}

func second(_ string, err error) error { return err }

func TestCandidatesAreDescribed(t *testing.T) {
	set := NewSet(Core(Options{Agent: newAgent(t)}), nil)
	for _, c := range []struct{ name, candidate, want string }{
		{"help", "thinking", "how much the model thinks"}, {"help", "none", ""}, {"model", "none/x", ""},
	} {
		cmd, _ := set.Lookup(c.name)
		if got := cmd.Describe(c.candidate); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("/%s %s is described as %q, want %q", c.name, c.candidate, got, c.want)
		}
	}
}
