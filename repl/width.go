package repl

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"pi/internal/printable"
)

// oneLine makes one line of text that others wrote: without control, and with
// every run of white space as one space.
func oneLine(text string) string { return printable.Line(text) }

// cutTo shortens text to a number of columns.
func cutTo(text string, columns int) string {
	if columns <= 0 || len(text) <= columns {
		return text
	}
	return runewidth.Truncate(text, columns, "…")
}

// cutPainted shortens a line that has colours to a number of columns and ends
// its colours. A tab takes the place of one space, for its width depends on where
// it stands.
func cutPainted(line string, columns int) string {
	var out strings.Builder
	painted, used := false, 0
	for i := 0; i < len(line); {
		if line[i] == keyEsc {
			n, _ := sequence([]byte(line[i:]))
			out.WriteString(line[i : i+n])
			painted = true
			i += n
			continue
		}
		end := i + 1
		for end < len(line) && line[end] != keyEsc {
			end++
		}
		text := strings.ReplaceAll(line[i:end], "\t", " ")
		if used < columns {
			text = cutTo(text, columns-used)
			out.WriteString(text)
			used += runewidth.StringWidth(text)
		}
		i = end
	}
	if painted {
		out.WriteString("\x1b[0m")
	}
	return out.String()
}
