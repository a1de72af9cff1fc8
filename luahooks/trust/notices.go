package trust

import "slices"

// Notices are what a person is to be told.
type Notices struct {
	Unmarked error      // why what waits is held back but not written down; nil: it is
	Lines    []string   // in words
	Began    []*Pending // what began to wait
	Large    []string   // folders of hooks with too much in them to be watched
}

// TakeNotices takes what came up since it was asked last. What began to wait is what
// a person is asked about when the tools have ended, see [Guard.takeUnasked].
func (g *Guard) TakeNotices() Notices {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := Notices{g.notMarked(), g.lines, g.began, slices.Compact(slices.Sorted(slices.Values(g.large)))}
	for _, p := range g.began {
		g.unasked = append(g.unasked, p.Path)
	}
	g.lines, g.began, g.large = nil, nil, nil
	return n
}

// tell notes what began to wait. g.mu is held.
func (g *Guard) tell(began ...*Pending) { g.began = append(g.began, began...) }

// TakeUnasked lists what waits of what was told, as it is now. What somebody is
// asked about is not among it.
func (g *Guard) TakeUnasked() (list []*Pending) {
	g.mu.Lock()
	paths := g.unasked
	g.unasked = nil
	g.mu.Unlock()
	for _, p := range g.Waiting() {
		if slices.Contains(paths, p.Path) && !p.asking {
			list = append(list, p)
		}
	}
	return list
}
