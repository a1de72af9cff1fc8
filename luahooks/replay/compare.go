package replay

import (
	"cmp"
	"slices"
)

// Difference is one event at which two hooks did not do the same.
type Difference struct {
	Finding          // of the event; Effects are those of the first hook
	Other   []Effect `json:"other"` // of the second one
}

// Lines are the difference for a user: where it is, and below what each hook did.
func (d *Difference) Lines() []string {
	other := d.Finding
	other.Effects = d.Other
	return []string{d.Place(), "  - " + cmp.Or(d.Did(), nothing), "  + " + cmp.Or(other.Did(), nothing)}
}

const nothing = "nothing"

// Differences lists the events at which the hooks of a result did not do the same, in their
// order.
func (r *Result) Differences() (list []Difference) {
	one, other := r.Hook.Findings, r.Other.Findings
	for len(one) > 0 || len(other) > 0 {
		switch {
		case len(other) == 0 || len(one) > 0 && one[0].number < other[0].number:
			list = append(list, Difference{one[0], []Effect{}})
			one = one[1:]
		case len(one) == 0 || other[0].number < one[0].number:
			d := Difference{other[0], other[0].Effects}
			d.Effects = []Effect{}
			list = append(list, d)
			other = other[1:]
		default:
			if !slices.Equal(one[0].Effects, other[0].Effects) {
				list = append(list, Difference{one[0], other[0].Effects})
			}
			one, other = one[1:], other[1:]
		}
	}
	return list
}
