package agent

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSystemPromptHoldsItsPartsInOrder(t *testing.T) {
	look, edit := echo("look"), echo("edit")
	look.spec.Snippet, look.spec.Guidelines = "look at things", []string{"Look first.", "Be quick."}
	edit.spec.Description, edit.spec.Guidelines = "edit things\nin detail", []string{"Be quick."}
	files := []ContextFile{{Path: "/a/AGENTS.md", Text: "use tabs\n\n"}, {Path: "/p/AGENTS.md", Text: "use spaces"}}
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
		r := newRig(t, Options{Tools: []Tool{look, edit}, Prompt: &c.prompt})
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

func TestDateStaysThatOfTheFirstRequestOfTheSession(t *testing.T) {
	r := newRig(t, Options{})
	first := r.SystemPrompt()
	r.now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	if r.SystemPrompt() != first {
		t.Error("the date changed within the session")
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil || !strings.Contains(r.SystemPrompt(), "Date: 2027-01-01") {
		t.Errorf("%v: the next session has the old date", err)
	}
}

func TestInstructionFilesComeFromTheRootDown(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"home/.pi/agent/AGENTS.md": "global",
		"work/AGENTS.md":           "outer", "work/CLAUDE.md": "not read",
		"work/repo/CLAUDE.md":    "\uFEFFinner\xff",
		"work/repo/a/AGENTS.md":  "  \n",
		"work/repo/a/CLAUDE.md":  "not read",
		"work/repo/ab/AGENTS.md": "not on the way",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts := func(agentDir, cwd string) (texts []string) {
		files, problems := FindContextFiles(ContextPlaces{AgentDir: filepath.Join(root, agentDir), Cwd: filepath.Join(root, cwd)})
		for _, f := range files {
			if strings.HasPrefix(f.Path, root) {
				texts = append(texts, f.Text)
			}
		}
		if len(problems) != 0 {
			t.Errorf("problems %v", problems)
		}
		return texts
	}
	if got, want := texts("home/.pi/agent", "work/repo/a"), []string{"global", "outer", "inner\uFFFD"}; !reflect.DeepEqual(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if got, want := texts("work", "work/repo"), []string{"outer", "inner\uFFFD"}; !reflect.DeepEqual(got, want) {
		t.Errorf("from the agent directory itself: %q, want %q", got, want)
	}
}

func TestUnreadableInstructionsAndHiddenCharactersAreReported(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.MkdirAll(filepath.Join(sub, "AGENTS.md"), 0o700); err != nil { // a directory of that name
		t.Fatal(err)
	}
	text := "fine: \t é 👩‍💻\r\nnot\u202E fine\n"
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, problems := FindContextFiles(ContextPlaces{AgentDir: dir, Cwd: sub})
	if len(files) == 0 || files[0].Text != text {
		t.Errorf("files %q", files)
	}
	if len(problems) != 2 || !strings.HasSuffix(problems[0].Error(), "AGENTS.md: hidden character U+202E in line 2") || !strings.HasPrefix(problems[1].Error(), "read instructions: ") {
		t.Errorf("problems %v", problems)
	}
}
