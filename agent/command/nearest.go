package command

import (
	"sort"
	"strings"

	"pi/internal/suggest"
)

const (
	nearAtMost  = 2 // changes between a name and one that it is like
	nearestTold = 3
)

// unknown returns the error for a name that no command has, with the names that it may be
// a misspelling or the beginning of, the nearest first.
func unknown(name string, commands []Command) *UnknownError {
	type alike struct {
		name string
		by   int
	}
	var found []alike
	for _, c := range commands {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			d := suggest.Distance(name, known)
			if len(name) > 1 && strings.HasPrefix(known, name) {
				d = min(d, 1)
			}
			if d <= nearAtMost && d < len(name) {
				found = append(found, alike{known, d})
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].by < found[j].by })
	e := &UnknownError{Name: name}
	for _, a := range found[:min(len(found), nearestTold)] {
		e.Nearest = append(e.Nearest, a.name)
	}
	return e
}
