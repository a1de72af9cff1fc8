package terminal

import (
	"os"

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
