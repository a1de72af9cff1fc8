package trust

import (
	"time"

	"pi/internal/printable"
)

// news is collected until the person can be told and asked.
type news struct {
	lines   []string
	began   []*Pending           // files that began to wait for approval
	large   []string             // folders of hooks with too much in them to be watched
	unasked []string             // paths that waited, and of which the person was told without a question
	spoken  map[string]time.Time // instructions that changed and were told of
}

// noteBegan notes files that began to wait for approval, for the next TakeNotices.
func (n *news) noteBegan(began ...*Pending) { n.began = append(n.began, began...) }

// scopeInstructions is for files that a model reads and that nobody runs: the person is
// told of a change, and it is not withheld.
const scopeInstructions Scope = "instructions"

// noteInstructions notes that instructions changed: the person is told now and at the next
// start.
func (n *news) noteInstructions(path string) {
	if _, told := n.spoken[path]; told {
		return
	}
	n.spoken[path] = time.Now().UTC()
	n.lines = append(n.lines, printable.VisibleLine(path)+" was changed while the agent was at work: a model reads it at the start of every session")
}
