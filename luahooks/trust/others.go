package trust

import (
	"maps"
	"slices"
	"time"
)

// Several programs share an agent directory, at a time and one after the other,
// and tools can write there too. The store says what was in force when a window
// opened and which windows are open. A window of another program, or one that was
// left, makes this one hold back what differs from that. While a window of its own
// is open, what this program knows is in force, whatever the store says by then:
// it is written back, and that is told.

// lookAtOthers finds out what other programs do and wrote down, and holds what
// tools of theirs changed.
func (s *state) lookAtOthers() {
	if s.home.store == nil || s.doubt != nil {
		return
	}
	before, marked := maps.Clone(s.ledger.withheld), s.home.store.Marks()
	harmed := s.home.store.Look(s.mayCount)
	s.withholdMarked()
	s.lookAtWindows()
	s.releaseUnmarked(marked)
	for _, path := range slices.Sorted(maps.Keys(s.ledger.withheld)) {
		if before[path] == nil {
			s.news.noteBegan(s.home.pending(path, s.ledger.withheld[path]))
		}
	}
	if m, ok := s.home.store.Marks()[s.home.store.Path()]; ok && m != s.others.toldStore {
		s.others.toldStore = m
		s.news.noteBegan(s.home.pendingStore(m))
	}
	if w := s.window; w != nil && w.file != nil {
		if err := w.file.Restore(); err != nil || harmed {
			_ = s.change(noEdit)
		}
		_ = s.inForce(w) // a tool may have removed the copies
	}
}

// mayCount reports whether what another program wrote may count for this one. It
// may not, while tools are at work, if it takes back what this one knows of, or
// approves what this one has not: then a tool may have written it.
func (s *state) mayCount(mine, theirs Data) bool {
	if s.window == nil && !s.others.atWork {
		return true
	}
	if file := s.runningFile(); file != nil && !slices.Equal(mine.Windows[file.Name()].Groups, theirs.Windows[file.Name()].Groups) {
		return false // the window of this program is not there as it is
	}
	return mine.ApprovesLike(theirs) && knowsAll(mine.Known, theirs.Known) && s.withholdsAll(mine, theirs)
}

func knowsAll(mine, theirs Known) bool {
	for path, f := range mine.Files {
		if theirs.Files[path] != f {
			return false
		}
	}
	for path, f := range theirs.Files {
		if was, known := mine.Was(path); known && was.Sum != f.Sum {
			return false
		}
	}
	for dir, scope := range mine.Dirs {
		if theirs.Dirs[dir] != scope {
			return false
		}
	}
	return true
}

// withholdsAll reports whether the marks hold back what this program holds back, and
// have no other version in force. A file of a project needs approval in any case.
func (s *state) withholdsAll(mine, theirs Data) bool {
	for path, m := range mine.Pending {
		their, marked := theirs.Pending[path]
		if h := s.ledger.withheld[path]; !marked && h != nil && h.old.same(s.home.onDisk(path)) {
			continue // it is again what it was
		}
		if !marked || their.Old != m.Old || their.Kept != m.Kept {
			return false
		}
	}
	for path, m := range theirs.Pending {
		was, known := mine.Known.Was(path)
		_, marked := mine.Pending[path]
		if !marked && path != s.home.store.Path() && (known && was.Sum != m.Old || !known && Scope(m.Scope) != ScopeProject) {
			return false
		}
	}
	return true
}

// lookAtWindows holds what differs while others may have tools at work, and ends
// the windows that were left and that nothing lives of.
func (s *state) lookAtWindows() {
	open, left := s.home.store.OtherWindows(s.runningFile())
	s.others.atWork, s.others.known = false, Known{}
	if len(open)+len(left) == 0 {
		return
	}
	known := s.home.store.Known()
	s.withholdDiffering(known)
	ended := s.endedWindows(left)
	for _, w := range open {
		s.others.atWork = s.others.atWork || !w.Asks
	}
	if len(open)+len(left) > len(ended) {
		s.others.known = known
	}
	s.endWindows(ended)
}

// OthersAtWork reports whether another program runs that has tools at work: it holds
// back what is approved meanwhile.
func (g *Guard) OthersAtWork() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if s.home.store == nil {
		return false
	}
	open, _ := s.home.store.OtherWindows(s.runningFile())
	for _, w := range open {
		if !w.Asks {
			return true
		}
	}
	return false
}

// endedWindows lists the windows that were left of which nothing lives, and those whose
// processes a window of this program waits for from now on.
func (s *state) endedWindows(left map[string]Window) (ended []string) {
	for name, w := range left {
		living := w.Living(s.others.alive)
		s.inherit(living)
		switch {
		case s.runningFile() != nil, len(living) == 0 && !w.Asks:
			ended = append(ended, name)
		case !w.Asks:
			s.others.atWork = true
		}
	}
	return ended
}

func (s *state) runningFile() *Running {
	if s.window == nil {
		return nil
	}
	return s.window.file
}

// inherit waits for processes of a program that has ended.
func (s *state) inherit(groups []int) {
	to := &s.others.inherited
	if s.window != nil {
		to = &s.window.groups
	}
	for _, group := range groups {
		if !slices.Contains(*to, group) {
			*to = append(*to, group)
		}
	}
}

// RemoveAbandonedWindows ends the windows that were left: this program's own, if there must be
// one, has begun.
func (g *Guard) RemoveAbandonedWindows() {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if s.home.store == nil || s.doubt != nil {
		return
	}
	_, left := s.home.store.OtherWindows(s.runningFile())
	ended := slices.DeleteFunc(slices.Collect(maps.Keys(left)), func(name string) bool {
		return len(left[name].Living(s.others.alive)) > 0 && s.runningFile() == nil
	})
	s.endWindows(ended)
}

func (s *state) endWindows(names []string) {
	if len(names) == 0 {
		return
	}
	_ = s.change(func(d *Data) {
		for _, name := range names {
			delete(d.Windows, name)
		}
	})
}

// withholdDiffering holds what is not as it was.
func (s *state) withholdDiffering(known Known) {
	for path, f := range known.Files {
		s.withholdIfChanged(path, f)
	}
	for dir := range known.Dirs {
		for _, path := range listLua(dir).files {
			if f, known := known.Was(path); known {
				s.withholdIfChanged(path, f)
			}
		}
	}
}

// withholdIfChanged holds a file that is not f. What this program has read is in force
// in the version that it has.
func (s *state) withholdIfChanged(path string, f File) {
	if s.ledger.withheld[path] != nil {
		return
	}
	if f.Scope == string(scopeInstructions) {
		if is := s.home.onDisk(path); is.Sum != f.Sum {
			s.news.noteInstructions(path)
		}
		return
	}
	if was, read := s.ledger.files[path]; read {
		if is := s.home.onDisk(path); !was.same(is) && (f.Sum != is.Sum || f.Real != is.real) {
			s.ledger.withhold(change{path, Scope(f.Scope), was, is}, true)
		}
		return
	}
	s.ledger.restore(path, Mark{Old: f.Sum, Kept: f.Kept, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
}

// withholdOfOthers holds a file that tools of another program changed, since this one
// read it if it did.
func (s *state) withholdOfOthers(path string, scope Scope, is Version) {
	was, read := s.ledger.files[path]
	if s.ledger.withheld[path] != nil || read && was.same(is) || scope == scopeInstructions {
		return
	}
	f, known := s.others.known.Was(path)
	differs := known && (f.Sum != is.Sum || f.Real != "" && f.Real != is.real)
	m, marked := s.home.store.Marks()[path]
	switch {
	case !differs && !(marked && m.New == is.Sum):
		return
	case read:
		s.ledger.withhold(change{path, scope, was, is}, true)
	default:
		s.withholdIfChanged(path, f)
	}
	if h := s.ledger.withheld[path]; h != nil {
		s.news.noteBegan(s.home.pending(path, h))
	}
}

// isOfTool reports whether a tool started this program: of what it approves
// nothing counts.
func (s *state) isOfTool() bool {
	if s.home.store == nil || s.others.group <= 1 {
		return false
	}
	open, left := s.home.store.OtherWindows(s.runningFile())
	for _, windows := range []map[string]Window{open, left} {
		for _, w := range windows {
			if slices.Contains(w.Groups, s.others.group) {
				return true
			}
		}
	}
	return false
}
