//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pi/stdlib/compat"
)

// portedTable is the table of the events of a module, and of those that it does not have.
func portedTable(about compat.About) string {
	var b strings.Builder
	b.WriteString("| event | here | fields | returns | rule |\n|---|---|---|---|---|\n")
	for _, e := range about.Events {
		ours := "the same"
		if e.Ours != e.Name {
			ours = "`" + e.Ours + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Name, ours, strings.Join(e.Fields, ", "), strings.Join(e.Results, ", "), inCell(e.Rule))
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(about.NoEvents)) {
		fmt.Fprintf(&b, "- `%s`: %s\n", name, about.NoEvents[name])
	}
	return b.String()
}

func TestThePortingGuideHasTheEventsOfEachModule(t *testing.T) {
	for _, module := range compat.Names() {
		about, err := compat.Describe(module)
		if err != nil {
			t.Fatal(err)
		}
		generated(t, "docs/porting.md", "<!-- "+module+" -->\n", "<!-- /"+module+" -->\n", portedTable(about))
	}
}
