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
	store   *Store
	project string
	alive   func(group int) bool
	group   int // of this program
	places  func() Places
	mask    func([]byte) ([]byte, bool)

	mu            sync.Mutex
	files         map[string]Version // in force: what was read
	held          map[string]*held   // what the disk has instead
	marked        map[string]bool    // what was ever held and marked
	shown         map[string]string  // path → hash of what a person was shown last
	approved      map[string]string  // of the project, for this run: path → hash
	live          map[string]bool    // project files that were edited and approved in this run
	head          string             // .git/HEAD when they were
	lately        edit               // of the project, the last that nobody had approved
	askEdits      bool
	configs       []string
	keys          string               // auth.json, of which the commands count
	own           string               // the agent directory: approvals of what is not of a project stand under it
	spoken        []string             // instructions of the agent directory
	lines         []string             // that nobody was told yet
	began         []*Pending           // what began to wait, and nobody was told of yet
	unasked       []string             // what was told of, by path
	changedSpoken map[string]time.Time // that were told of
	named         map[string]bool      // hooks that stand alone
	requires      map[string][]string  // by hash: what a file requires by name

	window    *window  // nil while closed
	wrote     bool     // a window, with copies of what it is about
	inherited []int    // process groups that tools of the programs before this one started
	atWork    bool     // tools of other programs may be at work
	told      Mark     // of the store
	known     Known    // how files have to be while they are, and at a start
	large     []string // folders of hooks with too much in them
	seen      *Guard   // what there is, as it was shown
	doubt     error    // why it cannot be known what was in force; nothing is, until a person decides
	unwritten error    // why the store does not have the marks of what is held
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
	g := NewForRun(o.Project)
	if o.Alive != nil {
		g.alive = o.Alive
	}
	g.group = o.Group
	g.places = o.Places
	if g.places == nil {
		g.places = func() Places { return Places{AgentDir: o.AgentDir, Cwd: o.Project} }
	}
	g.configs = []string{filepath.Join(o.AgentDir, "config.toml"), filepath.Join(o.Project, ".pi", "config.toml")}
	g.own = o.AgentDir
	g.keys, g.mask = filepath.Join(o.AgentDir, "auth.json"), o.Mask
	for _, name := range []string{"AGENTS.md", "SYSTEM.md", "APPEND_SYSTEM.md"} {
		g.spoken = append(g.spoken, filepath.Join(o.AgentDir, name))
	}
	var err error
	g.store, err = Open(o.AgentDir)
	return g, errors.Join(err, g.recover())
}

// NewForRun returns a Guard that remembers nothing beyond this run.
func NewForRun(project string) *Guard {
	return &Guard{
		project: project, alive: func(int) bool { return false },
		files: map[string]Version{}, held: map[string]*held{}, shown: map[string]string{},
		marked: map[string]bool{}, changedSpoken: map[string]time.Time{}, approved: map[string]string{}, live: map[string]bool{}, named: map[string]bool{}, requires: map[string][]string{},
	}
}

// NoteNamed notes which hooks stand alone.
func (g *Guard) NoteNamed(p Places) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, path := range append(p.Named(), p.ConfiguredIn...) {
		g.named[path], g.named[filepath.Join(path, "init.lua")] = true, true
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

// held is a file whose version on the disk is not in force.
type held struct {
	old, now Version
	scope    Scope // of a hook; "" for what is none
	since    time.Time
	marked   bool // in the store: tools could have changed it
	asking   bool // a person is looking at it
}

// onDisk is what counts of a file now.
func (g *Guard) onDisk(path string) Version {
	if path == g.keys && path != "" {
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

var ErrNotApproved = errors.New("not approved")

// Read returns the version of a file that is in force.
func (g *Guard) Read(path string) Version {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.readLocked(path)
}

func (g *Guard) readLocked(path string) Version {
	if h := g.held[path]; h != nil {
		if !h.old.exists() {
			return Version{Err: h.old.Err}
		}
		return h.old
	}
	if v, ok := g.files[path]; ok {
		return v
	}
	if g.doubt != nil {
		return Version{Err: fmt.Errorf("%s is %w: %w", path, ErrNotApproved, g.doubt), Sum: Unreadable}
	}
	if f, known := g.known.Was(path); known && f.Scope != string(scopeSpoken) {
		return g.readKnown(path, f)
	}
	v := g.onDisk(path)
	if v.exists() && g.window != nil && !g.window.had(path, v) {
		// It waits from now on, or nobody could approve it.
		h := g.hold(change{path: path, was: Version{Err: fmt.Errorf("%s is %w: it was not there before the tools ran", path, ErrNotApproved)}, is: v}, true)
		return Version{Err: h.old.Err, Sum: Unreadable}
	}
	g.files[path] = v
	return v
}

// readKnown returns f, which is in force whatever the disk says. g.mu is held.
func (g *Guard) readKnown(path string, f File) Version {
	g.holdIfChanged(path, f)
	_, read := g.files[path]
	if g.held[path] == nil && !read { // there was none, and is none
		g.files[path] = Version{Err: fs.ErrNotExist}
	}
	return g.readLocked(path)
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
	v := g.readLocked(path)
	return v.Code, v.Err == nil || g.held[path] != nil
}

// AskEdits makes every change of a hook wait for the person.
func (g *Guard) AskEdits() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.askEdits = true
}

// Store is where approvals are kept; nil if they are not.
func (g *Guard) Store() *Store { return g.store }

// change is a file whose version on the disk is not the one in force.
type change struct {
	path    string
	scope   Scope
	was, is Version
}

// changed lists which of paths have another version on the disk than in force. g.mu
// is held.
func (g *Guard) changed(paths map[string]Scope) (list []change) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, ok := g.files[path]
		if !ok && g.window != nil { // nobody has read it yet
			was, ok = g.window.base[path]
		}
		if h := g.held[path]; h != nil {
			was, ok = h.old, true
		}
		is := g.onDisk(path)
		if h := g.held[path]; h != nil && h.now.same(is) {
			continue
		}
		if ok && !was.same(is) || !ok && is.exists() || g.held[path] != nil {
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
	paths := g.heldBeside(files)
	changes := g.changed(paths)
	if len(changes) > 0 { // whoever wrote these may just have written others that were read before
		changes = g.changed(paths)
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
		ask = g.decide(changes)
	}
	return ask, unsure
}

// heldBeside is files and those that are held besides. g.mu is held.
func (g *Guard) heldBeside(files map[string]Scope) map[string]Scope {
	paths := maps.Clone(files)
	for path, h := range g.held {
		if _, ok := paths[path]; !ok && !slices.Contains(g.configs, path) {
			paths[path] = h.scope
		}
	}
	return paths
}

// decide takes changes over or holds them. g.mu is held.
func (g *Guard) decide(changes []change) (ask []*Pending) {
	g.lookAtOthers()
	crowd := g.crowded(changes, time.Now())
	for _, c := range changes {
		h := g.held[c.path]
		switch {
		case h != nil && h.old.same(c.is): // it is again what it was
			g.release(c.path)
		case h != nil && h.marked && !g.quiet():
			h.now = c.is
		case g.suspect(c) && !g.quiet():
			g.tell(g.hold(c, true).pending(g, c.path))
		case g.mayTake(c, crowd):
			g.take(c)
		default:
			h := g.hold(c, false)
			if !h.asking {
				ask = append(ask, h.pending(g, c.path))
			}
		}
	}
	g.mark()
	return ask
}

// suspect reports whether tools could have made a change. g.mu is held.
func (g *Guard) suspect(c change) bool {
	return g.doubt != nil || g.atWork || g.window != nil && !g.window.had(c.path, c.is)
}

// quiet reports whether the window is only open because every change is asked
// about. g.mu is held.
func (g *Guard) quiet() bool {
	return g.askEdits && g.window != nil && g.window.settled && !slices.ContainsFunc(g.window.groups, g.alive)
}

// mayTake reports whether a change is taken over without a question. g.mu is held.
func (g *Guard) mayTake(c change, crowd bool) bool {
	switch {
	case g.askEdits:
		return false
	case c.scope != ScopeProject || !c.is.exists():
		return true
	case g.isApproved(c.path, c.is.Sum):
		return true
	}
	return g.live[c.path] && !crowd && g.held[c.path] == nil && g.headNow() == g.head
}

// edit is when a file was seen to have changed.
type edit struct {
	path string
	at   time.Time
}

// atOnce is how far apart changes are that two saves of a person may be. What is
// closer is one step of a program, even where a look falls in between.
const atOnce = 2 * time.Second

// crowded reports whether several files of the project change at once: that is
// hardly somebody with an editor. g.mu is held.
func (g *Guard) crowded(changes []change, now time.Time) (crowd bool) {
	for _, c := range changes {
		if c.scope != ScopeProject || !c.is.exists() || g.isApproved(c.path, c.is.Sum) {
			continue
		}
		crowd = crowd || g.lately.path != "" && g.lately.path != c.path && now.Sub(g.lately.at) < atOnce
		g.lately = edit{c.path, now}
	}
	return crowd
}

// take puts a version in force. g.mu is held.
func (g *Guard) take(c change) {
	if c.scope == ScopeProject && c.is.exists() && !g.isApproved(c.path, c.is.Sum) {
		_ = g.approve(c.path, c.is.Sum) // what cannot be stored holds for this run
	}
	g.files[c.path] = c.is
	if g.held[c.path] != nil {
		g.release(c.path)
	}
}

// hold keeps a version from taking effect. g.mu is held.
func (g *Guard) hold(c change, marked bool) *held {
	h := g.held[c.path]
	if h == nil {
		h = &held{old: c.was, scope: c.scope, since: time.Now().UTC()}
		g.held[c.path] = h
	}
	g.files[c.path] = h.old
	h.now, h.marked = c.is, h.marked || marked || g.askEdits
	g.marked[c.path] = g.marked[c.path] || h.marked
	return h
}

// release ends a hold. g.mu is held; mark writes it down.
func (g *Guard) release(path string) {
	delete(g.held, path)
	delete(g.shown, path)
}

// inForceIn lists the paths below dir of which it is known, whatever the disk says,
// whether a version of them is in force: those that are held, those that were read, and
// while others may have tools at work all that there were. A process may take them
// away for the moment in which they are looked for.
func (g *Guard) inForceIn(dir string) map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	in := map[string]bool{}
	for path, f := range g.known.Files {
		in[path] = f.Sum != ""
	}
	for path, v := range g.files {
		if v.Code != nil {
			in[path] = true
		}
	}
	for path, h := range g.held {
		in[path] = h.old.exists()
	}
	maps.DeleteFunc(in, func(path string, _ bool) bool { return !isBelow(path, dir) })
	return in
}

func isBelow(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// inForceAt returns the version in force of a file that is held or was read.
func (g *Guard) inForceAt(path string) (Version, bool) {
	if v, held := g.heldAt(path); held {
		return v, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	v, read := g.files[path]
	return v, read && v.Code != nil
}

// heldAt returns the version in force of a file that is held.
func (g *Guard) heldAt(path string) (Version, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.held[path]; h != nil {
		return h.old, true
	}
	return Version{}, false
}

// IsPending reports whether another version of a file waits for approval.
func (g *Guard) IsPending(path string) bool {
	_, held := g.heldAt(path)
	return held
}

// IsLost reports whether the version of a file that is in force cannot be had any
// more.
func (g *Guard) IsLost(path string) bool {
	v, held := g.heldAt(path)
	return held && v.exists() && v.Code == nil
}

// headNow is the content of the project's .git/HEAD; "" without one.
func (g *Guard) headNow() string {
	const most = 4 << 10
	path := filepath.Join(g.project, ".git")
	if text, err := safefile.Read(path, most); err == nil { // a work tree of its own
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
			path = dir
			if !filepath.IsAbs(path) {
				path = filepath.Join(g.project, path)
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
