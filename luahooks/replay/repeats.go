package replay

import (
	"fmt"
)

// Repeats leaves out findings that only say again which error a hook raised at an event, and
// counts them. It is used by one goroutine.
type Repeats struct {
	times map[string]int // of an error, by what is told of it
	order []string
}

// Add reports whether a finding only repeats an error that another one told.
func (r *Repeats) Add(f *Finding) bool {
	for _, e := range f.Effects {
		if e.Kind != Raised {
			return false
		}
	}
	if r.times == nil {
		r.times = map[string]int{}
	}
	text := f.Event + ": " + f.Did()
	if r.times[text] == 0 {
		r.order = append(r.order, text)
	}
	r.times[text]++
	return r.times[text] > 1
}

// Lines say how often the errors came that were told once.
func (r *Repeats) Lines() (lines []string) {
	for _, text := range r.order {
		if n := r.times[text]; n > 1 {
			lines = append(lines, fmt.Sprintf("%d times %s", n, text))
		}
	}
	return lines
}
