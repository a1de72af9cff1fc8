//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"pi/repl/terminal/keymap"
)

func TestTheGuideToTheTerminalHasTheKeysOfTheProgram(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| action | keys | |\n|---|---|---|\n")
	for _, a := range keymap.Actions() {
		var labels []string
		for _, key := range a.Keys {
			labels = append(labels, keymap.Label(key))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, inCell(strings.Join(labels, ", ")), inCell(a.Meaning))
	}
	b.WriteString("\n")
	generated(t, "docs/terminal.md", "<!-- keys -->\n", "<!-- /keys -->\n", b.String())
}
