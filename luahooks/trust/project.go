package trust

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// ProjectFile is one file that approval of a project covers.
type ProjectFile struct {
	Path     string   `json:"path"` // absolute
	SHA256   string   `json:"sha256"`
	Size     int64    `json:"size"`
	Events   []string `json:"events"`            // that it registers, as far as its text says so
	More     bool     `json:"more,omitempty"`    // it may register or require others
	Problem  string   `json:"problem,omitempty"` // why it cannot be approved
	Approved bool     `json:"approved"`
	Own      bool     `json:"own,omitempty"` // of the person, but somebody else may change it
	Code     []byte   `json:"-"`
}

// Question is asked when files of a project are not approved.
type Question struct {
	Project string
	Files   []ProjectFile // all that approval covers
}

// Answer is what a person says to it.
type Answer int

// The answers; only Always and Never are remembered.
const (
	AnswerNo Answer = iota
	AnswerOnce
	AnswerAlways
	AnswerNever
)

// ProjectPaths lists the Lua files below the project's hooks directory and the hooks
// that its settings name, whether anybody approved them or not.
func (p Places) ProjectPaths() []string {
	return append(listLua(p.ProjectDir()).files, p.ConfiguredIn...)
}

// ProjectFiles lists what approval covers, in order of the path: every *.lua below
// the project's hooks directory, every hook its settings name, and the modules
// that literal require calls of these reach.
func (g *Guard) ProjectFiles(p Places) []ProjectFile {
	paths := map[string]bool{}
	for _, path := range listLua(p.ProjectDir()).files {
		paths[path] = true
	}
	for path, ok := range g.inForceIn(p.ProjectDir()) {
		paths[path] = ok
	}
	found := p.Discover(g)
	if found.TooLarge != nil { // nothing of it runs
		return []ProjectFile{}
	}
	reach := g.newReach(ScopeProject, maxProjectLua, maxParsed)
	for _, s := range found.Sources {
		if s.Scope == ScopeProject && s.Err == nil {
			paths[s.Path] = true
			reach.follow(s.Path, s.dirs())
		}
	}
	for _, path := range reach.reached {
		paths[path] = true
	}
	own := g.othersMayChange(found)
	for _, path := range own {
		paths[path] = true
	}
	files, parsed := []ProjectFile{}, 0
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if v := g.Read(path); paths[path] && v.exists() {
			parsed += len(v.Code)
			f := g.describe(path, v, parsed <= maxParsed)
			f.Own = slices.Contains(own, path)
			files = append(files, f)
		}
	}
	return files
}

// maxParsed is how many bytes of a project's Lua are looked into, once to follow
// what it requires and once to say what it registers: half a second's work.
const maxParsed = 256 << 10

func (g *Guard) describe(path string, v Version, parse bool) ProjectFile {
	f := ProjectFile{Path: path, SHA256: v.Sum, Size: int64(len(v.Code)), Events: []string{}, Code: v.Code}
	if v.Err != nil {
		f.Problem = reasonOf(v.Err).Error()
		return f
	}
	scanned, err := Scanned{Dynamic: true}, error(nil)
	if parse {
		scanned, err = Scan(v.Code)
	}
	if err != nil {
		f.Problem = err.Error()
	}
	f.Events, f.More = append(f.Events, scanned.Events...), scanned.Dynamic
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	f.Approved = s.approvals.isApproved(path, v.Sum)
	return f
}

// What a project may have of Lua for anybody to judge it.
const (
	maxProjectFiles = 1_000
	maxProjectLua   = 4 << 20 // bytes of all its files
)

// TooLarge says why the hooks of the project cannot be judged, so that none of
// them runs; nil: they can.
func (p Places) TooLarge() error {
	l := listLua(p.ProjectDir())
	files, bytes := append(l.files, p.ConfiguredIn...), int64(0)
	for _, path := range files[:min(len(files), maxProjectFiles)] {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	switch {
	case len(l.large) > 0:
		return fmt.Errorf("%s has more than %d entries", l.large[0], MaxEntries)
	case len(files) > maxProjectFiles:
		return fmt.Errorf("%s and the settings beside it have %d hooks and modules, at most %d are judged", p.ProjectDir(), len(files), maxProjectFiles)
	case bytes > maxProjectLua:
		return fmt.Errorf("the hooks and modules of %s have %d bytes, at most %d are judged", p.ProjectDir(), bytes, maxProjectLua)
	}
	return nil
}

// dirs are the directories in which a hook's modules are looked for.
func (s Source) dirs() []string {
	dirs := []string{filepath.Dir(s.Path)}
	if real := filepath.Dir(s.Real); real != dirs[0] && s.Real != "" {
		dirs = append(dirs, real)
	}
	return dirs
}

// isApproved reports whether these bytes of a project's file may run.
func (a *approvals) isApproved(path, sum string) bool {
	if sum == "" || sum == Unreadable {
		return false
	}
	return a.run[path] == sum || a.home.store != nil && (a.home.store.Approved(a.home.project, path) == sum || a.home.store.Approved(a.home.agentDir, path) == sum)
}

// isOthers reports whether a file of the person's own counts as a project's, since
// somebody else may change it. What the person names for one run does not.
func isOthers(scope Scope, v Version) bool {
	return v.Others != "" && (scope == ScopeGlobal || scope == ScopeConfig)
}

// MayRunVersion reports whether a version of a hook's file may run.
func (g *Guard) MayRunVersion(scope Scope, path string, v Version) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	return scope != ScopeProject && !isOthers(scope, v) || s.approvals.isApproved(path, v.Sum)
}

// MayRun reports whether the version of a hook that is in force may run.
func (g *Guard) MayRun(s Source) bool {
	if s.Scope == ScopeProject && g.IsRefused() {
		return false
	}
	return g.MayRunVersion(s.Scope, s.Path, g.Read(s.Path))
}

// IsRefused reports whether a person said that nothing of the project is ever to run.
func (g *Guard) IsRefused() bool {
	at := g.state.home
	return at.store != nil && at.store.IsRefused(at.project)
}

// HasApprovals reports whether anything of the project may run.
func (g *Guard) HasApprovals() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	return len(s.approvals.run) > 0 || s.home.store != nil && len(s.home.store.Files(s.home.project)) > 0
}

// approve lets a version of a project's file run: for this run, and in the store
// if the file has an approval there.
func (s *state) approve(path, sum string) error {
	s.approvals.run[path] = sum
	if s.home.store == nil || s.home.store.Files(s.home.project)[path] == "" {
		return nil
	}
	return s.change(func(d *Data) { d.Project(s.home.project).Files[path] = sum })
}

// ApproveRun lets files run until the program ends.
func (g *Guard) ApproveRun(files []ProjectFile) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	maps.Copy(s.approvals.run, s.approvals.approvable(files, s.ledger.files))
}

// approvable gives the versions of files that an approval is for: those that were
// listed, or a later one that a person accepted since.
func (a *approvals) approvable(files []ProjectFile, inForce map[string]Version) map[string]string {
	sums := map[string]string{}
	for _, f := range files {
		now, read := inForce[f.Path]
		switch {
		case read && !now.exists() || f.SHA256 == Unreadable:
		case read && now.Sum != f.SHA256 && a.run[f.Path] == now.Sum:
			sums[f.Path] = now.Sum
		default:
			sums[f.Path] = f.SHA256
		}
	}
	return sums
}

// ApproveAlways lets these files of the project run from now on.
func (g *Guard) ApproveAlways(files []ProjectFile) error {
	if err := g.notOfTool(); err != nil {
		return err
	}
	g.ApproveRun(files)
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	return s.change(func(d *Data) {
		p, own := d.Project(s.home.project), []ProjectFile{}
		p.Never = false
		for _, f := range files {
			if f.Own {
				own = append(own, f)
			}
		}
		maps.Copy(p.Files, s.approvals.approvable(files, s.ledger.files))
		if len(own) > 0 {
			maps.Copy(d.Project(s.home.agentDir).Files, s.approvals.approvable(own, s.ledger.files))
		}
	})
}

func (g *Guard) notOfTool() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if s.isOfTool() {
		return errOfTool
	}
	return nil
}

// Refuse has nothing of the project run, and nobody asked.
func (g *Guard) Refuse() error { return g.forget(true) }

// Revoke takes back what was decided about the project, and about hooks of the
// person that somebody else may change.
func (g *Guard) Revoke() error { return g.forget(false) }

func (g *Guard) forget(never bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &g.state
	if s.isOfTool() {
		return errOfTool
	}
	s.approvals.run = map[string]string{}
	if s.home.store == nil {
		return nil
	}
	return s.change(func(d *Data) {
		delete(d.Projects, s.home.project)
		if never {
			d.Project(s.home.project).Never = true
		} else {
			delete(d.Projects, s.home.agentDir)
		}
	})
}

// othersMayChange lists the hooks of the person, and the modules they name, that
// count as a project's.
func (g *Guard) othersMayChange(found Found) (paths []string) {
	for _, s := range found.Sources {
		if s.Err != nil || !isOthers(s.Scope, g.Read(s.Path)) {
			continue
		}
		_, reached := g.literalModules(s.Path, s.dirs(), s.Scope)
		paths = append(append(paths, s.Path), reached...)
	}
	return paths
}
