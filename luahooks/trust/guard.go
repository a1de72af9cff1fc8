package trust

import (
	"cmp"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Guard knows which version of each file is active. Hooks and their modules are
// made of what it read once, so the bytes that were judged are the bytes that
// run; what the disk says now counts when it may:
//
//   - What changed while tools could have done it is pending, and
//     marked in the store, until a user approves it (window.go).
//   - A file of the project runs if its bytes are approved (project.go).
//   - With AskEdits every change is pending.
//
// Anything else is the user's own edit and is active at once. All methods
// may be called from any goroutine.
type Guard struct {
	mu       sync.Mutex // guards state: what is active, what waits and what the store says of it change together
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
	// Own are the process group of this program and its session; none if they are unknown.
	Own []int
	// Mask removes the keys from the text of settings, before a copy is kept or a
	// difference shown; nil with false: it cannot. Without one nothing is masked.
	Mask func(settings []byte) (masked []byte, ok bool)
	// Entries returns what the settings of a project say of its hooks, as a text to be approved
	// and shown; nil: nothing.
	Entries func(settings []byte) []byte
	// Around returns the package that a folder of hooks belongs to, whoever brought it, and its name; nil:
	// it belongs to none.
	Around func(dir string) (root, name string, ok bool)
	// Team returns the packages that a project names in its file for that; nil: nobody can read it.
	Team func(file []byte) ([]TeamPackage, error)
	// MaskServers is Mask for the user's mcp.json.
	MaskServers func(servers []byte) (masked []byte, ok bool)
	// Clients are what clients wrote in other sessions of this program, and will in this one;
	// nil: there are no other sessions.
	Clients *ClientFiles
	// Places are where hooks are, as far as the settings on the disk tell. They are asked
	// for when it is not known what was active; nil: the standard places.
	Places func() Places
	// Judge says why a file of another project does not run, instead of the approvals; nil:
	// they decide.
	Judge func(path string, code []byte) error
}

// NewGuard reads the store of the agent directory and finds out what happened to
// the files since the last program looked. The Guard is usable also with an
// error, which is for the user.
func NewGuard(o GuardOptions) (*Guard, error) {
	g := newGuard(newHome(o))
	if o.Alive != nil {
		g.state.others.alive = o.Alive
	}
	g.state.others.own = o.Own
	g.state.clients = cmp.Or(o.Clients, g.state.clients)
	var err error
	g.state.home.store, err = Open(o.AgentDir)
	err = errors.Join(err, g.state.recoverState())
	g.state.withholdOfClients() // before anything is read
	return g, err
}

// NewForRun returns a Guard that remembers nothing beyond this run, and looks at nothing
// but the hooks of a project and those that are named.
func NewForRun(project string) *Guard {
	return newGuard(&home{project: project, labels: map[string]string{}, named: map[string]bool{}, servers: map[string]bool{}, programs: map[string]bool{}, now: time.Now})
}

func newGuard(h *home) *Guard {
	return &Guard{state: state{home: h, clients: new(ClientFiles), listed: map[string]stampedListing{}, ledger: newLedger(h), approvals: newApprovals(h),
		spoken: map[string]time.Time{}, others: programs{alive: func(int) bool { return false }}}}
}

// lock locks the state and returns it; the caller unlocks mu.
func (g *Guard) lock() *state {
	g.mu.Lock()
	return &g.state
}

// NoteNamed notes the hooks that settings and the command line name one by one: nothing else
// tells from their path that they are hooks, and no modules.
func (g *Guard) NoteNamed(p Places) {
	s := g.lock()
	defer g.mu.Unlock()
	for _, path := range append(p.Named(), p.ConfiguredIn...) {
		s.home.named[path], s.home.named[filepath.Join(path, "init.lua")] = true, true
	}
}

// Read returns the version of a file that is active.
func (g *Guard) Read(path string) Version {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.readLocked(path)
}

// RealPath is the file that a hook was read from, symbolic links followed.
func (g *Guard) RealPath(s Source) string {
	if v := g.Read(s.Path); v.real != "" {
		return v.real
	}
	return s.Real
}

// Config returns the bytes of a settings file that are active, nil for no file;
// ok is false if it cannot be read.
func (g *Guard) Config(path string) (code []byte, ok bool) {
	s := g.lock()
	defer g.mu.Unlock()
	v := s.readLocked(path)
	return v.Code, v.Err == nil || s.ledger.pending[path] != nil
}

// AskEdits makes every change of a hook wait for the user.
func (g *Guard) AskEdits() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state.ledger.askEdits = true
}

// Store is where approvals are kept; nil if they are not.
func (g *Guard) Store() *Store { return g.state.home.store }

// activeIn returns the files below dir that are known without a look at the disk, each with
// whether some version of it runs as a hook at present. Known are the files
// that were read, those of which a changed version waits for approval, and those that the
// store lists for other programs whose tools may be at work.
func (g *Guard) activeIn(dir string) map[string]bool {
	s := g.lock()
	defer g.mu.Unlock()
	in := map[string]bool{}
	for path, f := range s.others.known.Files {
		in[path] = f.Sum != ""
	}
	for path, v := range s.ledger.active {
		if v.Code != nil {
			in[path] = true
		}
	}
	for path, h := range s.ledger.pending {
		in[path] = h.active.exists()
	}
	maps.DeleteFunc(in, func(path string, _ bool) bool { return !isBelow(path, dir) })
	return in
}

// activeAt returns the active version of a file that is pending or was read; false for
// a file of which only the disk knows. It reads nothing.
func (g *Guard) activeAt(path string) (Version, bool) {
	if v, pending := g.pendingAt(path); pending {
		return v, true
	}
	s := g.lock()
	defer g.mu.Unlock()
	v, read := s.ledger.active[path]
	return v, read && v.Code != nil
}

// pendingAt returns the active version of a file whose version on the disk waits for
// approval; false if the file does not wait.
func (g *Guard) pendingAt(path string) (Version, bool) {
	s := g.lock()
	defer g.mu.Unlock()
	if h := s.ledger.pending[path]; h != nil {
		return h.active, true
	}
	return Version{}, false
}

// IsPending reports whether another version of a file waits for approval.
func (g *Guard) IsPending(path string) bool {
	_, pending := g.pendingAt(path)
	return pending
}

// CountPending is how many files wait for approval. Nobody is shown them.
func (g *Guard) CountPending() (n int) {
	s := g.lock()
	defer g.mu.Unlock()
	if s.damaged != nil {
		return 1 // the store, which is all that is approved then
	}
	for path := range s.ledger.pending {
		if path != s.home.index {
			n++
		}
	}
	return n
}

// IsLost reports whether the version of a file that is active cannot be had any
// more.
func (g *Guard) IsLost(path string) bool {
	v, pending := g.pendingAt(path)
	return pending && v.exists() && v.Code == nil
}

// newHome is the home of an agent directory and a project, without a store.
func newHome(o GuardOptions) *home {
	h := &home{team: o.Team, around: o.Around, labels: map[string]string{}, project: o.Project, agentDir: o.AgentDir, mask: o.Mask, entries: o.Entries, maskServers: o.MaskServers, places: o.Places, judge: o.Judge, named: map[string]bool{}, now: time.Now,
		userServers: filepath.Join(o.AgentDir, serversFile), index: indexOfServers(o.AgentDir), servers: map[string]bool{}, programs: map[string]bool{}}
	if h.places == nil {
		h.places = func() Places { return Places{AgentDir: o.AgentDir, Cwd: o.Project} }
	}
	h.configs = []string{filepath.Join(o.AgentDir, "config.toml"), filepath.Join(o.Project, ".pi", "config.toml")}
	h.keys = filepath.Join(o.AgentDir, "auth.json")
	for _, name := range []string{"AGENTS.md", "SYSTEM.md", "APPEND_SYSTEM.md"} {
		h.instructions = append(h.instructions, filepath.Join(o.AgentDir, name))
	}
	return h
}

// MayRunVersion reports whether a version of a hook's file may run.
func (g *Guard) MayRunVersion(scope Scope, path string, v Version) bool {
	s := g.lock()
	defer g.mu.Unlock()
	if judge := s.home.judge; judge != nil && s.home.ofAnother(scope, path) != "" {
		return judge(path, v.Code) == nil
	}
	return !s.home.isProjects(scope, path) && !isOthers(scope, v) || s.approvals.isApproved(path, v.Sum)
}

// MayRun reports whether the version of a hook that is active may run.
func (g *Guard) MayRun(s Source) bool {
	if s.Scope == ScopeProject && g.IsRefused() {
		return false
	}
	return g.MayRunVersion(s.Scope, s.Path, g.Read(s.Path))
}

// IsRefused reports whether a user said that nothing of the project is ever to run.
func (g *Guard) IsRefused() bool {
	at := g.state.home
	return at.store != nil && at.store.IsRefused(at.project)
}

// HasApprovals reports whether any file of the project is approved, for this run or in the
// store.
func (g *Guard) HasApprovals() bool {
	s := g.lock()
	defer g.mu.Unlock()
	return s.hasApprovals()
}

// hasApprovals is [Guard.HasApprovals].
func (s *state) hasApprovals() bool {
	return len(s.approvals.run) > 0 || s.home.store != nil && len(s.home.store.Files(s.home.project)) > 0
}

// WasApproved reports whether the user approved any version of the project's file at path,
// or of a file below it. For a settings file every approval counts: it may have named any
// of the hooks. g may be nil.
func (g *Guard) WasApproved(path string) bool {
	if g == nil {
		return false
	}
	s := g.lock()
	defer g.mu.Unlock()
	if dir := s.home.packageOf(path); dir != "" {
		return s.home.approvedIn(dir)[path] != ""
	}
	known := maps.Clone(s.approvals.run)
	if s.home.store != nil {
		maps.Copy(known, s.home.store.Files(s.home.project))
	}
	for file := range known {
		if file == path || strings.HasPrefix(file, path+string(filepath.Separator)) || slices.Contains(s.home.configs, path) {
			return true
		}
	}
	return false
}

// OthersAtWork reports whether another program runs that has tools at work: it
// withholds what is approved meanwhile.
func (g *Guard) OthersAtWork() bool {
	s := g.lock()
	defer g.mu.Unlock()
	if s.home.store == nil {
		return false
	}
	for _, w := range s.home.store.OtherWindows(s.mark) {
		if w.lives && !w.Asks && w.counts(s.others.alive) {
			return true
		}
	}
	return false
}

// Damaged is why nothing is active, nil in ordinary life.
func (g *Guard) Damaged() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.damaged
}
