package trust

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// ShowPending lists what waits for approval, in order of the path, and notes that a
// user was shown it: [Guard.Accept] approves exactly this.
func (g *Guard) ShowPending() []Pending {
	s := g.lock()
	defer g.mu.Unlock()
	list := []Pending{}
	if s.damaged != nil {
		p := s.pendingDamaged()
		s.ledger.shown[p.Path] = p.now
		return append(list, *p)
	}
	for path, h := range s.ledger.pending {
		h.now = s.home.onDisk(path)
		if h.active.same(h.now) {
			s.ledger.undo(path, h.now)
			continue
		}
		if path == s.home.index { // it waits for no user: it is put back as soon as no tools run
			continue
		}
		list = append(list, *s.home.pending(path, h))
		s.ledger.shown[path] = h.now
	}
	if m, ok := s.storeMark(); ok {
		p := s.home.pendingStore(m)
		list = append(list, *p)
		s.ledger.shown[p.Path] = p.now
	}
	s.writeMarks()
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}

// NoteAsking notes that a question about the files of list is open; with now false, that it
// is over. Then a file that changed during the question counts as changed again at the next
// look, so that the user is asked about that too.
func (g *Guard) NoteAsking(list []*Pending, now bool) {
	s := g.lock()
	defer g.mu.Unlock()
	for _, p := range list {
		if h := s.ledger.pending[p.Path]; h != nil {
			h.asking = now
			if !now && !h.now.same(p.now) {
				h.now = p.now // so that the next look sees another one
			}
		}
	}
}

// Accept makes active the version of a pending file that a user was shown last. A hook
// runs it when it is loaded the next time. The error is [ErrChangedAgain] if the file on the
// disk is another one by now.
func (g *Guard) Accept(path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.acceptShown(path)
}

// AcceptExactly is Accept for the version that p describes, about which a user answered a
// question, whatever a list of the pending files may have shown since.
func (g *Guard) AcceptExactly(p *Pending) error {
	s := g.lock()
	defer g.mu.Unlock()
	s.ledger.shown[p.Path] = p.now
	return s.acceptShown(p.Path)
}

// acceptShown makes the pending version of a file active, if it is the one that a user
// was shown last; path may be that of the store. A program that a tool started accepts
// nothing. For a file of the project that is an approval too, and while .git/HEAD stays as it is,
// later edits of the file by a user need none (approvals.live). For the project's settings it is one of
// what they say of its hooks. If the store cannot be written, the error says so, and the approval
// counts for this run of the program alone.
func (s *state) acceptShown(path string) error {
	if err := s.mayApprove(); err != nil {
		return err
	}
	if s.home.store != nil && path == s.home.store.Path() {
		return s.acceptStore()
	}
	h := s.ledger.pending[path]
	if h == nil {
		return fmt.Errorf("%s does not wait for approval", path)
	}
	now := s.home.onDisk(path)
	if shown, ok := s.ledger.shown[path]; !ok || !shown.same(now) {
		return fmt.Errorf("%s: %w", path, ErrChangedAgain)
	}
	err := s.approveEntries(path, now)
	if s.home.isProjects(h.scope, path) {
		if now.exists() || s.home.packageOf(path) != "" {
			err = s.approve(path, now.Sum)
		}
		s.approvals.live[path], s.approvals.head = true, s.home.headNow()
	}
	s.ledger.put(path, now)
	s.ledger.release(path)
	s.noteApproved(path, now, h.scope)
	if err == nil {
		s.endAbandoned(Window.isUnsure) // whether processes of theirs live is not known
	}
	return err
}

// acceptStore adopts the approvals of a store that somebody else wrote, if it is the one that
// a user was shown. Of a damaged store, it makes active all files that were shown.
func (s *state) acceptStore() error {
	if s.damaged != nil {
		return s.acceptDamaged()
	}
	path := s.home.store.Path()
	m, ok := s.storeMark()
	if !ok {
		return fmt.Errorf("%s does not wait for approval", path)
	}
	if shown, ok := s.ledger.shown[path]; !ok || shown.Sum != m.New {
		return fmt.Errorf("%s: %w", path, ErrChangedAgain)
	}
	theirs := s.home.store.approvalsIn(m.New)
	return s.change(func(d *Data) {
		if m.New == "" { // it was removed
			d.Projects = map[string]*Project{}
		}
		d.approve(theirs)
		delete(d.Pending, path)
	})
}

// After a program was killed, a tool or a process of one may have removed or
// forged what it wrote down. Then it cannot be known what was active, and a
// hook that is gone would not be missed. So nothing is active, no hook and no
// setting, until a user has seen all files that there are.

// pendingDamaged describes, as one pending store, all files that there are and that come into
// force if the user accepts it. It notes in s.seen what it showed.
func (s *state) pendingDamaged() *Pending {
	all := *s.home
	all.store, all.named = nil, map[string]bool{}
	reader := newGuard(&all)
	p := s.home.places()
	p.NoProject = true // what is of the project needs approval in any case
	paths, _ := reader.deciding(p)
	var text, sums strings.Builder
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if v := reader.Read(path); v.exists() {
			text.WriteString(Diff(path, nil, s.home.shownCode(path, v)))
			fmt.Fprintln(&sums, path, v.Sum, v.real)
		}
	}
	if text.Len() == 0 {
		text.WriteString("there are no hooks and no settings; if there were some, they are gone\n")
	}
	s.seen = reader.state.ledger.active
	return &Pending{Name: "trust.json", Path: s.home.store.Path(), Kind: "approvals", Change: "lost", Since: time.Now().UTC(), Lost: true,
		Diff: s.damaged.Error() + "; what was in force cannot be known. This is what there is:\n" + text.String(), now: Version{Sum: Sum([]byte(sums.String()))}}
}

// acceptDamaged mends the store: all files become active as a user was shown them, and the
// store is written anew. It fails if one of them has changed since.
func (s *state) acceptDamaged() error {
	shown := s.ledger.shown[s.home.store.Path()]
	if p := s.pendingDamaged(); !p.now.same(shown) {
		return fmt.Errorf("%s: %w", s.home.store.Path(), ErrChangedAgain)
	}
	files := s.seen
	known := Known{Files: map[string]File{}, Dirs: map[string]string{}}
	for path, v := range files {
		known.Files[path] = s.ledger.fileOf(path, v, "")
	}
	err := s.home.store.Change(s.mayCount, func(d *Data) { d.Known = known })
	if err == nil {
		s.damaged, s.seen = nil, nil
		for path, v := range files {
			s.ledger.put(path, v)
		}
	}
	return err
}
