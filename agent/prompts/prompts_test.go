package prompts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/frontmatter"
)

// world makes a directory with these files and returns options for it: the working
// directory is DIR/home/code/repo/inner, in a repository DIR/home/code/repo.
func world(t *testing.T, files map[string]string) (string, Options) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "home/code/repo/.git/HEAD"), "")
	write(t, filepath.Join(dir, "home/code/repo/inner/x"), "")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir, Options{AgentDir: filepath.Join(dir, "home/.pi/agent"), Home: filepath.Join(dir, "home"), Cwd: filepath.Join(dir, "home/code/repo/inner")}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func skillText(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nDo %s.\n", name, description, name)
}

// shown writes skills and problems as lines, with DIR for the directory.
func shown(dir string, skills []Skill, problems []frontmatter.Problem) string {
	var lines []string
	for _, s := range skills {
		lines = append(lines, fmt.Sprintf("%s: %s (%s, %s)", s.Name, s.Description, s.Path, s.From))
	}
	for _, p := range problems {
		lines = append(lines, "! "+p.Error())
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), dir, "DIR")
}

func TestSkillsAreFoundAndTheNearerCounts(t *testing.T) {
	dir, o := world(t, map[string]string{
		"home/.pi/agent/skills/pdf/SKILL.md":             skillText("pdf", "Fill forms"),
		"home/.pi/agent/skills/pdf/inner/SKILL.md":       skillText("inner", "part of another"),
		"home/.pi/agent/skills/group/deep/SKILL.md":      skillText("deep", "In a folder of folders"),
		"home/.pi/agent/skills/.hidden/SKILL.md":         skillText("hidden", "x"),
		"home/.pi/agent/skills/node_modules/a/SKILL.md":  skillText("module", "x"),
		"home/.agents/skills/pdf/SKILL.md":               skillText("pdf", "Of all agents"),
		"home/.agents/skills/zip/SKILL.md":               skillText("zip", "Pack"),
		"home/code/repo/.pi/skills/deploy/SKILL.md":      skillText("deploy", "Of the repository"),
		"home/code/repo/inner/.agents/skills/d/SKILL.md": skillText("deploy", "Of the folder"),
		"home/code/.pi/skills/above/SKILL.md":            skillText("above", "beyond the repository"),
		"hook/skills/zip/SKILL.md":                       skillText("zip", "Of a hook"),
	})
	o.More = func() []Folder {
		return []Folder{{Skills: filepath.Join(dir, "hook/skills"), From: "hook notes"}}
	}
	l := New(o)
	skills, problems := l.Skills()
	want := `deep: In a folder of folders (DIR/home/.pi/agent/skills/group/deep/SKILL.md, yours)
deploy: Of the folder (DIR/home/code/repo/inner/.agents/skills/d/SKILL.md, project)
pdf: Fill forms (DIR/home/.pi/agent/skills/pdf/SKILL.md, yours)
zip: Of a hook (DIR/hook/skills/zip/SKILL.md, hook notes)
! DIR/home/code/repo/.pi/skills/deploy/SKILL.md: the skill deploy is also in DIR/home/code/repo/inner/.agents/skills/d/SKILL.md, which is nearer and counts
! DIR/home/.agents/skills/pdf/SKILL.md: the skill pdf is also in DIR/home/.pi/agent/skills/pdf/SKILL.md, which is nearer and counts
! DIR/home/.agents/skills/zip/SKILL.md: the skill zip is also in DIR/hook/skills/zip/SKILL.md, which is nearer and counts`
	if got := shown(dir, skills, problems); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	list := List(skills)
	if again, _ := New(o).Skills(); List(again) != list || !strings.Contains(list, "\n- deep: In a folder") || !strings.HasSuffix(list, "\n- zip: Of a hook ("+dir+"/hook/skills/zip/SKILL.md)") {
		t.Errorf("the list is %q, and then %q", list, List(again))
	}

	o.NoProject = func() bool { return true }
	skills, _ = New(o).Skills()
	if got := shown(dir, skills, nil); strings.Contains(got, "project") || !strings.Contains(got, "pdf") {
		t.Errorf("without the project: %s", got)
	}
	o.BuiltIn = true
	if skills, problems = New(o).Skills(); len(skills)+len(problems) > 0 {
		t.Errorf("with nothing but the program: %v, %v", skills, problems)
	}
}

func TestWhatTheCommandLineNamesComesFirstAndIsNotLeftOut(t *testing.T) {
	dir, o := world(t, map[string]string{
		"home/.pi/agent/skills/pdf/SKILL.md": skillText("pdf", "Mine"),
		"home/.pi/agent/prompts/mine.md":     "mine",
		"named/pdf.md":                       skillText("", "Named"),
		"named/more/zip/SKILL.md":            skillText("zip", "Pack"),
		"named/one.md":                       "one",
	})
	o.Named = []Folder{{Skills: filepath.Join(dir, "named/pdf.md"), From: "here"}, {Skills: filepath.Join(dir, "named/more"), From: "here"},
		{Templates: filepath.Join(dir, "named/one.md"), From: "here"}}
	for _, c := range []struct {
		change            func(*Options)
		skills, templates string
	}{
		{func(*Options) {}, "pdf: Named zip: Pack", "init mine one review"},
		{func(o *Options) { o.NoSkills = true }, "pdf: Named zip: Pack", "init mine one review"},
		{func(o *Options) { o.NoPrompts = true }, "pdf: Named zip: Pack", "init one review"},
		{func(o *Options) { o.BuiltIn = true }, "pdf: Named zip: Pack", "init one review"},
		{func(o *Options) { o.Named = nil }, "pdf: Mine", "init mine review"},
		{func(o *Options) { o.Named, o.NoSkills = nil, true }, "", "init mine review"},
	} {
		o := o
		c.change(&o)
		skills, _ := New(o).Skills()
		templates, _ := New(o).Templates()
		var gotSkills, gotTemplates []string
		for _, s := range skills {
			gotSkills = append(gotSkills, s.Name+": "+s.Description)
		}
		for _, t := range templates {
			gotTemplates = append(gotTemplates, t.Name)
		}
		if got := strings.Join(gotSkills, " "); got != c.skills {
			t.Errorf("skills %q, want %q", got, c.skills)
		}
		if got := strings.Join(gotTemplates, " "); got != c.templates {
			t.Errorf("templates %q, want %q", got, c.templates)
		}
	}
}

func TestADamagedSkillIsToldOfAndTheOthersWork(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"as it should be", skillText("it", "does it"), "it: does it (DIR/it/SKILL.md, yours)"},
		{"without a name", "---\ndescription: does it\n---\n", "it: does it (DIR/it/SKILL.md, yours)"},
		{"without fields", "text", "! DIR/it/SKILL.md:1: a skill has a description"},
		{"without a description", "---\nname: it\n\n---\n", "! DIR/it/SKILL.md:1: a skill has a description"},
		{"an empty one", "---\nname: it\ndescription:\n---\n", "! DIR/it/SKILL.md:3: a skill has a description"},
		{"without an end", "---\nname: it\ndescription: x\n", "! DIR/it/SKILL.md:1: the fields that begin here have no end, a line of ---\n! DIR/it/SKILL.md:1: a skill has a description"},
		{"a damaged line", "---\nname: it\nwhat is this\ndescription: does it\n---\n", "it: does it (DIR/it/SKILL.md, yours)\n! DIR/it/SKILL.md:3: \"what is this\" is no field"},
		{"a name that cannot be typed", "---\ndescription: x\nname: no name\n---\n", "! DIR/it/SKILL.md:3: \"no name\" is no name for a skill"},
		{"several rows", "---\ndescription: |\n  one\n  two\n---\n", "it: one two (DIR/it/SKILL.md, yours)"},
		{"control characters", "---\ndescription: \"a\\x1b[31mb\"\n---\n", "it: ab (DIR/it/SKILL.md, yours)"},
		{"a long one", "---\ndescription: " + strings.Repeat("ä", 1025) + "\n---\n", "it: " + strings.Repeat("ä", 1023) + "… (DIR/it/SKILL.md, yours)\n! DIR/it/SKILL.md:2: the description is cut"},
		{"hidden characters", "---\ndescription: x\n---\na\u202eb\n", "it: x (DIR/it/SKILL.md, yours)\n! DIR/it/SKILL.md: "},
		{"too large", skillText("it", "x") + strings.Repeat("x", mostBytes), "! DIR/it/SKILL.md: it is no regular file of at most 256 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, o := world(t, map[string]string{"home/.pi/agent/skills/it/SKILL.md": c.text, "home/.pi/agent/skills/other/SKILL.md": skillText("other", "x")})
			skills, problems := New(o).Skills()
			got := shown(filepath.Join(dir, "home/.pi/agent/skills"), slices.DeleteFunc(skills, func(s Skill) bool { return s.Name == "other" }), problems)
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if _, ok := New(o).Skill("other"); !ok {
				t.Error("the other skill does not work")
			}
		})
	}
}

func TestOptionalFieldsOfASkill(t *testing.T) {
	_, o := world(t, map[string]string{"home/.agents/skills/it/SKILL.md": "---\nname: it\ndescription: x\nlicense: MIT\ncompatibility: needs git\nallowed-tools: bash read\nmetadata:\n  author: Anna\n  version: \"1.0\"\ndisable-model-invocation: true\n---\nThe text.\n"})
	s, ok := New(o).Skill("it")
	if !ok || s.License != "MIT" || s.Compatibility != "needs git" || !slices.Equal(s.AllowedTools, []string{"bash", "read"}) || s.Metadata["author"] != "Anna" || s.Metadata["version"] != "1.0" {
		t.Errorf("%+v", s)
	}
	if List([]Skill{s}) != "" {
		t.Errorf("the model is told of %q", List([]Skill{s}))
	}
	text, err := s.Text("this file")
	if want := "<skill name=\"it\" folder=\"" + filepath.Dir(s.Path) + "\">\nThe text.\n</skill>\n\nthis file"; text != want || err != nil {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
}

func TestALinkOutOfTheProjectDoesNotCount(t *testing.T) {
	dir, o := world(t, map[string]string{
		"home/secret":                        "---\ndescription: secret\n---\nsecret\n",
		"home/skill/SKILL.md":                skillText("linked", "x"),
		"home/code/repo/shared/ok/SKILL.md":  skillText("ok", "inside"),
		"home/code/repo/inner/.pi/prompts/y": "",
		"home/.pi/agent/prompts/y":           "",
	})
	for link, to := range map[string]string{
		"home/code/repo/inner/.pi/skills/a": "home/skill", "home/code/repo/inner/.pi/skills/b": "home/code/repo/shared/ok",
		"home/code/repo/inner/.pi/prompts/leak.md": "home/secret", "home/.pi/agent/prompts/mine.md": "home/secret",
	} {
		link = filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, to), link); err != nil {
			t.Fatal(err)
		}
	}
	skills, problems := New(o).Skills()
	if got := shown(dir, skills, problems); got != "ok: inside (DIR/home/code/repo/inner/.pi/skills/b/SKILL.md, project)\n"+
		"! DIR/home/code/repo/inner/.pi/skills/a/SKILL.md: it is left out: a link leads out of the project, to DIR/home/skill/SKILL.md; instructions = [\"DIR/home/skill/SKILL.md\"] in your own config.toml allows it" {
		t.Error(got)
	}
	templates, problems := New(o).Templates()
	if got := names(templates); got != "init mine review" || len(problems) != 1 || !strings.Contains(problems[0].Text, "a link leads out of the project") {
		t.Errorf("templates %s, problems %v", got, problems)
	}
	o.Allowed = []string{filepath.Join(dir, "home/secret")}
	if templates, problems = New(o).Templates(); names(templates) != "init leak mine review" || len(problems) > 0 {
		t.Errorf("allowed: %s, %v", names(templates), problems)
	}
}

func names(templates []Template) string {
	var all []string
	for _, t := range templates {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestTemplatesAreFoundAndReplaceThoseOfTheProgram(t *testing.T) {
	dir, o := world(t, map[string]string{
		"home/.pi/agent/prompts/fix.md":            "---\ndescription: mend it\nargument-hint: [issue]\n---\nFix $1.",
		"home/.agents/prompts/fix.md":              "Of all agents",
		"home/.agents/prompts/notes.txt":           "no template",
		"home/.agents/prompts/bad name.md":         "x",
		"home/code/repo/.pi/prompts/review.md":     "\n# The way we review\n\nLook.",
		"home/code/repo/inner/.pi/prompts/dam.md":  "---\ndescription: \"x\nargument-hint: y\n---\nText.",
		"home/code/repo/inner/.pi/prompts/open.md": "---\nText.",
	})
	l := New(o)
	templates, problems := l.Templates()
	var got []string
	for _, t := range templates {
		got = append(got, fmt.Sprintf("/%s %s: %s (%s)", t.Name, t.Hint, t.Description, t.From))
	}
	for _, p := range problems {
		got = append(got, strings.ReplaceAll(p.Error(), dir, "DIR"))
	}
	want := []string{
		"/dam y: x (project)", "/fix [issue]: mend it (yours)",
		"/init [what to mind]: look at this project and write AGENTS.md, the instructions for agents (built in)",
		"/open : --- (project)", "/review : The way we review (project)",
		"DIR/home/code/repo/inner/.pi/prompts/dam.md:2: the quote \" is not closed",
		"DIR/home/code/repo/inner/.pi/prompts/open.md:1: the fields that begin here have no end, a line of ---",
		"DIR/home/.agents/prompts/bad name.md: /bad name cannot be typed; the name of a template is one word of letters, digits and dashes",
		"DIR/home/.agents/prompts/fix.md: the template /fix is also in DIR/home/.pi/agent/prompts/fix.md, which is nearer and counts",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	o.BuiltIn = true
	if templates, problems = New(o).Templates(); names(templates) != "init review" || len(problems) > 0 {
		t.Errorf("with nothing but the program: %s, %v", names(templates), problems)
	}
	for _, t2 := range templates {
		text, err := t2.Text(Arguments{Raw: "the rest", Words: []string{"the", "rest"}})
		if err != nil || !strings.Contains(text, "the rest") || strings.Contains(text, "$ARGUMENTS") || strings.Contains(text, "description:") {
			t.Errorf("/%s becomes %q, %v", t2.Name, text, err)
		}
	}
}

func TestWhatIsEditedCountsAtTheNextUse(t *testing.T) {
	dir, o := world(t, map[string]string{"home/.pi/agent/prompts/fix.md": "Fix it.", "home/.pi/agent/skills/a/SKILL.md": skillText("a", "one")})
	l := New(o)
	l.Templates()
	l.Skills()
	path := filepath.Join(dir, "home/.pi/agent/prompts/fix.md")
	write(t, path, "---\ndescription: mend\n---\nMend it.")
	write(t, filepath.Join(dir, "home/.pi/agent/prompts/new.md"), "New.")
	write(t, filepath.Join(dir, "home/.pi/agent/skills/a/SKILL.md"), skillText("a", "two two"))
	templates, _ := l.Templates()
	if names(templates) != "fix init new review" || templates[0].Description != "mend" {
		t.Errorf("%+v", templates)
	}
	if text, err := templates[0].Text(Arguments{}); text != "Mend it." || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if s, _ := l.Skill("a"); s.Description != "two two" {
		t.Errorf("%+v", s)
	}
	// As long as before, only the time tells.
	write(t, path, "---\ndescription: fill\n---\nFill it.")
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if templates, _ = l.Templates(); templates[0].Description != "fill" {
		t.Errorf("%+v", templates)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if text, err := templates[0].Text(Arguments{}); err == nil {
		t.Errorf("a template that is gone is %q", text)
	}
}

func TestPlacesAreFilledWithArguments(t *testing.T) {
	args := Arguments{Raw: `one "two words"  three $1`, Words: []string{"one", "two words", "three", "$1"}}
	for _, c := range []struct{ text, want string }{
		{"$1, $2 and $9.", "one, two words and ."},
		{"all: $@", `all: one "two words"  three $1`},
		{"all: $ARGUMENTS!", `all: one "two words"  three $1!`},
		{"${@:2}", "two words three $1"},
		{"${@:2:2}", "two words three"},
		{"${@:3:9}", "three $1"},
		{"${@:9}|", "|"},
		{"${@:0:1}", "one"},
		{"${@:1:0}|", "|"},
		{"$1st and a$1b", "onest and aoneb"},
		{`\$1 \$ARGUMENTS $1`, "$1 $ARGUMENTS one"},
		{"it costs $100 or $0, ${HOME} and $ARGUMENTSX, $1", "it costs $100 or $0, ${HOME} and $ARGUMENTSX, one"},
		{"no place", "no place\n\n" + `one "two words"  three $1`},
		{`\$1`, "$1\n\n" + `one "two words"  three $1`},
	} {
		if got := Fill(c.text, args); got != c.want {
			t.Errorf("%q is filled as %q, want %q", c.text, got, c.want)
		}
	}
	if got := Fill("a $1 $@ b", Arguments{}); got != "a   b" {
		t.Errorf("without arguments %q", got)
	}
}

// Nothing makes the places fail, and a text without a dollar is kept.
func FuzzFill(f *testing.F) {
	f.Add("$1 ${@:2:3} $ARGUMENTS", "a b")
	f.Add(`\${@:0}$`, "")
	f.Fuzz(func(t *testing.T, text, raw string) {
		args := Arguments{Raw: raw, Words: strings.Fields(raw)}
		got := Fill(text, args)
		if !strings.Contains(text, "$") && !strings.HasPrefix(got, strings.TrimSpace(text)) {
			t.Errorf("%q with %q is %q", text, raw, got)
		}
		if got := Fill("$1|$2|$@", args); strings.Count(got, "|") < 2 {
			t.Errorf("%q fills the places as %q", raw, got)
		}
	})
}

func BenchmarkSkillsThatDidNotChange(b *testing.B) {
	dir := b.TempDir()
	for i := range 50 {
		folder := filepath.Join(dir, "skills", fmt.Sprintf("s%d", i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte(skillText(fmt.Sprintf("s%d", i), "x")), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	l := New(Options{AgentDir: dir, Cwd: dir})
	for b.Loop() {
		if skills, _ := l.Skills(); len(skills) != 50 {
			b.Fatal(len(skills))
		}
	}
}

func BenchmarkNothingThere(b *testing.B) {
	dir := b.TempDir()
	l := New(Options{AgentDir: dir, Cwd: dir, Home: dir})
	for b.Loop() {
		l.Skills()
		l.Templates()
	}
}
