package session

import (
	"fmt"
	"strconv"
	"strings"
)

// problems are what was wrong with a file and was not reported yet.
type problems struct {
	texts      []string
	unreadable []int           // numbers of lines that are no entries
	broken     map[*Entry]bool // entries whose bodies were reported already
}

// add adds a sentence.
func (p *problems) add(format string, args ...any) {
	p.texts = append(p.texts, fmt.Sprintf(format, args...))
}

// removeUnreadable takes a line out of those that cannot be read, if it is the last one
// of them: another problem names it. It returns whether it was.
func (p *problems) removeUnreadable(line int) bool {
	last := len(p.unreadable) - 1
	if last < 0 || p.unreadable[last] != line {
		return false
	}
	p.unreadable = p.unreadable[:last]
	return true
}

// take returns all problems, one sentence each, and forgets them, but not which broken
// bodies were among them.
func (p *problems) take() []string {
	out := p.texts
	if len(p.unreadable) > 0 {
		out = append(out, unreadable(p.unreadable))
	}
	p.texts, p.unreadable = nil, nil
	return out
}

// unreadable names the lines, the first twenty of them.
func unreadable(lines []int) string {
	const most = 20
	names := make([]string, 0, most)
	for _, n := range lines[:min(len(lines), most)] {
		names = append(names, strconv.Itoa(n))
	}
	text := "line " + names[0] + " cannot be read; it is left where it is"
	if len(lines) > 1 {
		text = fmt.Sprintf("%d lines cannot be read; they are left where they are: %s", len(lines), strings.Join(names, ", "))
	}
	if more := len(lines) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
