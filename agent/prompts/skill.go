package prompts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"pi/internal/frontmatter"
	"pi/internal/printable"
)

// Skill tells a model how to do one kind of task.
type Skill struct {
	Name        string
	Description string // one line: what it does, and when it is to be used
	Path        string // of its SKILL.md, absolute
	From        string // where it was found, for people: "project", "yours", "hook notes"

	// What the file says besides; "" where it says nothing.
	License       string
	Compatibility string            // what it needs
	AllowedTools  []string          // that it wants to use; nobody is bound by it
	Metadata      map[string]string // whatever its author noted

	// OnlyTyped keeps it from the model: it is used with /skill:NAME only
	// (disable-model-invocation).
	OnlyTyped bool
}

const (
	skillFile       = "SKILL.md"
	mostDescription = 1024 // characters of a description that reach the model
	mostSkills      = 500  // of one folder
	mostFolders     = 2000 // that are looked into for them
	mostDepth       = 5    // of folders in folders
)

// Skills returns the skills there are, in the order of their names, and what is wrong with
// those that do not count.
func (l *Library) Skills() (skills []Skill, problems []frontmatter.Problem) {
	for _, s := range l.options.sources("skills", l.options.NoSkills, func(f Folder) string { return f.Skills }) {
		w := skillSearch{}
		if isFile(s.dir) {
			w.found = []string{s.dir}
		} else {
			w.addFolder(s.dir, 0)
		}
		problems = append(problems, w.problems...)
		for _, path := range w.found {
			skill, more, ok := l.skill(path, s)
			problems = append(problems, more...)
			if !ok {
				continue
			}
			if i := slices.IndexFunc(skills, func(have Skill) bool { return have.Name == skill.Name }); i < 0 {
				skills = append(skills, skill)
			} else if !sameFile(skills[i].Path, path) {
				problems = append(problems, frontmatter.Problem{Path: path, Text: fmt.Sprintf("the skill %s is also in %s, which is nearer and counts", skill.Name, skills[i].Path)})
			}
		}
	}
	sort.Slice(skills, func(i, j int) bool { return skills[i].Name < skills[j].Name })
	return skills, problems
}

// Skill returns the skill with this name, and whether there is one.
func (l *Library) Skill(name string) (Skill, bool) {
	skills, _ := l.Skills()
	i := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return skills[i], true
}

// isFile reports whether path is a file, or a link to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// skillSearch looks for skills in a folder and those in it.
type skillSearch struct {
	found    []string
	looked   int
	full     bool // there is more, which was not looked at
	problems []frontmatter.Problem
}

// addFolder adds the skills of a folder. A folder that is a skill has none in it.
func (w *skillSearch) addFolder(dir string, depth int) {
	if w.looked++; w.looked > mostFolders || len(w.found) >= mostSkills {
		if !w.full {
			w.full = true
			w.problems = append(w.problems, frontmatter.Problem{Path: dir, Text: fmt.Sprintf("here and behind it nothing was looked for: %d skills in %d folders are enough", mostSkills, mostFolders)})
		}
		return
	}
	path := filepath.Join(dir, skillFile)
	if _, err := os.Lstat(path); err == nil {
		w.found = append(w.found, path)
		return
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil || depth == mostDepth {
		if err != nil && !os.IsNotExist(err) {
			w.problems = append(w.problems, frontmatter.Problem{Path: dir, Text: "the skills here cannot be listed: " + reason(err)})
		}
		return
	}
	for _, e := range entries {
		if name := e.Name(); !w.full && isFolder(dir, e) && name[0] != '.' && name != "node_modules" {
			w.addFolder(filepath.Join(dir, name), depth+1)
		}
	}
}

// isFolder reports whether an entry of dir is a folder, or a link to one.
func isFolder(dir string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

// skill reads the skill at path. It is false if that cannot be used, and problems say why.
func (l *Library) skill(path string, s source) (skill Skill, problems []frontmatter.Problem, ok bool) {
	if why := l.options.counts(path, s); why != "" {
		return Skill{}, []frontmatter.Problem{{Path: path, Text: why}}, false
	}
	f, err := l.read(path)
	if err != nil {
		return Skill{}, []frontmatter.Problem{{Path: path, Text: reason(err)}}, false
	}
	problems = f.problems(path)
	refuse := func(field, text string) (Skill, []frontmatter.Problem, bool) {
		at, _ := f.fields.Field(field)
		return Skill{}, append(problems, frontmatter.Problem{Path: path, Line: max(at.Line, 1), Text: text}), false
	}
	skill = Skill{Path: path, From: s.from, Name: f.fields.Text("name"), Description: printable.Line(f.fields.Text("description"))}
	if skill.Name == "" {
		skill.Name = filepath.Base(filepath.Dir(path))
		if name, isNamed := strings.CutSuffix(filepath.Base(path), ".md"); isNamed && filepath.Base(path) != skillFile {
			skill.Name = name
		}
	}
	if !isSkillName(skill.Name) {
		return refuse("name", fmt.Sprintf("%q is no name for a skill: letters, digits and dashes, at most 64", skill.Name))
	}
	if skill.Description == "" {
		return refuse("description", "a skill has a description: what it does, and when it is to be used")
	}
	if at, _ := f.fields.Field("description"); len([]rune(skill.Description)) > mostDescription {
		problems = append(problems, frontmatter.Problem{Path: path, Line: at.Line, Text: fmt.Sprintf("the description is cut: it has more than %d characters", mostDescription)})
		skill.Description = printable.Cut(skill.Description, mostDescription)
	}
	skill.License, skill.Compatibility = f.fields.Text("license"), f.fields.Text("compatibility")
	skill.OnlyTyped = f.fields.Text("disable-model-invocation") == "true"
	tools, _ := f.fields.Field("allowed-tools")
	skill.AllowedTools = append(tools.List, strings.Fields(strings.ReplaceAll(tools.Text, ",", " "))...)
	if metadata, _ := f.fields.Field("metadata"); len(metadata.Fields) > 0 {
		skill.Metadata = map[string]string{}
		for _, field := range metadata.Fields {
			skill.Metadata[field.Name] = field.Text
		}
	}
	return skill, problems, true
}

// Text returns the skill as a prompt of its own: its text, and behind it what was typed.
// The file is read again.
func (s Skill) Text(args string) (string, error) {
	text, err := readBody(s.Path)
	if err != nil {
		return "", fmt.Errorf("read skill %s: %s: %w", s.Name, s.Path, err)
	}
	text = fmt.Sprintf("<skill name=%q folder=%q>\n%s\n</skill>", s.Name, filepath.Dir(s.Path), text)
	if args != "" {
		text += "\n\n" + args
	}
	return text, nil
}

// List puts skills into the words of the system prompt, the same for the same skills; ""
// for none.
func List(skills []Skill) string {
	var b strings.Builder
	for _, s := range skills {
		if !s.OnlyTyped {
			b.WriteString("\n" + Line(s))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "# Skills\n\nEach of these files says how to do one kind of task. When a task fits a description, read that file first and follow it; paths in it are relative to its folder.\n" + b.String()
}

// Line returns the line of a skill in the system prompt; "" if the model is not told of it.
func Line(s Skill) string {
	if s.OnlyTyped {
		return ""
	}
	return fmt.Sprintf("- %s: %s (%s)", s.Name, s.Description, s.Path)
}
