package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pi/internal/suggest"
)

// member returns what the guide says of a name that is no heading: the row of a function or
// field, such as pi.spawn, fs.read or ctx.session.id, without all the others, or a type with
// its fields, such as pi.ExecResult. ok is false for a name that belongs to nothing here.
func (g Guide) member(name string) (text string, ok bool, err error) {
	row, ok, err := g.row(name)
	if ok && err == nil {
		return row, true, nil
	}
	if text := g.typeNamed(name); text != "" {
		return text, true, nil
	}
	return "", ok, err
}

// row returns the row of a function or field in the table of what it belongs to.
func (g Guide) row(name string) (row string, ok bool, err error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", false, nil
	}
	owner, field := name[:dot], strings.TrimSuffix(name[dot+1:], "()")
	heading, text := g.owner(owner)
	if text == "" {
		return "", false, nil
	}
	var names []string
	for line := range strings.Lines(text) {
		is := memberOf(line)
		if is == field && field != "" {
			return fmt.Sprintf("%s\n\n| | |\n|---|---|\n%s", heading, line), true, nil
		}
		names = append(names, is)
	}
	return "", true, fmt.Errorf("no %q in the section %q%s", field, strings.Trim(heading, "# `"), suggest.Hint(field, names))
}

// owner returns the text with the rows of what is written before a dot, and its heading: a
// section, a type, or the type of a field.
func (g Guide) owner(name string) (heading, text string) {
	if name == "t" {
		name = "pi.test" // as every test calls it
	}
	all := g.Sections()
	if i := slices.IndexFunc(all, func(s Section) bool { return s.Title == name || s.Title == "pi."+name }); i >= 0 {
		return strings.Repeat("#", all[i].Level) + " " + all[i].Title, g.under(all, i)
	}
	text = g.typeNamed(name)
	if text == "" {
		row, _, _ := g.row(name)
		of := rowType.FindStringSubmatch(row)
		if of == nil {
			return "", ""
		}
		text = g.typeNamed(of[1])
	}
	return typeBegins.FindString(text), text
}

var (
	rowType    = regexp.MustCompile("(?m)^\\| `[^`]+` (?:→ )?\\*(pi\\.\\w+)\\??\\*")
	typeBegins = regexp.MustCompile("(?m)^`pi\\.\\w+`")
)

// typeNamed returns the paragraph and the table of a type, "" if there is none; pi. may be left
// out, and capitals do not count, since a theme is the type pi.Theme.
func (g Guide) typeNamed(name string) string {
	want := "`pi." + strings.TrimPrefix(name, "pi.") + "`"
	types := typeBegins.FindAllStringIndex(g.text, -1)
	i := slices.IndexFunc(types, func(at []int) bool { return strings.EqualFold(g.text[at[0]:at[1]], want) })
	if i < 0 {
		return ""
	}
	text := g.text[types[i][0]:]
	if i+1 < len(types) {
		text = text[:types[i+1][0]-types[i][0]]
	}
	text, _, _ = strings.Cut(text, "\n#")
	return strings.TrimRight(text, "\n") + "\n"
}

// memberOf is the name that the row of a table is about; "" if a line is no such row.
func memberOf(line string) string {
	name, ok := strings.CutPrefix(line, "| `")
	if !ok {
		return ""
	}
	return name[:strings.IndexAny(name+"`", "(`")]
}
