package mcp

import (
	"fmt"
	"reflect"
	"slices"
)

// Adopted is what [Servers.Adopt] has changed: names of servers.
type Adopted struct {
	Added, Changed, Removed []string
	Taken                   []string // entries that are not used, each with why
}

// Adopt makes entries those of the session, as they are configured by now: servers that are new are
// added, those that are configured otherwise are ended and begin anew, and those of which there is no
// entry any more are removed. Servers of hooks stay as they are, and so does what was turned on or off
// for this session. only, if it is not empty, is the one name that counts.
func (s *Servers) Adopt(entries []Entry, only string) Adopted {
	var a Adopted
	var ended []*server
	counts := func(name string) bool { return only == "" || name == only }
	s.mu.Lock()
	var next []*server
	for _, e := range entries {
		i := slices.IndexFunc(s.list, func(have *server) bool { return have.entry.Name == e.Name })
		switch {
		case i < 0 && counts(e.Name):
			next, a.Added = append(next, newServer(s, e)), append(a.Added, e.Name)
		case i < 0:
		case s.list[i].entry.Source.Kind == FromHook:
			if counts(e.Name) {
				a.Taken = append(a.Taken, fmt.Sprintf("%s of %s: %s has a server of this name, which is used", e.Name, e.Source, s.list[i].entry.Source))
			}
		case counts(e.Name) && !s.list[i].entry.isLike(&e):
			next, a.Changed, ended = append(next, s.list[i].successor(e)), append(a.Changed, e.Name), append(ended, s.list[i])
		default:
			next = append(next, s.list[i])
		}
	}
	for _, have := range s.list {
		name := have.entry.Name
		isGone := !slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == name })
		switch {
		case have.entry.Source.Kind == FromHook || isGone && !counts(name):
			next = append(next, have)
		case isGone:
			a.Removed, ended = append(a.Removed, name), append(ended, have)
		}
	}
	s.list = next
	s.mu.Unlock()
	for _, old := range ended {
		old.retire()()
	}
	return a
}

// successor is the server that takes the place of s, with another entry.
func (s *server) successor(e Entry) *server {
	next := newServer(s.set, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.off != s.entry.Disabled {
		next.off = s.off
	}
	return next
}

// retire says that a server is in the set no more. The function that it returns has to be called, and
// returns when the server has ended.
func (s *server) retire() (end func()) {
	s.mu.Lock()
	isFirst := !s.gone
	s.gone = true
	s.mu.Unlock()
	return func() {
		s.end()
		if isFirst {
			s.set.tell(s)
		}
	}
}

// isLike reports whether two entries say the same. Where something is known only at a start, they may
// not.
func (e *Entry) isLike(other *Entry) bool {
	if e.Secrets != nil || other.Secrets != nil || fmt.Sprint(e.Problem) != fmt.Sprint(other.Problem) {
		return false
	}
	a, b := *e, *other
	a.Problem, b.Problem, a.Source.Line, b.Source.Line = nil, nil, 0, 0
	a.Check, b.Check = nil, nil
	return reflect.DeepEqual(a, b)
}
