package repl

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// oneLine makes one line of text that others wrote: without control, and with
// every run of white space as one space.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// cutTo shortens text to a number of columns.
func cutTo(text string, columns int) string {
	if columns <= 0 || len(text) <= columns {
		return text
	}
	return runewidth.Truncate(text, columns, "…")
}
