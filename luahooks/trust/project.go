package trust

import (
	"maps"
	"slices"
)

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

// describe describes a file for the question; unless parse, it is not looked into.
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
	s := g.lock()
	defer g.mu.Unlock()
	f.Approved = s.approvals.isApproved(path, v.Sum)
	return f
}

// ApproveRun lets files run until the program ends.
func (g *Guard) ApproveRun(files []ProjectFile) {
	s := g.lock()
	defer g.mu.Unlock()
	maps.Copy(s.approvals.run, s.approvals.approvable(files, s.ledger.files))
}

// ApproveAlways lets these files of the project run from now on.
func (g *Guard) ApproveAlways(files []ProjectFile) error {
	s := g.lock()
	defer g.mu.Unlock()
	if s.isOfTool() {
		return errOfTool
	}
	maps.Copy(s.approvals.run, s.approvals.approvable(files, s.ledger.files))
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

// Refuse has nothing of the project run, and nobody asked.
func (g *Guard) Refuse() error { return g.forget(true) }

// Revoke takes back what was decided about the project, and about hooks of the
// person that somebody else may change.
func (g *Guard) Revoke() error { return g.forget(false) }

// forget removes what was decided about the project; with never it is refused from now
// on.
func (g *Guard) forget(never bool) error {
	s := g.lock()
	defer g.mu.Unlock()
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
