// Package docs has the guides of this folder inside of the program, for `pi docs` and for
// a model that is asked for a hook: whole, or section by section.
package docs

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pi/internal/suggest"
)

// The picture of a session that README shows is played and drawn by a test.
//go:generate go test pi/e2e -run TestThePictureOfASession -update

//go:embed *.md
var files embed.FS

// Guide is one of the documents.
type Guide struct {
	Name  string // of its file, without .md
	Title string
	text  string
}

// Section is a heading of a guide.
type Section struct {
	Title string
	Level int // 1 is the title of the guide
	line  int
}

// Guides lists the guides in the order of the index, README.md, which is no guide itself.
func Guides() ([]Guide, error) {
	index, err := files.ReadFile("README.md")
	if err != nil {
		return nil, fmt.Errorf("read the index of the guides: %w", err)
	}
	var all []Guide
	for _, link := range regexp.MustCompile(`(?m)^- \[[^\]]+\]\(([a-z]+)\.md\)`).FindAllStringSubmatch(string(index), -1) {
		text, err := files.ReadFile(link[1] + ".md")
		if err != nil {
			return nil, fmt.Errorf("read the guides: %w", err)
		}
		g := Guide{Name: link[1], text: string(text)}
		if sections := g.Sections(); len(sections) > 0 {
			g.Title = sections[0].Title
		}
		all = append(all, g)
	}
	return all, nil
}

// Find returns the guide of a name, with or without .md.
func Find(name string) (Guide, error) {
	all, err := Guides()
	if err != nil {
		return Guide{}, err
	}
	var names []string
	for _, g := range all {
		if g.Name == strings.ToLower(strings.TrimSuffix(name, ".md")) {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return Guide{}, fmt.Errorf("no guide %q%s\nthere are: %s", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// Text is the whole guide.
func (g Guide) Text() string { return g.text }

// Sections lists the headings of the guide in their order.
func (g Guide) Sections() (all []Section) {
	fenced := false
	for i, line := range strings.Split(g.text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if level := len(line) - len(strings.TrimLeft(line, "#")); !fenced && level > 0 && strings.HasPrefix(line[level:], " ") {
			all = append(all, Section{strings.TrimSpace(line[level:]), level, i})
		}
	}
	return all
}

// Section returns the part of the guide below a heading, with the headings inside of it. The
// name is that of the heading, its beginning, or a word of it that no other heading has; or
// that of a function or field, of which the guide has a row, or of a type.
func (g Guide) Section(name string) (string, error) {
	all := g.Sections()
	i, err := find(all, name)
	if err != nil {
		row, ok, inside := g.member(strings.TrimSpace(name))
		switch {
		case !ok:
			if other := otherWith(name); other != "" {
				return "", fmt.Errorf("the guide %s has no section %q, but %s has: `pi docs %[3]s --section %[2]q`", g.Name, name, other)
			}
			return "", fmt.Errorf("the guide %s: %w", g.Name, err)
		case inside != nil:
			return "", fmt.Errorf("the guide %s: %w", g.Name, inside)
		}
		return row, nil
	}
	return g.under(all, i), nil
}

// under is the text of a heading, with the headings inside of it.
func (g Guide) under(all []Section, i int) string {
	lines := strings.Split(g.text, "\n")
	end := len(lines)
	for _, s := range all[i+1:] {
		if s.Level <= all[i].Level {
			end = s.line
			break
		}
	}
	return strings.TrimRight(strings.Join(lines[all[i].line:end], "\n"), "\n") + "\n"
}

// otherWith is the first guide that has a section, or a row, of just this name: most who ask
// hooks for a function look for it in the reference.
func otherWith(name string) string {
	all, err := Guides()
	if err != nil {
		return ""
	}
	for _, g := range all {
		_, ok, inside := g.member(name)
		if ok && inside == nil || slices.ContainsFunc(g.Sections(), func(s Section) bool { return strings.EqualFold(s.Title, name) }) {
			return g.Name
		}
	}
	return ""
}

// find returns the index of the heading that a name means.
func find(all []Section, name string) (int, error) {
	want := strings.ToLower(strings.TrimSpace(strings.TrimLeft(name, "# ")))
	var titles []string
	for _, s := range all {
		titles = append(titles, s.Title)
	}
	if want == "" {
		return 0, fmt.Errorf("no section %q", name)
	}
	for _, fits := range []func(title, want string) bool{func(a, b string) bool { return a == b }, strings.HasPrefix, strings.Contains} {
		i := slices.IndexFunc(titles, func(title string) bool { return fits(strings.ToLower(title), want) })
		if i >= 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no section %q%s", name, suggest.Hint(name, titles))
}
