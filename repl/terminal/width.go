package terminal

import (
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// The size that is assumed of a terminal that does not tell.
const (
	usualColumns = 80
	usualRows    = 24
)

// Columns is the width of the terminal f, in cells.
func Columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return usualColumns
}

// Rows is the height of the terminal f.
func Rows(f *os.File) int {
	if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
		return height
	}
	return usualRows
}

// Cut shortens text to a number of columns; 0 or less leaves it as it is.
func Cut(text string, columns int) string {
	if columns <= 0 || len(text) <= columns {
		return text
	}
	return runewidth.Truncate(text, columns, "…")
}

// cutPainted shortens a line that has colours to a number of columns and ends
// its colours. A tab takes the place of one space, for its width depends on where
// it is.
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
			text = Cut(text, columns-used)
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
