package agent

import (
	"strings"
	"testing"
	"time"

	"pi/agent/instructions"
)

func TestSystemPromptHoldsItsPartsInOrder(t *testing.T) {
	look, edit := echo("look"), echo("edit")
	look.spec.Snippet, look.spec.Guidelines = "look at things", []string{"Look first.", "Be quick."}
	edit.spec.Description, edit.spec.Guidelines = "edit things\nin detail", []string{"Be quick."}
	files := []instructions.File{{Path: "/a/AGENTS.md", Text: "use tabs\n\n"}, {Path: "/p/AGENTS.md", Text: "use spaces"}}
	for _, c := range []struct {
		name   string
		prompt SystemPrompt
		want   []string
		not    string
	}{
		{"all", SystemPrompt{Append: "Appended.", Files: files}, []string{"You are", "- look: look at things\n", "- edit: edit things\n", "- Look first.", "- Be quick.",
			"Appended.", "## /a/AGENTS.md\n\nuse tabs\n", "## /p/AGENTS.md", "use spaces", "Date: 2026-03-04", "Working directory: /p"}, "in detail"},
		{"replaced", SystemPrompt{Replace: "Be a poet.", Files: files}, []string{"Be a poet.", "use tabs", "Date:", "/p"}, "- look"},
	} {
		r := newHarness(t, Options{Tools: []Tool{look, edit}, Prompt: &c.prompt})
		got := r.SystemPrompt()
		rest := got
		for _, part := range c.want {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: no %q in its place in\n%s", c.name, part, got)
			}
			rest = after
		}
		if strings.Contains(got, c.not) || strings.Count(got, "Be quick.") > 1 {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

func TestDateStaysThatOfTheBeginningOfTheSession(t *testing.T) {
	now := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	r := newHarness(t, Options{Now: func() time.Time { return now }})
	first := r.SystemPrompt()
	now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	if r.SystemPrompt() != first {
		t.Error("the date changed within the session")
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil || !strings.Contains(r.SystemPrompt(), "Date: 2027-01-01") {
		t.Errorf("%v: the next session has the old date", err)
	}
}
