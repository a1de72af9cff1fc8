package trust

import (
	"fmt"
	"slices"
	"time"

	"pi/internal/printable"
)

// Notices are collected until the user can be told.
type Notices struct {
	Unmarked error      // why the files that are pending are not written down; nil: they are
	Lines    []string   // in words
	Began    []*Pending // what began to wait
	Large    []string   // folders of hooks with too much in them to be watched
}

// withhold withholds a change that tools could have made, for the next program too, and notes it
// for the user.
func (s *state) withhold(c change) {
	s.noteBegan(c.path, s.ledger.withhold(c, true))
}

// noteBegan notes a file that began to wait for approval.
func (s *state) noteBegan(path string, h *pendingFile) {
	s.notices.Began = append(s.notices.Began, s.home.pending(path, h))
}

// forget takes back that a file began to wait.
func (n *Notices) forget(path string) {
	n.Began = slices.DeleteFunc(n.Began, func(p *Pending) bool { return p.Path == path })
}

// scopeInstructions is for files that a model reads and that nobody runs: the user is
// told of a change, and it is not withheld.
const scopeInstructions Scope = "instructions"

// noteInstructions notes that instructions changed: the user is told now and at the next
// start.
func (s *state) noteInstructions(path string) {
	if _, told := s.spoken[path]; told {
		return
	}
	s.spoken[path] = time.Now().UTC()
	s.notices.Lines = append(s.notices.Lines, printable.VisibleLine(path)+" was changed while the agent was at work: a model reads it at the start of every session")
}

// TakeNotices returns, once, what happened since it was called last. The files that began
// to wait are those of [Guard.TakeUnasked], when the tools have ended.
func (g *Guard) TakeNotices() Notices {
	s := g.lock()
	defer g.mu.Unlock()
	n := s.notices
	s.notices = Notices{}
	n.Large = slices.Compact(slices.Sorted(slices.Values(n.Large)))
	for _, h := range s.ledger.pending {
		if h.marked {
			n.Unmarked = s.unwritten
		}
	}
	for _, p := range n.Began {
		s.unasked = append(s.unasked, p.Path)
	}
	return n
}

// TakeUnasked returns the files that wait for approval and of which the user was only
// told, with no question, in order of the path, and forgets them: no file is returned twice.
// A file about which a question is open just now is forgotten as well, and not returned.
func (g *Guard) TakeUnasked() (list []*Pending) {
	s := g.lock()
	defer g.mu.Unlock()
	paths := slices.Compact(slices.Sorted(slices.Values(s.unasked)))
	s.unasked = nil
	for _, path := range paths {
		if h := s.ledger.pending[path]; h != nil && !h.asking {
			list = append(list, s.home.pending(path, h))
		} else if m, ok := s.storeMark(); ok && path == s.home.store.Path() {
			list = append(list, s.home.pendingStore(m))
		}
	}
	return list
}

// storeMark is the mark of the store itself, if somebody else wrote it and that waits.
func (s *state) storeMark() (m Mark, pending bool) {
	if s.home.store != nil {
		m, pending = s.home.store.Marks()[s.home.store.Path()]
	}
	return m, pending
}

// TakeChangedInstructions returns, once, a line for each file of instructions that changed
// while the agent was at work in a program before this one.
func (g *Guard) TakeChangedInstructions() (lines []string) {
	s := g.lock()
	defer g.mu.Unlock()
	if s.home.store == nil || s.damaged != nil {
		return nil
	}
	changed := s.home.store.ChangedInstructions()
	for _, path := range s.home.instructions {
		if at, ok := changed[path]; ok {
			lines = append(lines, fmt.Sprintf("%s was changed on %s while the agent was at work: a model reads it at the start of every session",
				printable.VisibleLine(path), at.Local().Format("2006-01-02 15:04")))
		}
	}
	if len(changed) > 0 {
		s.spoken = map[string]time.Time{}
		_ = s.change(func(d *Data) { clear(d.Spoken) })
	}
	return lines
}
