// Package prompts has what people write down once and use often: skills, which tell a
// model how to do one kind of task, and templates, which become a prompt when their name is
// typed behind a slash. Both are Markdown files with fields at their head (package
// frontmatter):
//
//	skills/NAME/SKILL.md    name, description; also license, compatibility, metadata,
//	                        allowed-tools (agentskills.io). The model is told name,
//	                        description and path, and reads the file when a task fits
//	prompts/NAME.md         description, argument-hint; the text has places for what is
//	                        typed behind /NAME ([Fill])
//
// A [Library] looks for them when it is asked, never before, and looks again each time, so
// that what is edited counts at its next use; files that did not change are not parsed
// again. These folders are searched, the nearer first:
//
//	what the command line names, which may be a single file
//	.pi/ and .agents/ of the working directory, and of those above it in its repository
//	folders that hooks name
//	the agent directory, then ~/.agents
//	packages of the user
//
// Of two with one name the nearer counts, and a [frontmatter.Problem] says so. /init and /review are
// templates too, inside the program; a file of the same name takes their place.
//
// What a project brings is data, as its AGENTS.md is: it is shown to a model, or sent
// when a user types its name, and never run. What a link leads out of the project does
// not count, for that could be a secret of the user.
package prompts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"pi/agent/instructions"
	"pi/internal/frontmatter"
	"pi/internal/printable"
	"pi/internal/safefile"
)

// Options say where is looked.
type Options struct {
	AgentDir  string
	Cwd       string          // absolute
	Home      string          // "" if there is none
	Named     []Folder        // on the command line: folders or single files; nothing below leaves them out
	BuiltIn   bool            // nothing else but what is inside the program
	NoSkills  bool            // no other skills
	NoPrompts bool            // no other templates, but those inside the program
	NoProject func() bool     // whether nothing of the project counts; nil: it does
	Allowed   []string        // files that count although a link leads to them out of the project
	More      func() []Folder // of hooks, the nearer first; nil: none
	Packages  func() []Folder // of packages of the user, behind all others; nil: none
}

// Folder is a folder with skills, and one with templates, that somebody names.
type Folder struct {
	Skills, Templates string // absolute; "" for none
	From              string // who names them, for people: "hook notes"
	// Check returns why a file there does not count; "": it does. nil: every file does.
	Check func(path string) string
}

// Library finds skills and templates. It may be used by any goroutine.
type Library struct {
	options Options

	mu    sync.Mutex
	files map[string]file // by path, as they were read last
}

// New returns a library. Nothing is read yet.
func New(o Options) *Library { return &Library{options: o, files: map[string]file{}} }

// source is a folder that is searched.
type source struct {
	dir     string
	from    string // for people: "project", "yours", or who named it
	project string // what it has must lie in here; "" for anywhere
	check   func(path string) string
}

// sources lists the folders with this name that are searched, the nearer first; with off
// only those of the command line.
func (o Options) sources(name string, off bool, named func(Folder) string) (all []source) {
	for _, f := range o.Named {
		if path := named(f); path != "" {
			all = append(all, source{dir: path, from: f.From})
		}
	}
	if o.BuiltIn || off {
		return all
	}
	var own []source
	if o.AgentDir != "" {
		own = append(own, source{dir: filepath.Join(o.AgentDir, name), from: "yours"})
	}
	if o.Home != "" {
		own = append(own, source{dir: filepath.Join(o.Home, ".agents", name), from: "yours"})
	}
	isOwn := func(dir string) bool { return slices.ContainsFunc(own, func(s source) bool { return s.dir == dir }) }
	for _, at := range o.projectDirs() {
		for _, folder := range []string{".pi", ".agents"} {
			if dir := filepath.Join(at, folder, name); !isOwn(dir) {
				all = append(all, source{dir: dir, from: "project", project: o.project()})
			}
		}
	}
	if o.More != nil {
		for _, f := range o.More() {
			if dir := named(f); dir != "" {
				all = append(all, source{dir: dir, from: f.From, check: f.Check})
			}
		}
	}
	all = append(all, own...)
	if o.Packages != nil {
		for _, f := range o.Packages() {
			all = append(all, source{dir: named(f), from: f.From, check: f.Check})
		}
	}
	return all
}

// project returns the directory that the material of the project lies in.
func (o Options) project() string {
	dir, _ := instructions.Repository(o.Cwd, o.Home)
	return dir
}

// projectDirs lists the working directory and those above it that belong to the project.
func (o Options) projectDirs() (dirs []string) {
	if o.NoProject != nil && o.NoProject() {
		return nil
	}
	project := o.project()
	for at := o.Cwd; ; at = filepath.Dir(at) {
		dirs = append(dirs, at)
		if at == project || at == filepath.Dir(at) {
			return dirs
		}
	}
}

// mostBytes is the size of the largest file that is read.
const mostBytes = 256 << 10

// file is a skill or template as it was read last.
type file struct {
	modified time.Time
	size     int64
	fields   frontmatter.Document // without its body
	first    string               // the first line of the body that says something, for people
	hidden   string               // what of it a user does not see; "" for nothing
}

// read returns the file at path, which is parsed again if it has changed.
func (l *Library) read(path string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	l.mu.Lock()
	f, known := l.files[path]
	l.mu.Unlock()
	if known && f.size == info.Size() && f.modified.Equal(info.ModTime()) {
		return f, nil
	}
	text, err := readText(path)
	if err != nil {
		return file{}, err
	}
	f = file{modified: info.ModTime(), size: info.Size(), fields: frontmatter.Parse(text), hidden: printable.HiddenIn(text)}
	f.first = firstLine(f.fields.Body)
	f.fields.Body = ""
	l.mu.Lock()
	l.files[path] = f
	l.mu.Unlock()
	return f, nil
}

// readText returns the text of a file. The error says what is wrong with it, without
// its path.
func readText(path string) (string, error) {
	b, err := safefile.Read(path, mostBytes)
	if errors.Is(err, safefile.ErrNotRegular) {
		return "", fmt.Errorf("it is no regular file of at most %s", printable.Bytes(mostBytes))
	}
	if err != nil {
		return "", errors.New(reason(err))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

// firstLine returns the first line of a text that says something, without the marks of a
// heading, short enough for a list.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return printable.FirstLine(line, 60)
		}
	}
	return ""
}

// problems returns what is wrong with a file, line by line.
func (f file) problems(path string) (all []frontmatter.Problem) {
	for _, p := range f.fields.Problems {
		all = append(all, frontmatter.Problem{Path: path, Line: p.Line, Text: p.Text})
	}
	if f.hidden != "" {
		all = append(all, frontmatter.Problem{Path: path, Text: f.hidden})
	}
	return all
}

// counts returns why the file at path is left out; "" if it is not.
func (o Options) counts(path string, s source) string {
	if s.check != nil {
		return s.check(path)
	}
	if s.project == "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "" // whoever reads it says so
	}
	project, err := filepath.EvalSymlinks(s.project)
	if err != nil {
		return err.Error()
	}
	if rel, err := filepath.Rel(project, real); err == nil && filepath.IsLocal(rel) {
		return ""
	}
	for _, allowed := range o.Allowed {
		if resolved, err := filepath.EvalSymlinks(allowed); err == nil && resolved == real {
			return ""
		}
	}
	return fmt.Sprintf("it is left out: a link leads out of the project, to %s; instructions = [%q] in your own config.toml allows it", real, real)
}

// mostName is how many characters the name of a skill or a template may have.
const mostName = 64

// isSkillName reports whether a skill may be called so: it has to be typed.
func isSkillName(name string) bool {
	return isName(name, isASCIILetter, "-_") && isASCIILetter(rune(name[0]))
}

// isTemplateName reports whether a template may be called so: it has to be typed, without a
// slash, a dot or a colon.
func isTemplateName(name string) bool { return isName(name, isLetter, "-_") && name[0] != '-' }

// isName reports whether a name is of characters that letter accepts, or of others.
func isName(name string, letter func(rune) bool, others string) bool {
	n := 0
	for _, c := range name {
		if n++; n > mostName || !letter(c) && !strings.ContainsRune(others, c) {
			return false
		}
	}
	return n > 0
}

func isLetter(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

func isASCIILetter(c rune) bool { return c < unicode.MaxASCII && isLetter(c) }
