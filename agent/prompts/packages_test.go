package prompts

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatPackagesBringComesLastAndOnlyAsItWasApproved(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"agent/prompts/mine.md": "my own", "pack/prompts/mine.md": "of the package", "pack/prompts/ship.md": "ship it", "pack/prompts/odd.md": "changed",
		"pack/skills/tidy/SKILL.md": "---\ndescription: tidies\n---\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := New(Options{AgentDir: filepath.Join(root, "agent"), Cwd: root, Packages: func() []Folder {
		return []Folder{{Skills: filepath.Join(root, "pack/skills"), Templates: filepath.Join(root, "pack/prompts"), From: "package pack", Check: func(path string) string {
			if filepath.Base(path) == "odd.md" {
				return "it is not approved"
			}
			return ""
		}}}
	}})
	templates, problems := l.Templates()
	from := map[string]string{}
	for _, t := range templates {
		from[t.Name] = t.From
	}
	if from["mine"] != "yours" || from["ship"] != "package pack" || from["odd"] != "" {
		t.Errorf("templates are from %v", from)
	}
	said := false
	for _, p := range problems {
		said = said || p.Text == "it is not approved" && filepath.Base(p.Path) == "odd.md"
	}
	if !said {
		t.Errorf("problems are %v", problems)
	}
	if s, ok := l.Skill("tidy"); !ok || s.From != "package pack" {
		t.Errorf("the skill is %+v, %v", s, ok)
	}
}
