package command

import (
	"strings"

	"pi/agent"
)

// nearest is the known name most like name, "" if none is.
func (s *Set) nearest(name string) string {
	best, least := "", len(name)/3+2
	for _, c := range s.All() {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			d := agent.Distance(name, known)
			if len(name) > 1 && strings.HasPrefix(known, name) {
				d = 1
			}
			if d < least {
				best, least = known, d
			}
		}
	}
	return best
}
