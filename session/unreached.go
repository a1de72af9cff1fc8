package session

import (
	"fmt"
	"slices"
)

// A file with several roots is in order: who goes back to before the first prompt
// begins anew, and null says so. An entry whose parentId is missing, misspelt or no
// text looks the same, and is a mistake that hides all that stands before it.

// Unreached returns the entries that the conversation does not come by because the
// entry that it begins with lacks its parent, in the order of the file.
func (s *Session) Unreached() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, left := s.unreached()
	return left
}

// unreached is Unreached with the entry that it is because of.
func (s *Session) unreached() (root *Entry, left []*Entry) {
	if root = s.wrongRoot(); root == nil {
		return nil, nil
	}
	below := map[*Entry]bool{root: true}
	for _, e := range s.entries {
		if !isBelow(e, below) {
			left = append(left, e)
		}
	}
	return root, left
}

// wrongRoot is the entry that the conversation begins with, if it should not; nil
// if all is in order.
func (s *Session) wrongRoot() *Entry {
	if len(s.orphans) == 0 || s.leaf == nil {
		return nil
	}
	root := s.leaf
	for root.parent != nil {
		root = root.parent
	}
	if root.index == 0 || !slices.Contains(s.orphans, root) {
		return nil
	}
	return root
}

// isBelow reports whether the way from e to its root passes one that is below
// already, and notes what it finds.
func isBelow(e *Entry, below map[*Entry]bool) bool {
	var way []*Entry
	found := false
	for ; e != nil; e = e.parent {
		known, seen := below[e]
		if found = known; seen {
			break
		}
		way = append(way, e)
	}
	for _, e := range way {
		below[e] = found
	}
	return found
}

// noteUnreached tells how much of the file the conversation does not come by.
func (s *Session) noteUnreached() {
	root, left := s.unreached()
	if len(left) == 0 {
		return
	}
	entries := "1 entry"
	if len(left) > 1 {
		entries = fmt.Sprintf("%d entries", len(left))
	}
	s.problem("line %d: the %s entry %s has no usable parentId, so the conversation begins there: %s cannot be reached, from line %d on; /tree shows them",
		root.line, root.Type, root.ID, entries, left[0].line)
}
