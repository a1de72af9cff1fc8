package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// What is held back is marked in the store, so that it is held back in the next
// program too. Marks are written with everything else that this program knows: a
// change of the store writes all of them.

// recoverState deals with what programs left behind, and puts what was pending before
// in force as it was.
func (s *state) recoverState() error {
	if s.doubt = s.home.store.Doubt(); s.doubt != nil {
		return nil
	}
	s.withholdMarked()
	s.lookAtWindows()
	s.others.toldStore = s.home.store.Marks()[s.home.store.Path()]
	return s.unwritten
}

// withholdMarked holds what the store says is pending.
func (s *state) withholdMarked() {
	for path, m := range s.home.store.Marks() {
		if path != s.home.store.Path() && s.ledger.withheld[path] == nil {
			s.ledger.restore(path, m)
		}
	}
}

// restore holds a file that has a mark, unless it is again what it was. Then this
// look is the one that counts, for the next may see another file.
func (l *ledger) restore(path string, m Mark) {
	h := &withheld{now: l.home.onDisk(path), scope: Scope(m.Scope), since: m.Since, marked: true}
	h.old = Version{Sum: m.Old, real: m.Real}
	was, read := l.files[path]
	if m.Old == h.now.Sum && (m.Real == "" || m.Real == h.now.real) {
		if !read && h.now.exists() {
			l.files[path] = h.now
		}
		return
	}
	switch {
	case read && was.Sum == m.Old:
		h.old = was
	case m.Old == "":
		h.old.Err = fmt.Errorf("%s is %w", path, ErrNotApproved)
	case m.Old == h.now.Sum:
		h.old.Code, h.old.Err = h.now.Code, h.now.Err
	default:
		h.old.Code, h.old.Err = l.home.store.disk.readCopy(cmp.Or(m.Kept, m.Old))
	}
	l.withheld[path], l.files[path], l.marked[path] = h, h.old, true
}

// writeMarks brings the marks of the store in line with what is held.
func (s *state) writeMarks() {
	if s.home.store == nil || s.doubt != nil {
		return
	}
	have := s.home.store.Marks()
	want := Data{Pending: maps.Clone(have)}
	s.ledger.setMarks(&want)
	if !maps.EqualFunc(have, want.Pending, func(a, b Mark) bool { return a.Old == b.Old && a.New == b.New }) {
		_ = s.change(noEdit)
	}
}

// noEdit edits nothing: a change writes the marks and the window in any case.
func noEdit(*Data) {}

// change edits the store.
func (s *state) change(edit func(*Data)) error {
	if s.home.store == nil {
		return nil
	}
	s.unwritten = s.home.store.Change(s.mayCount, func(d *Data) {
		s.ledger.setMarks(d)
		s.setWindow(d)
		maps.Copy(d.Spoken, s.news.spoken)
		edit(d)
	})
	return s.unwritten
}

// setWindow notes the processes that the window waits for.
func (s *state) setWindow(d *Data) {
	if file := s.runningFile(); file != nil {
		w := file.Window()
		w.Groups = slices.Clone(s.window.groups)
		d.Windows[file.Name()] = w
	}
}

// setMarks marks what is held, and nothing else that this program has ever held.
// Another process may have added marks since.
func (l *ledger) setMarks(d *Data) {
	for path := range l.marked {
		if h := l.withheld[path]; h == nil || !h.marked {
			delete(d.Pending, path)
		}
	}
	for path, h := range l.withheld {
		if h.marked {
			l.marked[path] = true
			f := l.fileOf(path, h.old, h.scope)
			d.Pending[path] = Mark{Old: f.Sum, Kept: f.Kept, New: h.now.Sum, Real: f.Real, Scope: f.Scope, Since: h.since}
		}
	}
}

// noteApproved tells the window and the store of a version that a person approved.
func (s *state) noteApproved(path string, v Version, scope Scope) {
	if s.window != nil {
		s.window.base[path] = v
	}
	f := s.ledger.fileOf(path, v, scope)
	_ = s.change(func(d *Data) {
		if _, known := d.Known.Was(path); known {
			d.Known.Files[path] = f
		}
	})
}

// releaseUnmarked ends the holds whose marks another program has taken back: a
// person approved there.
func (s *state) releaseUnmarked(before map[string]Mark) {
	if s.window != nil || s.others.atWork {
		return
	}
	now := s.home.store.Marks()
	for path := range before {
		if _, marked := now[path]; !marked && s.ledger.withheld[path] != nil {
			s.ledger.release(path)
		}
	}
}
