package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pi/agent/prompts"
)

func TestWhatAUserLeavesOutOfAProjectIsNoTemplateOrSkill(t *testing.T) {
	for _, c := range []struct {
		name          string
		hooks         HookFlags
		refused       bool
		project, mine bool
	}{
		{"as it is", HookFlags{}, false, true, true},
		{"-na", HookFlags{NoApprove: true}, false, false, true},
		{"--no-hooks", HookFlags{None: true}, false, false, false},
		{"a project that was refused", HookFlags{}, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := place(t, Options{Hooks: c.hooks}, nil)
			t.Setenv("HOME", filepath.Dir(p.Cwd))
			for name, dir := range map[string]string{"own": p.AgentDir, "its": filepath.Join(p.Cwd, ".pi")} {
				writePrompt(t, filepath.Join(dir, "prompts", name+".md"), "x")
				writePrompt(t, filepath.Join(dir, "skills", name, "SKILL.md"), "---\ndescription: x\n---\n")
			}
			library := p.library(nil)
			if c.refused { // also after the library was made: the question comes at the start
				if err := p.Guard.Refuse(); err != nil {
					t.Fatal(err)
				}
			}
			skills, _ := library.Skills()
			templates, _ := library.Templates()
			from := func(who string) bool {
				skill := slices.ContainsFunc(skills, func(s prompts.Skill) bool { return s.From == who })
				template := slices.ContainsFunc(templates, func(t prompts.Template) bool { return t.From == who })
				if skill != template {
					t.Errorf("of %s: skill %v, template %v", who, skill, template)
				}
				return skill
			}
			if project, mine := from("project"), from("yours"); project != c.project || mine != c.mine {
				t.Errorf("of the project: %v, mine: %v; want %v, %v", project, mine, c.project, c.mine)
			}
			if !slices.ContainsFunc(templates, func(t prompts.Template) bool { return t.Name == "review" && t.From == "built in" }) {
				t.Error("/review is not there")
			}
		})
	}
}

func writePrompt(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
