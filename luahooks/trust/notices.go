package trust

import (
	"fmt"
	"slices"
	"time"

	"pi/internal/printable"
)

// Notices are for the person.
type Notices struct {
	Unmarked error      // why the files that are withheld are not written down; nil: they are
	Lines    []string   // in words
	Began    []*Pending // what began to wait
	Large    []string   // folders of hooks with too much in them to be watched
}

// TakeNotices returns, once, what happened since it was called last. The files that began
// to wait are those of [Guard.TakeUnasked], when the tools have ended.
func (g *Guard) TakeNotices() Notices {
	s := g.lock()
	defer g.mu.Unlock()
	n := Notices{Lines: s.news.lines, Began: s.news.began, Large: slices.Compact(slices.Sorted(slices.Values(s.news.large)))}
	for _, h := range s.ledger.withheld {
		if h.marked {
			n.Unmarked = s.unwritten
		}
	}
	for _, p := range s.news.began {
		s.news.unasked = append(s.news.unasked, p.Path)
	}
	s.news.lines, s.news.began, s.news.large = nil, nil, nil
	return n
}

// TakeUnasked returns the files that wait for approval and of which the person was only
// told, with no question, and forgets them: no file is returned twice. A file about which
// a question is open just now is forgotten as well, and not returned.
func (g *Guard) TakeUnasked() (list []*Pending) {
	s := g.lock()
	defer g.mu.Unlock()
	paths := s.news.unasked
	s.news.unasked = nil
	for _, p := range s.listPending() {
		if slices.Contains(paths, p.Path) && !p.asking {
			list = append(list, p)
		}
	}
	return list
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
		s.news.spoken = map[string]time.Time{}
		_ = s.change(func(d *Data) { clear(d.Spoken) })
	}
	return lines
}
