package shown

import (
	"fmt"
	"slices"
	"strings"
)

// modes are those that a command has set and not undone. They matter when it is stopped
// or killed.
type modes struct {
	changed  []int // numbers of those that are not as usual, in the order of their change
	keypad   bool
	keyboard int // levels of the keyboard protocol
}

// onByDefault reports whether a mode is on in a terminal that nothing was done to: the
// wrapping of rows and the cursor.
func onByDefault(mode int) bool { return mode == 7 || mode == 25 }

// mostModes is how many modes are remembered; there are not as many.
const mostModes = 64

// setMode notes a mode, and what it means for what is kept.
func (r *Recorder) setMode(mode int, on bool) {
	switch mode {
	case 7:
		r.noWrap = !on
	case 47, 1047, 1049:
		r.alternate = on
	case 1048: // the cursor is saved and restored, which is no state
		return
	}
	i := slices.Index(r.modes.changed, mode)
	switch usual := on == onByDefault(mode); {
	case usual && i >= 0:
		r.modes.changed = slices.Delete(r.modes.changed, i, i+1)
	case !usual && i < 0 && len(r.modes.changed) < mostModes:
		r.modes.changed = append(r.modes.changed, mode)
	}
}

// Modes returns the sequences that set the modes that the command has set, or, if on is
// false, those that undo them: the alternate screen among them.
func (r *Recorder) Modes(on bool) string {
	var s strings.Builder
	changed := slices.Clone(r.modes.changed)
	if !on {
		slices.Reverse(changed)
		if r.modes.keyboard > 0 {
			fmt.Fprintf(&s, "\x1b[<%du", r.modes.keyboard)
		}
	}
	for _, mode := range changed {
		final := 'l'
		if on != onByDefault(mode) {
			final = 'h'
		}
		fmt.Fprintf(&s, "\x1b[?%d%c", mode, final)
	}
	switch {
	case r.modes.keypad && on:
		s.WriteString("\x1b=")
	case r.modes.keypad:
		s.WriteString("\x1b>")
	}
	return s.String()
}
