package prompts

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"pi/internal/frontmatter"
	"pi/internal/printable"
)

// Template becomes a prompt when its name is typed.
type Template struct {
	Name        string // without the slash
	Description string // one line
	Hint        string // the arguments that it wants, as "[ref]"; "" for none
	Path        string // "": inside the program
	From        string // where it was found, for people: "project", "yours", "hook notes", "built in"
}

// mostTemplates is how many templates of one folder are looked at.
const mostTemplates = 500

//go:embed init.md review.md
var builtin embed.FS

// Templates returns the templates there are, those inside of the program among them, in
// the order of their names, and what is wrong with those that do not count.
func (l *Library) Templates() (templates []Template, problems []frontmatter.Problem) {
	for _, s := range l.options.sources("prompts", l.options.NoPrompts, func(f Folder) string { return f.Templates }) {
		found, more := l.templatesIn(s)
		problems = append(problems, more...)
		for _, t := range found {
			if i := slices.IndexFunc(templates, func(have Template) bool { return have.Name == t.Name }); i < 0 {
				templates = append(templates, t)
			} else if !sameFile(templates[i].Path, t.Path) {
				problems = append(problems, frontmatter.Problem{Path: t.Path, Text: fmt.Sprintf("the template /%s is also in %s, which is nearer and counts", t.Name, templates[i].Path)})
			}
		}
	}
	for _, name := range []string{"init", "review"} {
		if !slices.ContainsFunc(templates, func(have Template) bool { return have.Name == name }) {
			templates = append(templates, builtIn(name))
		}
	}
	sort.Slice(templates, func(i, j int) bool { return templates[i].Name < templates[j].Name })
	return templates, problems
}

// builtIn returns a template that is inside of the program.
func builtIn(name string) Template {
	fields := frontmatter.Parse(builtInText(name))
	hint, _ := fields.Field("argument-hint")
	return Template{Name: name, Description: fields.Text("description"), Hint: hint.Raw, From: "built in"}
}

func builtInText(name string) string {
	b, _ := builtin.ReadFile(name + ".md") // it is there: the compiler put it in
	return string(b)
}

// templatesIn returns the templates of a folder, or the one of a single file.
func (l *Library) templatesIn(s source) (templates []Template, problems []frontmatter.Problem) {
	if isFile(s.dir) {
		t, problems, ok := l.template(s.dir, strings.TrimSuffix(filepath.Base(s.dir), ".md"), s)
		if !ok {
			return nil, problems
		}
		return []Template{t}, problems
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, frontmatter.Problem{Path: s.dir, Text: "the templates here cannot be listed: " + reason(err)})
		}
		return nil, problems
	}
	for _, e := range entries {
		name, isMarkdown := strings.CutSuffix(e.Name(), ".md")
		if !isMarkdown || name == "" || name[0] == '.' || isFolder(s.dir, e) {
			continue
		}
		if len(templates) == mostTemplates {
			return templates, append(problems, frontmatter.Problem{Path: s.dir, Text: fmt.Sprintf("more than %d templates are not looked at", mostTemplates)})
		}
		t, more, ok := l.template(filepath.Join(s.dir, e.Name()), name, s)
		problems = append(problems, more...)
		if ok {
			templates = append(templates, t)
		}
	}
	return templates, problems
}

// template reads the template at path. It is false if that cannot be used, and problems say
// why. Damaged fields do not keep it from being used.
func (l *Library) template(path, name string, s source) (t Template, problems []frontmatter.Problem, ok bool) {
	if !isTemplateName(name) {
		return Template{}, []frontmatter.Problem{{Path: path, Text: fmt.Sprintf("/%s cannot be typed; the name of a template is one word of letters, digits and dashes", name)}}, false
	}
	if why := l.options.counts(path, s); why != "" {
		return Template{}, []frontmatter.Problem{{Path: path, Text: why}}, false
	}
	f, err := l.read(path)
	if err != nil {
		return Template{}, []frontmatter.Problem{{Path: path, Text: reason(err)}}, false
	}
	hint, _ := f.fields.Field("argument-hint")
	t = Template{Name: name, Path: path, From: s.from, Description: printable.Line(f.fields.Text("description")), Hint: printable.Line(cmp.Or(hint.Text, hint.Raw))}
	t.Description = cmp.Or(t.Description, f.first)
	return t, f.problems(path), true
}

// Text returns the prompt that a template becomes with these arguments. Its file is read
// again.
func (t Template) Text(args Arguments) (string, error) {
	text, err := "", error(nil)
	if t.Path == "" {
		text = strings.TrimSpace(frontmatter.Parse(builtInText(t.Name)).Body)
	} else if text, err = readBody(t.Path); err != nil {
		return "", fmt.Errorf("read template: %s: %w", t.Path, err)
	}
	if text = Fill(text, args); text == "" {
		return "", fmt.Errorf("the template %s has no text", t.Path)
	}
	return text, nil
}

// readBody returns the text of a skill or a template, without its fields.
func readBody(path string) (string, error) {
	text, err := readText(path)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(frontmatter.Parse(text).Body), nil
}

// reason drops the operation and the path of an error of the file system, which the
// problem around it has already.
func reason(err error) string {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// Arguments are what was typed behind the name of a template.
type Arguments struct {
	Raw   string   // as it was typed
	Words []string // cut as a shell cuts them
}

// placeholder is a place in a template for arguments, with a backslash before it if it is
// meant as text.
var placeholder = regexp.MustCompile(`\\?\$(?:@|ARGUMENTS\b|[0-9]+|\{@:[0-9]{1,6}(?::[0-9]{1,6})?\})`)

// Fill puts arguments into the places that a template has for them:
//
//	$1 … $9           one argument; nothing where there are fewer
//	$@, $ARGUMENTS    all, as they were typed
//	${@:2}, ${@:2:3}  those from the second on; three of them
//	\$1               the text $1
//
// What is put in is not looked at again. If there are arguments and no place for them, they
// follow the text.
func Fill(text string, args Arguments) string {
	filled := false
	text = placeholder.ReplaceAllStringFunc(text, func(place string) string {
		digits := strings.TrimLeft(place, `\$`)
		switch {
		case digits[0] == '0' || digits[0] <= '9' && len(digits) > 1: // $100 is a price
			return place
		case place[0] == '\\':
			return place[1:]
		}
		filled = true
		return args.value(place[1:])
	})
	if !filled && args.Raw != "" {
		text += "\n\n" + args.Raw
	}
	return strings.TrimSpace(text)
}

// value returns what belongs at a place, which is written here without its dollar.
func (a Arguments) value(place string) string {
	switch {
	case place == "@" || place == "ARGUMENTS":
		return a.Raw
	case place[0] != '{':
		return a.words(int(place[0]-'0'), 1)
	}
	from, count, isCounted := strings.Cut(strings.Trim(place, "{}@:"), ":")
	n := len(a.Words)
	if isCounted {
		n, _ = strconv.Atoi(count)
	}
	first, _ := strconv.Atoi(from)
	return a.words(max(first, 1), n)
}

// words returns count words from the one with this number on, as far as there are so many,
// with blanks between them.
func (a Arguments) words(first, count int) string {
	from := min(first-1, len(a.Words))
	return strings.Join(a.Words[from:min(from+count, len(a.Words))], " ")
}
