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

// endedWindows lists those of the abandoned windows that can be removed: no process of them
// lives, or own, the window of this program, waits for their processes from now on. own may
// be nil. A window that cannot be removed means that tools may be at work.
func (p *programs) endedWindows(abandoned map[string]Window, own *openWindow) (ended []string) {
	for name, w := range abandoned {
		living := w.Living(p.alive)
		p.inherit(living, own)
		switch {
		case w.isUnsure() && w.mayLive(p.alive): // until a person has approved something, see state.endLost
			p.atWork = true
		case own.running() != nil, len(living) == 0 && !w.Asks:
			ended = append(ended, name)
		case !w.Asks:
			p.atWork = true
		}
	}
	return ended
}

// inherit adds process groups of a program that has ended to those that the window of
// this program waits for, or its next one if own is nil.
func (p *programs) inherit(groups []int, own *openWindow) {
	to := &p.inherited
	if own != nil {
		to = &own.groups
	}
	for _, group := range groups {
		if !slices.Contains(*to, group) {
			*to = append(*to, group)
		}
	}
}

// includeThis reports whether this program belongs to one of the windows of others, by its
// group or its session: a tool started it, and nothing that it approves counts.
func (p *programs) includeThis(windows ...map[string]Window) bool {
	for _, list := range windows {
		for _, w := range list {
			if slices.ContainsFunc(p.own, func(id int) bool { return id > 1 && slices.Contains(w.Groups, id) }) {
				return true
			}
		}
	}
	return false
}
