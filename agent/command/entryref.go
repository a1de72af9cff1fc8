package command

import (
	"fmt"
	"strings"

	"pi/session"
)

// shortestRef is how much of an id a user has to write.
const shortestRef = 4

// findEntry returns the entry whose id is ref or, if ref has at least shortestRef letters,
// begins with it; nil if there is none. If several begin so, that is an error.
func findEntry(s *session.Session, ref string) (*session.Entry, error) {
	if e := s.Entry(ref); e != nil || len(ref) < shortestRef {
		return e, nil
	}
	var found []*session.Entry
	for _, e := range s.Entries() {
		if strings.HasPrefix(e.ID, ref) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%q is the beginning of %d ids, such as %s and %s: write more of it", ref, len(found), found[0].ID, found[1].ID)
}

// needEntry is findEntry, but it is an error if there is no such entry.
func needEntry(s *session.Session, ref string) (*session.Entry, error) {
	e, err := findEntry(s, ref)
	if e == nil && err == nil {
		err = fmt.Errorf("no entry %q in this session; /tree all lists them", ref)
	}
	return e, err
}
