package trust

import "slices"

// programs is the knowledge about other programs that use the agent directory, at the
// same time or before this one.
type programs struct {
	alive     func(group int) bool
	own       []int // the process group and the session of this program
	inherited []int // process groups that tools of the programs before this one started
	atWork    bool  // tools of other programs may be at work
	toldStore Mark  // of the store, when the person was told of it last
	known     Known // the versions that are in force for them, while they may be at work
}

// includeThis reports whether this program belongs to one of the windows of others, by its
// group or its session: a tool started it, and nothing that it approves counts.
func (p *programs) includeThis(windows []Window) bool {
	isOf := func(w Window) bool {
		return slices.ContainsFunc(p.own, func(id int) bool { return id > 1 && slices.Contains(w.Groups, id) })
	}
	return slices.ContainsFunc(windows, isOf)
}
