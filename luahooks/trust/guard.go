package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"pi/internal/safefile"
)

// Guard knows which version of each file is in force. Hooks and their modules are
// made of what it read once, so the bytes that were judged are the bytes that
// run; what the disk says now counts when it may:
//
//   - What changed while tools could have done it is held back as pending, and
//     marked in the store, until a person approves it (window.go).
//   - A file of the project runs if its bytes are approved (project.go).
//   - With AskEdits every change is held back.
//
// Anything else is the person's own edit and is taken as it comes. All methods
// may be called from any goroutine.
type Guard struct {
	mu       sync.Mutex // guards state: what is in force, what waits and what the store says of it change together
	state    state
	requires requireCache
}

// GuardOptions are what a Guard is made of.
type GuardOptions struct {
	AgentDir string
	Project  string // the working directory
	// Alive reports whether a process group that a tool started still has a
	// process; nil: none has.
	Alive func(group int) bool
	// Group is the process group of this program; 0: unknown.
	Group int
	// Mask takes the keys out of the text of settings, before a copy is kept or a
	// difference shown; nil with false: it cannot. Without one nothing is masked.
	Mask func(settings []byte) (masked []byte, ok bool)
	// Places says where hooks are, as far as the settings on the disk tell. It is
	// asked when it is not known what was in force; nil: the standard places.
	Places func() Places
}

// NewGuard reads the store of the agent directory and finds out what happened to
// the files since the last program looked. The Guard is usable also with an
// error, which is for the person.
func NewGuard(o GuardOptions) (*Guard, error) {
	g := newGuard(newHome(o))
	if o.Alive != nil {
		g.state.others.alive = o.Alive
	}
	g.state.others.group = o.Group
	var err error
	g.state.home.store, err = Open(o.AgentDir)
	return g, errors.Join(err, g.state.recoverState())
}

// NewForRun returns a Guard that remembers nothing beyond this run, and looks at nothing
// but the hooks of a project and those that are named.
func NewForRun(project string) *Guard {
	return newGuard(&home{project: project, named: map[string]bool{}})
}

func newGuard(h *home) *Guard {
	return &Guard{state: state{home: h, ledger: newLedger(h), approvals: newApprovals(h),
		news: news{spoken: map[string]time.Time{}}, others: programs{alive: func(int) bool { return false }}}}
}

// NoteNamed notes which hooks stand alone.
func (g *Guard) NoteNamed(p Places) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	for _, path := range append(p.Named(), p.ConfiguredIn...) {
		s.home.named[path], s.home.named[filepath.Join(path, "init.lua")] = true, true
	}
}

// Version is a file at one time.
type Version struct {
	Code []byte
	Err  error  // why there is no code
	Sum  string // "": there is no such file
	real string // with symbolic links resolved

	Others string // why somebody else may change it; "": only this user and root may
}

func (v Version) exists() bool { return v.Sum != "" }

func (v Version) same(w Version) bool { return v.Sum == w.Sum && v.real == w.real }

// withheld is a file whose version on the disk is not in force.
type withheld struct {
	old, now Version
	scope    Scope // of a hook; "" for what is none
	since    time.Time
	marked   bool // in the store: tools could have changed it
	asking   bool // a person is looking at it
}

// onDisk is what counts of a file now.
func (h *home) onDisk(path string) Version {
	if path == h.keys && path != "" {
		return commandsIn(path)
	}
	return onDisk(path)
}

// onDisk reads what a file is now.
func onDisk(path string) Version {
	code, err := readHook(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Version{Err: err}
	case err != nil:
		return Version{Err: err, Sum: Unreadable}
	}
	v := Version{Code: code, Sum: Sum(code), real: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		v.real = real
	}
	v.Others = othersMayChange(path, v.real)
	return v
}

// othersMayChange says of a file and of the folders it is reached through why
// somebody else may change what is there.
func othersMayChange(path, real string) string {
	for _, at := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		if info, err := os.Stat(at); err == nil {
			if why := OthersMayChange(info); why != "" {
				return at + " " + why
			}
		}
	}
	return ""
}

// ErrNotApproved is why there is no version of a file that may run: nobody said yes to it.
var ErrNotApproved = errors.New("not approved")

// Read returns the version of a file that is in force.
func (g *Guard) Read(path string) Version {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.readLocked(path)
}

func (s *state) readLocked(path string) Version {
	if h := s.ledger.withheld[path]; h != nil {
		if !h.old.exists() {
			return Version{Err: h.old.Err}
		}
		return h.old
	}
	if v, ok := s.ledger.files[path]; ok {
		return v
	}
	if s.doubt != nil {
		return Version{Err: fmt.Errorf("%s is %w: %w", path, ErrNotApproved, s.doubt), Sum: Unreadable}
	}
	if f, known := s.others.known.Was(path); known && f.Scope != string(scopeInstructions) {
		s.withholdIfChanged(path, f)                                                  // f is in force whatever the disk says
		if _, read := s.ledger.files[path]; s.ledger.withheld[path] == nil && !read { // there was none, and is none
			s.ledger.files[path] = Version{Err: fs.ErrNotExist}
		}
		return s.readLocked(path)
	}
	v := s.home.onDisk(path)
	if v.exists() && s.window != nil && !s.window.had(path, v) {
		// It waits from now on, or nobody could approve it.
		h := s.ledger.withhold(change{path: path, was: Version{Err: fmt.Errorf("%s is %w: it was not there before the tools ran", path, ErrNotApproved)}, is: v}, true)
		return Version{Err: h.old.Err, Sum: Unreadable}
	}
	s.ledger.files[path] = v
	return v
}

// RealPath is the file that a hook was read from, symbolic links followed.
func (g *Guard) RealPath(s Source) string {
	if v := g.Read(s.Path); v.real != "" {
		return v.real
	}
	return s.Real
}

// Config returns the bytes of a settings file that are in force, nil for no file;
// ok is false if it cannot be read.
func (g *Guard) Config(path string) (code []byte, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	v := s.readLocked(path)
	return v.Code, v.Err == nil || s.ledger.withheld[path] != nil
}

// AskEdits makes every change of a hook wait for the person.
func (g *Guard) AskEdits() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.ledger.askEdits = true
}

// Store is where approvals are kept; nil if they are not.
func (g *Guard) Store() *Store { return g.state.home.store }

// change is a file whose version on the disk is not the one in force.
type change struct {
	path    string
	scope   Scope
	was, is Version
}

// changed lists which of paths have another version on the disk than in force. Of what
// nobody has read, that is how it was when the window opened; w may be nil.
func (l *ledger) changed(paths map[string]Scope, w *openWindow) (list []change) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, ok := l.files[path]
		if !ok && w != nil { // nobody has read it yet
			was, ok = w.base[path]
		}
		if h := l.withheld[path]; h != nil {
			was, ok = h.old, true
		}
		is := l.home.onDisk(path)
		if h := l.withheld[path]; h != nil && h.now.same(is) {
			continue
		}
		if ok && !was.same(is) || !ok && is.exists() || l.withheld[path] != nil {
			list = append(list, change{path, paths[path], was, is})
		}
	}
	return list
}

// Judge looks at the files of hooks, and at those that are held, and decides about
// what changed: what may be taken over is in force when it returns, the rest is held.
// ask are those that a person is to be asked about now; the others wait for
// /hooks approve. Unless sure, files that are gone or empty are often so for a moment
// only, while an editor saves: unsure has them, and nothing is decided.
func (g *Guard) Judge(files map[string]Scope, sure bool) (ask []*Pending, unsure map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	paths := s.ledger.withWithheld(files)
	changes := s.ledger.changed(paths, s.window)
	if len(changes) > 0 { // whoever wrote these may just have written others that were read before
		changes = s.ledger.changed(paths, s.window)
	}
	unsure = map[string]bool{}
	if !sure {
		changes = slices.DeleteFunc(changes, func(c change) bool {
			if !c.is.exists() || len(c.is.Code) == 0 && c.is.Err == nil {
				unsure[c.path] = true
			}
			return unsure[c.path]
		})
	}
	if len(changes) > 0 {
		ask = s.decide(changes)
	}
	return ask, unsure
}

// withWithheld is files and those that are held besides.
func (l *ledger) withWithheld(files map[string]Scope) map[string]Scope {
	paths := maps.Clone(files)
	for path, h := range l.withheld {
		if _, ok := paths[path]; !ok && !slices.Contains(l.home.configs, path) {
			paths[path] = h.scope
		}
	}
	return paths
}

// decide takes changes over or holds them.
func (s *state) decide(changes []change) (ask []*Pending) {
	s.lookAtOthers()
	crowd := s.approvals.noteChanges(changes, time.Now())
	for _, c := range changes {
		h := s.ledger.withheld[c.path]
		switch {
		case h != nil && h.old.same(c.is): // it is again what it was
			s.ledger.release(c.path)
		case h != nil && h.marked && !s.isOpenToAsk():
			h.now = c.is
		case s.mayBeOfTool(c) && !s.isOpenToAsk():
			s.news.noteBegan(s.home.pending(c.path, s.ledger.withhold(c, true)))
		case s.mayAdopt(c, crowd):
			s.adopt(c)
		default:
			h := s.ledger.withhold(c, false)
			if !h.asking {
				ask = append(ask, s.home.pending(c.path, h))
			}
		}
	}
	s.writeMarks()
	return ask
}

// mayBeOfTool reports whether tools could have made a change.
func (s *state) mayBeOfTool(c change) bool {
	return s.doubt != nil || s.others.atWork || s.window != nil && !s.window.had(c.path, c.is)
}

// isOpenToAsk reports whether the window is only open because every change is asked
// about.
func (s *state) isOpenToAsk() bool {
	return s.ledger.askEdits && s.window != nil && s.window.settled && !slices.ContainsFunc(s.window.groups, s.others.alive)
}

// mayAdopt reports whether a change is taken over without a question.
func (s *state) mayAdopt(c change, crowd bool) bool {
	switch {
	case s.ledger.askEdits:
		return false
	case c.scope != ScopeProject || !c.is.exists():
		return true
	case s.approvals.isApproved(c.path, c.is.Sum):
		return true
	}
	return s.approvals.live[c.path] && !crowd && s.ledger.withheld[c.path] == nil && s.home.headNow() == s.approvals.head
}

// edit is when a file was seen to have changed.
type edit struct {
	path string
	at   time.Time
}

// atOnce is how far apart changes are that two saves of a person may be. What is
// closer is one step of a program, even where a look falls in between.
const atOnce = 2 * time.Second

// noteChanges reports whether several files of the project change at once: that is
// hardly somebody with an editor.
func (a *approvals) noteChanges(changes []change, now time.Time) (crowd bool) {
	for _, c := range changes {
		if c.scope != ScopeProject || !c.is.exists() || a.isApproved(c.path, c.is.Sum) {
			continue
		}
		crowd = crowd || a.last.path != "" && a.last.path != c.path && now.Sub(a.last.at) < atOnce
		a.last = edit{c.path, now}
	}
	return crowd
}

// adopt puts a version in force.
func (s *state) adopt(c change) {
	if c.scope == ScopeProject && c.is.exists() && !s.approvals.isApproved(c.path, c.is.Sum) {
		_ = s.approve(c.path, c.is.Sum) // what cannot be stored holds for this run
	}
	s.ledger.files[c.path] = c.is
	if s.ledger.withheld[c.path] != nil {
		s.ledger.release(c.path)
	}
}

// withhold keeps a version from taking effect.
func (l *ledger) withhold(c change, marked bool) *withheld {
	h := l.withheld[c.path]
	if h == nil {
		h = &withheld{old: c.was, scope: c.scope, since: time.Now().UTC()}
		l.withheld[c.path] = h
	}
	l.files[c.path] = h.old
	h.now, h.marked = c.is, h.marked || marked || l.askEdits
	l.marked[c.path] = l.marked[c.path] || h.marked
	return h
}

// release ends a hold. mark writes it down.
func (l *ledger) release(path string) {
	delete(l.withheld, path)
	delete(l.shown, path)
}

// inForceIn lists the paths below dir of which it is known, whatever the disk says,
// whether a version of them is in force: those that are held, those that were read, and
// while others may have tools at work all that there were. A process may take them
// away for the moment in which they are looked for.
func (g *Guard) inForceIn(dir string) map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	in := map[string]bool{}
	for path, f := range s.others.known.Files {
		in[path] = f.Sum != ""
	}
	for path, v := range s.ledger.files {
		if v.Code != nil {
			in[path] = true
		}
	}
	for path, h := range s.ledger.withheld {
		in[path] = h.old.exists()
	}
	maps.DeleteFunc(in, func(path string, _ bool) bool { return !isBelow(path, dir) })
	return in
}

func isBelow(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// inForceAt returns the version in force of a file that is held or was read.
func (g *Guard) inForceAt(path string) (Version, bool) {
	if v, held := g.withheldAt(path); held {
		return v, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	v, read := s.ledger.files[path]
	return v, read && v.Code != nil
}

// withheldAt returns the version in force of a file that is held.
func (g *Guard) withheldAt(path string) (Version, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if h := s.ledger.withheld[path]; h != nil {
		return h.old, true
	}
	return Version{}, false
}

// IsPending reports whether another version of a file waits for approval.
func (g *Guard) IsPending(path string) bool {
	_, held := g.withheldAt(path)
	return held
}

// IsLost reports whether the version of a file that is in force cannot be had any
// more.
func (g *Guard) IsLost(path string) bool {
	v, held := g.withheldAt(path)
	return held && v.exists() && v.Code == nil
}

// headNow is the content of the project's .git/HEAD; "" without one.
func (h *home) headNow() string {
	const most = 4 << 10
	path := filepath.Join(h.project, ".git")
	if text, err := safefile.Read(path, most); err == nil { // a work tree of its own
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
			path = dir
			if !filepath.IsAbs(path) {
				path = filepath.Join(h.project, path)
			}
		}
	}
	head, _ := safefile.Read(filepath.Join(path, "HEAD"), most)
	return string(head)
}

// readHook never waits and never reads more than a hook may have: what is there
// may have been put there to harm.
func readHook(path string) ([]byte, error) {
	code, err := safefile.Read(path, MaxHook)
	if errors.Is(err, safefile.ErrNotRegular) {
		return nil, fmt.Errorf("read hook %s: not a regular file of at most %d KiB", path, MaxHook>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("read hook: %w", err)
	}
	return code, nil
}

// MaxHook is how long a hook may be: far more than one written by hand.
const MaxHook = 1 << 20
