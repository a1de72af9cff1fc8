package trust

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// Several programs share an agent directory, at a time and one after the other,
// and tools can write there too. The store says what was active when a window
// opened and which windows are open. While a window of another program is open, or one
// was abandoned, this program withholds what differs from that. While a window of its
// own is open, what this program knows is active, whatever the store says by then:
// it is written back, and the user is told.

// lookAtOthers reads what other programs wrote into the store, and withholds what their tools
// changed; what a user approved there waits no more. What began to wait is noted for the user.
// If a tool harmed the store, it is written anew.
func (s *state) lookAtOthers() {
	if s.home.store == nil || s.damaged != nil {
		return
	}
	if s.openMark() != nil {
		_ = s.home.store.repair() // what is looked at is to be what will be written
	}
	before, marked := maps.Clone(s.ledger.pending), s.home.store.Marks()
	harmed := s.home.store.Look(s.mayCount)
	s.withholdMarked()
	s.lookAtWindows()
	s.releaseUnmarked(marked)
	for _, path := range slices.Sorted(maps.Keys(s.ledger.pending)) {
		if before[path] == nil {
			s.noteBegan(path, s.ledger.pending[path])
		}
	}
	if m, ok := s.storeMark(); ok && m != s.others.toldStore {
		s.others.toldStore = m
		s.notices.Began = append(s.notices.Began, s.home.pendingStore(m))
	}
	if s.window == nil {
		return
	}
	if harmed || s.mark != nil && !s.home.store.isNamed(s.mark.name) {
		_ = s.change(noEdit)
	}
	if s.mark != nil {
		_ = s.activeFiles(s.window) // a tool may have removed the copies
	}
}

// lookAtWindows looks at the windows of other programs. While there are some it withholds the
// files that differ from what was active when they opened. It ends the abandoned windows
// of which no process lives any more, and notes in s.others whether tools may be at work.
func (s *state) lookAtWindows() {
	windows := s.home.store.OtherWindows(s.mark)
	s.others.atWork, s.others.known = false, Known{}
	if len(windows) == 0 {
		return
	}
	var counting []string // their tools may be at work, or were when their program ended
	known := s.home.store.Known()
	for _, name := range slices.Sorted(maps.Keys(windows)) {
		w := windows[name]
		if !w.counts(s.others.alive) {
			continue
		}
		counting = append(counting, name)
		maps.Copy(known.Files, w.live)
	}
	if len(counting) > 0 {
		s.withholdDiffering(known)
	}
	ended := s.endedWindows(windows)
	if slices.ContainsFunc(counting, func(name string) bool { return !slices.Contains(ended, name) }) {
		s.others.known = known
	}
	s.endWindows(ended)
}

// endedWindows lists those of the abandoned windows that can be removed: no process of them
// lives, or the window of this program waits for their processes from now on. One that cannot
// be removed means that tools may be at work, and so does that of a program that lives.
func (s *state) endedWindows(windows map[string]Window) (ended []string) {
	waits := &s.others.inherited // for the next window
	if s.window != nil {
		waits = &s.window.groups
	}
	for name, w := range windows {
		if w.lives {
			s.others.atWork = s.others.atWork || !w.Asks && w.counts(s.others.alive)
			continue
		}
		living := w.living(s.others.alive)
		for _, group := range living {
			if !slices.Contains(*waits, group) {
				*waits = append(*waits, group)
			}
		}
		switch {
		case w.isUnsure() && w.mayLive(s.others.alive): // until a user has approved something
			s.others.atWork = true
		case s.openMark() != nil, len(living) == 0 && !w.Asks:
			ended = append(ended, name)
		case !w.Asks:
			s.others.atWork = true
		}
	}
	return ended
}

// endAbandoned removes from the store the windows of programs that are gone of which hasEnded says so.
func (s *state) endAbandoned(hasEnded func(Window) bool) {
	if s.home.store == nil || s.damaged != nil {
		return
	}
	var names []string
	for name, w := range s.home.store.OtherWindows(s.mark) {
		if !w.lives && hasEnded(w) {
			names = append(names, name)
		}
	}
	s.endWindows(names)
}

// endWindows removes windows from the store.
func (s *state) endWindows(names []string) {
	if len(names) == 0 {
		return
	}
	if mark := s.openMark(); mark != nil {
		_ = mark.Note(s.starting > 0, s.window.groups...) // those of the windows that end are among them; if it fails, nothing is believed
	}
	_ = s.change(func(d *Data) {
		for _, name := range names {
			delete(d.Windows, name)
		}
	})
}

// withholdDiffering withholds the files that differ from known, and those that are new in its
// directories.
func (s *state) withholdDiffering(known Known) {
	for path, f := range known.Files {
		s.withholdIfChanged(path, f)
	}
	for dir := range known.Dirs {
		for _, path := range s.home.listIn(dir).files {
			if f, known := known.Was(path); known {
				s.withholdIfChanged(path, f)
			}
		}
	}
}

// withholdOfOthers withholds a file that tools of another program changed: since this
// program read it, or since the store knows of it.
func (s *state) withholdOfOthers(path string, scope Scope, is Version) {
	was, read := s.ledger.active[path]
	if s.ledger.pending[path] != nil || read && was.same(is) || scope == scopeInstructions {
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
	if h := s.ledger.pending[path]; h != nil {
		s.noteBegan(path, h)
	}
}

// recoverState withholds what programs before this one marked, or did not see the end of:
// the versions that were active are active again.
func (s *state) recoverState() error {
	if s.damaged = s.home.store.Damaged(); s.damaged != nil {
		return nil
	}
	s.withholdMarked()
	s.lookAtWindows()
	s.others.toldStore, _ = s.storeMark()
	s.putBackIndex()
	return s.unwritten
}

// withholdMarked withholds what the store says is pending.
func (s *state) withholdMarked() {
	for path, m := range s.home.store.Marks() {
		if path != s.home.store.Path() && s.ledger.pending[path] == nil {
			s.ledger.restore(path, m)
		}
	}
}

// releaseUnmarked releases the files whose marks another program has removed: a user
// approved there.
func (s *state) releaseUnmarked(before map[string]Mark) {
	if s.window != nil || s.others.atWork {
		return
	}
	now := s.home.store.Marks()
	for path := range before {
		if _, marked := now[path]; marked {
			continue
		}
		delete(s.ledger.marked, path) // one that is there later is another program's
		if s.ledger.pending[path] != nil {
			s.ledger.release(path)
		}
	}
}

// addKnownMissing adds to paths what is known to be in dirs and was not there at the moment
// in which they were listed.
func (s *state) addKnownMissing(paths, dirs map[string]Scope) {
	for path, f := range s.others.known.Files {
		if _, listed := paths[path]; listed {
			continue
		}
		for dir := range dirs {
			if isBelow(path, dir) {
				paths[path] = Scope(f.Scope)
			}
		}
	}
}

// errOfTool keeps what a tool started from approving what the tool did.
var errOfTool = errors.New("a tool started this program, so it approves nothing; a user has to do that, in a terminal of their own")

// errUnsure keeps a program from approving while it cannot be known whether a tool started it.
var errUnsure = errors.New("another pi has not written down what its tools started, and one of them may have started this program, so it approves nothing; run `pi trust` when that pi has ended, or its tools have")

// patience is how long a program waits for what another one has to write down.
const patience = 2 * time.Second

// mayApprove returns why nothing that this program approves counts: a tool started it, which
// its group or session tells. What a living program has to write down about what its tools
// started is waited for, but not longer than patience. That of one that has ended nobody writes
// any more, and somebody has to approve what there is.
func (s *state) mayApprove() error {
	if s.home.store == nil {
		return nil
	}
	unsure := func(w Window) bool { return w.lives && w.isUnsure() }
	late := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		windows := slices.Collect(maps.Values(s.home.store.OtherWindows(s.mark)))
		switch {
		case s.others.includeThis(windows):
			return errOfTool
		case !slices.ContainsFunc(windows, unsure):
			return nil
		case time.Now().After(late):
			return errUnsure
		}
		time.Sleep(pause) // nothing tells when another process has written
	}
}

// programs is the knowledge about other programs that use the agent directory, at the
// same time or before this one.
type programs struct {
	alive     func(group int) bool
	own       []int // the process group and the session of this program
	inherited []int // process groups that tools of the programs before this one started
	atWork    bool  // tools of other programs may be at work
	toldStore Mark  // of the store, when the user was told of it last
	known     Known // the versions that are active for them, while they may be at work
}

// includeThis reports whether this program belongs to one of the windows of others, by its
// group or its session: a tool started it, and nothing that it approves counts.
func (p *programs) includeThis(windows []Window) bool {
	isOf := func(w Window) bool {
		return slices.ContainsFunc(p.own, func(id int) bool { return id > 1 && slices.Contains(w.Groups, id) })
	}
	return slices.ContainsFunc(windows, isOf)
}
