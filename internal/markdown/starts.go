package markdown

import (
	"strconv"
	"strings"
)

// runLen counts how often s repeats its first byte c.
func runLen(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// parseHeading reads a line that begins with one to six #.
func parseHeading(s string) (level int, text string, ok bool) {
	level = runLen(s, '#')
	if level < 1 || level > 6 || len(s) > level && s[level] != ' ' && s[level] != '\t' {
		return 0, "", false
	}
	text = strings.Trim(s[level:], " \t")
	if closed := strings.TrimRight(text, "#"); closed == "" || strings.HasSuffix(closed, " ") || strings.HasSuffix(closed, "\t") {
		text = strings.TrimRight(closed, " \t")
	}
	return level, text, true
}

// isRule reports whether a line is a thematic break: three or more of one mark.
func isRule(s string) bool {
	return isOneMark(s) && strings.Count(s, s[:1]) >= 3
}

// isOneMark reports whether a line consists of one mark of rules, and blanks.
func isOneMark(s string) bool {
	return s != "" && strings.Contains("-*_", s[:1]) && strings.Trim(s, s[:1]+" \t") == ""
}

// fence is how a block of code is closed: by at least so many of a mark.
type fence struct {
	mark     byte
	length   int
	indent   int // of the line that opens it
	language string
}

// parseFence reads a line that opens a block of code.
func parseFence(s string) (f fence, ok bool) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return fence{}, false
	}
	f = fence{mark: s[0], length: runLen(s, s[0])}
	info := s[f.length:]
	if f.length < 3 || f.mark == '`' && strings.IndexByte(info, '`') >= 0 {
		return fence{}, false
	}
	if words := strings.Fields(info); len(words) > 0 {
		f.language = words[0]
	}
	return f, true
}

// isClosedBy reports whether a line ends the block.
func (f fence) isClosedBy(c cursor) bool {
	if c.indent() > 3 {
		return false
	}
	s := strings.Trim(c.rest, " \t")
	return len(s) >= f.length && strings.Trim(s, string(f.mark)) == ""
}

// marker is the mark of a list's item.
type marker struct {
	char   byte // - + * and, of a numbered one, . or )
	number int  // -1: none
	length int
}

func (m marker) isNumbered() bool { return m.number >= 0 }

// parseMarker reads the mark of an item, which a blank or the end of the line follows.
func parseMarker(s string) (m marker, ok bool) {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	switch {
	case digits == len(s) || digits > 9:
		return marker{}, false
	case digits > 0 && (s[digits] == '.' || s[digits] == ')'):
		m = marker{char: s[digits], length: digits + 1}
		m.number, _ = strconv.Atoi(s[:digits])
	case digits == 0 && strings.IndexByte("-+*", s[0]) >= 0:
		m = marker{char: s[0], number: -1, length: 1}
	default:
		return marker{}, false
	}
	return m, len(s) == m.length || s[m.length] == ' ' || s[m.length] == '\t'
}

// isTask reports whether the text of an item begins with the box of a task.
func isTask(s string) bool {
	return strings.HasPrefix(s, "[ ] ") || strings.HasPrefix(s, "[x] ") || strings.HasPrefix(s, "[X] ")
}

// mayBecome reports whether the beginning of a line without its indentation can still
// turn out to be something else than text, or is something else.
func mayBecome(s string) bool {
	if isBlank(s) || isOneMark(s) || s[0] == '|' || s[0] == '>' {
		return true
	}
	n := runLen(s, s[0])
	switch s[0] {
	case '#':
		_, _, ok := parseHeading(s)
		return ok
	case '`':
		return n == len(s) || n >= 3 && strings.IndexByte(s[n:], '`') < 0
	case '~':
		return n == len(s) || n >= 3
	case '[':
		return len(s) < len("[x] ") || isTask(s) && isBlank(s[len("[x] "):])
	}
	_, isMarker := parseMarker(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return isMarker || digits > 0 && digits <= 9 && len(s) == digits
}
