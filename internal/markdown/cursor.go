package markdown

import "strings"

// tabStop is how far a tab reaches, in the structure of a text and in its code.
const tabStop = 4

// cursor reads a line from its beginning. It counts columns, since a tab may belong in
// part to the indentation of one block and in part to that of the next.
type cursor struct {
	rest   string
	column int
}

// indent counts the columns of the blanks ahead.
func (c *cursor) indent() int {
	column := c.column
	for i := 0; i < len(c.rest); i++ {
		switch c.rest[i] {
		case ' ':
			column++
		case '\t':
			column += tabStop - column%tabStop
		default:
			return column - c.column
		}
	}
	return column - c.column
}

// skip reads so many columns of blanks, or as many as there are.
func (c *cursor) skip(n int) {
	for n > 0 && c.rest != "" && strings.Contains(" \t", c.rest[:1]) {
		width := 1
		if c.rest[0] == '\t' {
			width = tabStop - c.column%tabStop
		}
		if c.rest = c.rest[1:]; width > n { // the rest of a tab stays as blanks
			c.rest = strings.Repeat(" ", width-n) + c.rest
			width = n
		}
		c.column += width
		n -= width
	}
}

// advance reads n bytes that are no blanks.
func (c *cursor) advance(n int) {
	c.rest = c.rest[n:]
	c.column += n
}

// isBlank reports whether nothing but blanks follows.
func (c *cursor) isBlank() bool { return isBlank(c.rest) }

func isBlank(s string) bool { return strings.Trim(s, " \t") == "" }
