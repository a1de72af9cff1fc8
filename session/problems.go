package session

import (
	"fmt"
	"strconv"
	"strings"
)

// Problems returns what was wrong with the file, one sentence each, and forgets
// it: every problem is reported once. Bodies are read late, so building the
// context may bring up more.
func (s *Session) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.problems
	if len(s.unreadable) > 0 {
		out = append(out, unreadable(s.unreadable))
	}
	s.problems, s.unreadable = nil, nil
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

// noteUnreadable reports entries whose bodies turned out to be broken.
func (s *Session) noteUnreadable(path []*Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range path {
		if err := e.err(); err != nil && !s.badBody[e] {
			s.badBody[e] = true
			s.problem("line %d: the %s entry %s cannot be used: %v", e.line, e.Type, e.ID, err)
		}
	}
}

// UnknownTypes returns the line that tells of entries that are not the core's,
// or "".
func (s *Session) UnknownTypes() string {
	counts := map[string]int{}
	var order []string
	for _, e := range s.Entries() {
		if Reserved(e.Type) {
			continue
		}
		if counts[e.Type]++; counts[e.Type] == 1 {
			order = append(order, e.Type)
		}
	}
	if len(order) == 0 {
		return ""
	}
	for i, typ := range order {
		order[i] = fmt.Sprintf("%s (%d)", typ, counts[typ])
	}
	return "Session has entries of unknown types: " + strings.Join(order, ", ")
}
