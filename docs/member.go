package docs

import (
	"fmt"
	"slices"
	"strings"

	"pi/internal/suggest"
)

// member returns the row of a function or field, such as pi.spawn, ctx.ui.confirm or fs.read,
// in the table of the section that is named for what it belongs to, without all the others.
// ok is false for a name that belongs to no section.
func (g Guide) member(name string) (row string, ok bool, err error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return "", false, nil
	}
	owner, field := name[:dot], strings.TrimSuffix(name[dot+1:], "()")
	all := g.Sections()
	i := slices.IndexFunc(all, func(s Section) bool { return s.Title == owner || s.Title == "pi."+owner })
	if i < 0 {
		return "", false, nil
	}
	text, err := g.Section(all[i].Title)
	if err != nil {
		return "", false, err
	}
	var names []string
	for line := range strings.Lines(text) {
		is := memberOf(line)
		if is == field && field != "" {
			return fmt.Sprintf("%s %s\n\n| | |\n|---|---|\n%s", strings.Repeat("#", all[i].Level), all[i].Title, line), true, nil
		}
		names = append(names, is)
	}
	return "", true, fmt.Errorf("no %q in the section %q%s", field, all[i].Title, suggest.Hint(field, names))
}

// memberOf is the name that the row of a table is about; "" if a line is no such row.
func memberOf(line string) string {
	name, ok := strings.CutPrefix(line, "| `")
	if !ok {
		return ""
	}
	return name[:strings.IndexAny(name+"`", "(`")]
}
