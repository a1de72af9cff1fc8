package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/attach"
	"pi/agent/prompts"
	"pi/session/message"
)

// promptSet returns a set with the templates and skills in files, a command /model of the
// program and one /deploy of a hook, and the prompts behind it. Names of files are relative
// to the agent directory, which is in the working directory.
func promptSet(t *testing.T, ui agent.UI, files map[string]string) (*Set, *Prompts) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, "agent", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &Prompts{Library: prompts.New(prompts.Options{AgentDir: filepath.Join(dir, "agent"), Cwd: dir}), UI: ui, Cwd: dir}
	set := NewSet([]Command{named("model", ""), skillsCommand(p)}, func() []Command { return []Command{named("deploy", "h")} })
	set.AddPrompts(p)
	return set, p
}

func TestTemplatesAndSkillsBecomePrompts(t *testing.T) {
	set, p := promptSet(t, agent.NoUI{}, map[string]string{
		"prompts/fix.md":      "Fix $1, then ${@:2}.",
		"prompts/model.md":    "never used",
		"prompts/deploy.md":   "never used",
		"skills/zip/SKILL.md": "---\ndescription: Pack\n---\nUse zip.",
	})
	p.Attach = func(text string) attach.Found {
		return attach.Found{Attached: []attach.Attachment{{Block: message.TextBlock("of " + text)}}}
	}
	a := newAgent(t)
	for _, c := range []struct{ line, status, text string }{
		{`/fix "the bug" and test`, "", "Fix the bug, then and test."},
		{"/skill:zip all of it", "", "<skill name=\"zip\" folder=\"" + filepath.Join(p.Cwd, "agent/skills/zip") + "\">\nUse zip.\n</skill>\n\nall of it"},
		{"/model", "model()", ""},
		{"/deploy now", "hdeploy(now)", ""},
	} {
		is, err := set.Reads(c.line)
		if !is || err != nil {
			t.Errorf("%s is no command: %v", c.line, err)
		}
		ctx := a.CommandContext(t.Context(), agent.Prompt{Source: "rpc", Origin: agent.Origin{Kind: agent.FromHook, Hook: "h"}})
		out, err := set.Run(ctx, c.line)
		if err != nil || out.Status != c.status || (out.Prompt == nil) != (c.text == "") {
			t.Errorf("%s: %+v, %v", c.line, out, err)
			continue
		}
		if out.Prompt == nil {
			continue
		}
		_, args := Split(c.line)
		if got := out.Prompt; got.Text != c.text || !got.Literal || got.Source != "rpc" || got.Origin.Hook != "h" ||
			len(got.Attachments) != 1 || got.Attachments[0].Text != "of "+args {
			t.Errorf("%s: %+v, want %q", c.line, got, c.text)
		}
	}
	for _, line := range []string{"/skill:zpi", "/fxi"} {
		if is, err := set.Reads(line); is || err == nil {
			t.Errorf("%s is read as %v, %v", line, is, err)
		}
	}
}

func TestATemplateThatIsGoneIsAnError(t *testing.T) {
	set, p := promptSet(t, agent.NoUI{}, map[string]string{"prompts/fix.md": "---\ndescription: x\n---\n"})
	c, ok := set.Lookup("fix")
	if !ok {
		t.Fatal("/fix is not known")
	}
	if _, err := c.Run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "has no text") {
		t.Errorf("an empty one: %v", err)
	}
	if err := os.Remove(filepath.Join(p.Cwd, "agent/prompts/fix.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "fix.md") {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestInitAsksBeforeItTouchesAFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		there  bool
		plan   []string
		prompt bool
	}{
		{"there is none", false, nil, true},
		{"yes", true, []string{"yes"}, true},
		{"no", true, []string{"no"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ui := &answers{t: t, plan: c.plan}
			set, p := promptSet(t, ui, nil)
			if c.there {
				if err := os.WriteFile(filepath.Join(p.Cwd, "AGENTS.md"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := set.Run(t.Context(), "/init")
			if err != nil || (out.Prompt != nil) != c.prompt || (out.Status == "") != c.prompt || len(ui.plan) > 0 {
				t.Errorf("%+v, %v; asked %q", out, err, ui.asked)
			}
			if out.Prompt != nil && out.Prompt.Source != "interactive" {
				t.Errorf("the prompt is from %q", out.Prompt.Source)
			}
		})
	}
	set, p := promptSet(t, agent.NoUI{}, nil)
	if err := os.WriteFile(filepath.Join(p.Cwd, "AGENTS.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Run(t.Context(), "/init"); err == nil || !strings.Contains(HintOf(err), "bring AGENTS.md up to date") {
		t.Errorf("where nobody can be asked: %v", err)
	}
}

func TestWhatIsWrongWithPromptsIsToldOnce(t *testing.T) {
	ui := &answers{t: t}
	set, p := promptSet(t, ui, map[string]string{
		"prompts/model.md": "x", "prompts/review.md": "mine", "skills/bad/SKILL.md": "---\nname: bad\n---\n",
		"skills/zip/SKILL.md": "---\ndescription: Pack\n---\n", "skills/one/SKILL.md": "---\ndescription: " + strings.Repeat("long ", 50) + "\n---\nx",
	})
	for range 3 {
		if list := p.SkillList(); !strings.HasPrefix(list, "# Skills\n") || strings.Count(list, "\n- ") != 2 {
			t.Errorf("the list is %q", list)
		}
	}
	told := strings.Join(ui.told, "\n")
	if len(ui.told) != 2 || !strings.Contains(told, "bad/SKILL.md:1: a skill has a description") || !strings.Contains(told, "model.md: another command is called /model") {
		t.Errorf("told %q", ui.told)
	}
	out, err := set.Run(t.Context(), "/skills")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.Status, "\n")
	if len(lines) != 6 || lines[0] != "skill  listed  whole  from" || !strings.HasPrefix(lines[1], "one  ") || len([]rune(lines[1])) > tableWidth ||
		!strings.HasSuffix(lines[2], "yours  Pack") || !strings.Contains(lines[3], "tokens in the system prompt") || !strings.HasPrefix(lines[4], "! ") {
		t.Errorf("/skills is\n%s", out.Status)
	}
	if out, err = set.Run(t.Context(), "/help all"); err != nil || strings.Contains(out.Status, "skill:zip") || !strings.Contains(out.Status, "(template, yours)") || !strings.Contains(out.Status, "(template)") {
		t.Errorf("/help is\n%s", out.Status)
	}
	if out, err = set.Run(t.Context(), "/help skill:zip"); err != nil || !strings.Contains(out.Status, "/skill:zip [what to do]  Pack (skill, yours)") {
		t.Errorf("/help skill:zip is %s, %v", out.Status, err)
	}
}

func TestWithoutSkillsTheirPlacesAreTold(t *testing.T) {
	set, p := promptSet(t, agent.NoUI{}, nil)
	if out, err := set.Run(t.Context(), "/skills"); err != nil || !strings.Contains(out.Status, ".pi/skills") {
		t.Errorf("%q, %v", out.Status, err)
	}
	if p.SkillList() != "" {
		t.Errorf("the list is %q", p.SkillList())
	}
}
