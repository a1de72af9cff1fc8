//go:build unix

package e2e

import "testing"

func TestTheTreeShowsOtherEntriesLabelsAndWhatARowWouldDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, _ := talk(t, w, "text Red.\n---\ntext Blue.")
	s.enter("colour one")
	s.see(1, "Red.")
	s.enter("colour two")
	s.see(1, "Blue.")
	s.enter("/tree")
	s.see(1, "Tree · what was said and done")
	s.see(1, "▸ > assistant: Blue.")
	s.see(1, "you are here")
	s.see(1, "edit it again · leaves 4")
	s.see(1, "go on here · leaves 2")

	s.keys("red")
	s.see(1, "▸ * assistant: Red.")
	s.Press("ctrl+l")
	s.asked("Label")
	s.keys("first answer\r")
	s.see(1, `label "first answer": assistant: Red.`)
	s.see(1, "[first answer]")
	s.Press("ctrl+l")
	s.asked("Label")
	s.keys(", kept\r")
	s.see(1, "[first answer, kept]")
	s.Press("ctrl+u")

	s.Press("tab", "tab")
	s.see(1, "Tree · only what you sent")
	s.UntilGone("▸ * assistant: Red.")
	s.see(1, "> user: colour two")
	s.Press("tab")
	s.see(1, "Tree · only what has a label")
	s.see(1, "▸ > assistant: Red.")
	s.Press("ctrl+l")
	s.asked("Label")
	s.Press("ctrl+u")
	s.keys("\r")
	s.see(1, "no label any more")
	s.see(1, "nothing to choose")
	s.Press("tab")
	s.see(1, "Tree · every entry of the session")
	s.see(1, "label: ")
	s.esc()
	s.enter("/quit")
	s.leave(statusDone)
}
