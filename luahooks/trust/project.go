package trust

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pi/luahooks/text"
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
	By       string   `json:"by,omitempty"`       // the hook that approved it; "": a user did
	Own      bool     `json:"own,omitempty"`      // of the user, but somebody else may change it
	Servers  []string `json:"servers,omitempty"`  // of a file that names MCP servers: rows that describe them
	Program  bool     `json:"program,omitempty"`  // an MCP server is made of it
	Packages []string `json:"packages,omitempty"` // of the file that names packages: a row for each
	Agent    bool     `json:"agent,omitempty"`    // it defines an agent
	Entries  bool     `json:"entries,omitempty"`  // it is the settings, of which only what they say of hooks is approved
	Code     []byte   `json:"-"`
}

// Question is asked when files of a project are not approved.
type Question struct {
	Project string
	Files   []ProjectFile // all that approval covers
}

// Answer is a user's answer to a Question.
type Answer int

// The answers; only Always and Never are remembered.
const (
	AnswerNo Answer = iota
	AnswerOnce
	AnswerAlways
	AnswerNever
)

// approvals are the versions of a project's files that may run.
type approvals struct {
	home *home
	run  map[string]string // may run until the program ends: path → hash
	live map[string]bool   // edits of these files were approved in this run: later ones need no question
	head string            // .git/HEAD at that time; live is void when it changes, as by a checkout
	last edit              // the last that nobody had approved
}

func newApprovals(h *home) approvals {
	return approvals{home: h, run: map[string]string{}, live: map[string]bool{}}
}

// isApproved reports whether the bytes with this hash may run as the file at path: they are
// approved for this run or in the store. Bytes that cannot be read never are.
func (a *approvals) isApproved(path, sum string) bool {
	if sum == "" || sum == Unreadable {
		return false
	}
	if a.run[path] == sum {
		return true
	}
	store := a.home.store
	if store == nil {
		return false
	}
	if dir := a.home.packageOf(path); dir != "" { // nothing else approves a file of a package
		return store.Approved(dir, path) == sum
	}
	if store.Approved(a.home.project, path) == sum || store.Approved(a.home.agentDir, path) == sum {
		return true
	}
	another, file, ok := ProjectOf(path, a.home.agentDir) // to which it belongs
	return ok && store.Approved(another, file) == sum
}

// approvedBy returns the hook that approved the bytes with this hash for later runs; "" if a user
// did, or nobody.
func (a *approvals) approvedBy(path, sum string) string {
	if a.home.store == nil || a.home.store.Approved(a.home.project, path) != sum {
		return ""
	}
	return a.home.store.ApprovedBy(a.home.project, path)
}

// isOthers reports whether a file of the user's own needs approval as one of a project
// does, because somebody else may change it. A hook that the user names on the command
// line does not.
func isOthers(scope Scope, v Version) bool {
	return v.Others != "" && (scope == ScopeGlobal || scope == ScopeConfig)
}

// approvable returns the hash, by path, that an approval of listed files is for: the one in
// the list, or a later active one that was accepted since. A file that cannot be read, or
// of which active, by path, says that there is none, is left out.
func (a *approvals) approvable(files []ProjectFile, active map[string]Version) map[string]string {
	sums := map[string]string{}
	for _, f := range files {
		now, read := active[f.Path]
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

// edit is when a file was seen to have changed.
type edit struct {
	path string
	at   time.Time
}

// atOnce is the shortest time between two saves of a user. Changes that are closer are
// one step of a program, even if a look found the first before the second.
const atOnce = 2 * time.Second

// noteChanges records changes of the project's files that are not approved, and reports
// whether several files changed at once (see atOnce), which is hardly a user with an
// editor. A file that is gone does not count.
func (a *approvals) noteChanges(changes []change, now time.Time) (crowd bool) {
	for _, c := range changes {
		if !a.home.isProjects(c.scope, c.path) || !c.is.exists() || a.isApproved(c.path, c.is.Sum) {
			continue
		}
		crowd = crowd || a.last.path != "" && a.last.path != c.path && now.Sub(a.last.at) < atOnce
		a.last = edit{c.path, now}
	}
	return crowd
}

// ProjectFiles lists what approval covers: every *.lua below the project's hooks directory, every
// hook its settings name, and the modules that literal require calls of these reach, in order
// of the path; what the settings say of hooks; and the files that define agents.
func (g *Guard) ProjectFiles(p Places) []ProjectFile {
	paths := map[string]bool{}
	for _, path := range listLua(p.ProjectDir()).files {
		paths[path] = true
	}
	for path, ok := range g.activeIn(p.ProjectDir()) {
		paths[path] = ok
	}
	found := p.Discover(g)
	if found.TooLarge != nil { // nothing of it runs
		return []ProjectFile{}
	}
	reach := g.newReach(ScopeProject, maxProjectLua, maxParsed)
	for _, s := range found.Sources {
		if s.Scope == ScopeProject && s.Err == nil && s.Package == "" { // those of packages are approved with the file that names them
			paths[s.Path] = true
			reach.follow(s)
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
	if f, ok := g.describeTeam(p); ok {
		files = append(files, f)
	}
	if f, ok := g.entriesFile(); ok && len(files) > 0 {
		files = append(files, f)
	}
	return append(files, g.projectAgents()...)
}

// ApprovedOnDisk returns the sum of each file that approval covers, by path, as it is on the
// disk at this moment, whatever is active. It is an error if one of them is not approved so.
func (g *Guard) ApprovedOnDisk(p Places) (map[string]string, error) {
	if err := p.TooLarge(); err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, path := range listLua(p.ProjectDir()).files {
		sums[path] = onDisk(path).Sum
	}
	for _, f := range g.ProjectFiles(p) {
		sums[f.Path] = g.state.home.approvedSum(f)
	}
	s := g.lock()
	defer g.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		if sums[path] != "" && !s.approvals.isApproved(path, sums[path]) {
			return nil, fmt.Errorf("%s is %w", path, ErrNotApproved)
		}
	}
	return sums, nil
}

// maxParsed is how many bytes of a project's Lua are looked into, once to follow
// what it requires and once to say what it registers: half a second's work.
const maxParsed = 256 << 10

// describe describes a file of the project for the question whether it may run. Unless
// parse, its text is not looked into, and More says that nothing is known of what it does.
func (g *Guard) describe(path string, v Version, parse bool) ProjectFile {
	f := ProjectFile{Path: path, SHA256: v.Sum, Size: int64(len(v.Code)), Events: []string{}, Code: v.Code}
	if v.Err != nil {
		f.Problem = reasonOf(v.Err).Error()
		return f
	}
	scanned, err := text.Scanned{Dynamic: true}, error(nil)
	if parse {
		scanned, err = text.Scan(v.Code)
	}
	if err != nil {
		f.Problem = err.Error()
	}
	f.Events, f.More = append(f.Events, scanned.Events...), scanned.Dynamic
	s := g.lock()
	defer g.mu.Unlock()
	f.Approved, f.By = s.approvals.isApproved(path, v.Sum), s.approvals.approvedBy(path, v.Sum)
	return f
}

// ApproveRun lets files of the project run until the program ends, in the versions that
// approvable chooses: as they are in the list, or as a user accepted them since. Files
// that are gone or cannot be read are left out.
func (g *Guard) ApproveRun(files []ProjectFile) {
	s := g.lock()
	defer g.mu.Unlock()
	maps.Copy(s.approvals.run, s.approvals.approvable(files, s.ledger.active))
}

// ApproveAlways is ApproveRun, and writes the approvals to the store, for later programs. A
// refusal of the project ends. A program that a tool started approves nothing. If the store
// cannot be written, err says so and the approvals count for this program alone.
func (g *Guard) ApproveAlways(files []ProjectFile) error { return g.ApproveAlwaysBy(files, "") }

// ApproveAlwaysBy is [Guard.ApproveAlways] for what a hook of the user approved in their place; the store
// has its name.
func (g *Guard) ApproveAlwaysBy(files []ProjectFile, hook string) error {
	s := g.lock()
	defer g.mu.Unlock()
	if err := s.mayApprove(); err != nil {
		return err
	}
	maps.Copy(s.approvals.run, s.approvals.approvable(files, s.ledger.active))
	return s.change(func(d *Data) {
		p, own := d.Project(s.home.project), []ProjectFile{}
		p.Never = false
		for _, f := range files {
			if f.Own {
				own = append(own, f)
			}
		}
		p.approve(s.approvals.approvable(files, s.ledger.active), hook)
		if len(own) > 0 {
			d.Project(s.home.agentDir).approve(s.approvals.approvable(own, s.ledger.active), hook)
		}
	})
}

// Refuse takes back all approvals of the project, and writes down that nothing of it is to
// run and nobody is to be asked.
func (g *Guard) Refuse() error { return g.forget(true) }

// Revoke takes back what was decided about the project, approvals and refusal, and about
// hooks of the user that somebody else may change.
func (g *Guard) Revoke() error { return g.forget(false) }

// forget removes what was decided about the project, for this run and in the store; with
// never it is refused from now on. A program that a tool started forgets nothing.
func (g *Guard) forget(never bool) error {
	s := g.lock()
	defer g.mu.Unlock()
	if err := s.mayApprove(); err != nil {
		return err
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

// othersMayChange lists those hooks of the user, and the modules that they name, which
// somebody else may change, or which belong to another project, so that they need approval
// like files of this one.
func (g *Guard) othersMayChange(found Found) (paths []string) {
	for _, s := range found.Sources {
		if s.Err != nil || !isOthers(s.Scope, g.Read(s.Path)) && g.OfAnother(s) == "" {
			continue
		}
		_, reached := g.literalModules(s)
		paths = append(append(paths, s.Path), reached...)
	}
	return paths
}
