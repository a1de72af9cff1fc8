package trust

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"pi/internal/printable"
)

// A project names the packages that its team uses in .pi/packages.toml, each with its source, its
// commit and the sum of its files. That file is judged as a hook of the project is. What it names is
// fetched after the yes of a user, into packages/sums/SUM of the agent directory, and approved there
// by its bytes, once for all projects that name this sum.

// projectLabel stands before the name of a package of a project where the user has one of that name.
const projectLabel = "project:"

// TeamPackage is a package that a project names.
type TeamPackage struct {
	Name   string
	Source string // a git address
	Commit string // the whole hash
	Sum    string // of the list of its files
}

// TeamFile is the file by which a project names packages.
func (p Places) TeamFile() string { return filepath.Join(p.Cwd, ".pi", "packages.toml") }

func (h *home) teamFile() string { return filepath.Join(h.project, ".pi", "packages.toml") }

// SumDir is the folder of a package of a project, by its sum.
func (p Places) SumDir(sum string) string { return filepath.Join(p.PackagesDir(), sumsDir, sum) }

// Team returns the packages that the project names, in the order of the file. wants are those of them
// that are not here yet. The error is what is wrong with the file.
func (g *Guard) Team(p Places) (named, wants []TeamPackage, err error) {
	s := g.lock()
	defer g.mu.Unlock()
	named, err = s.team(s.readLocked(s.home.teamFile()))
	return named, s.home.notHere(named), err
}

// TeamToMend returns those of the packages that the project names, and a user approved, of which a file
// is not as it was approved, or which are not here at all.
func (g *Guard) TeamToMend(p Places) (broken []TeamPackage) {
	named, _, _ := g.Team(p) // what is wrong with the file is told where it is read
	if p.NoProject || !g.MayUseTeam() {
		return nil
	}
	s := g.lock()
	defer g.mu.Unlock()
	for _, t := range named {
		files := s.home.approvedIn(s.home.sumDir(t.Sum))
		isBroken := len(files) == 0
		for path, sum := range files {
			isBroken = isBroken || s.home.onDisk(path).Sum != sum
		}
		if isBroken {
			broken = append(broken, t)
		}
	}
	return broken
}

// TeamIn is [Guard.Team] of what a version of the file that waits for approval names.
func (g *Guard) TeamIn(pending *Pending) (named, wants []TeamPackage, err error) {
	s := g.lock()
	defer g.mu.Unlock()
	if pending.Path != s.home.teamFile() {
		return nil, nil, nil
	}
	named, err = s.team(pending.now)
	return named, s.home.notHere(named), err
}

// team returns the packages that a version of the file names.
func (s *state) team(v Version) ([]TeamPackage, error) {
	switch {
	case !v.exists() || s.home.team == nil:
		return nil, nil
	case v.Err != nil:
		return nil, v.Err
	}
	return s.home.team(v.Code)
}

// notHere returns those of the packages of which nothing is approved.
func (h *home) notHere(named []TeamPackage) (missing []TeamPackage) {
	for _, t := range named {
		if len(h.approvedIn(h.sumDir(t.Sum))) == 0 {
			missing = append(missing, t)
		}
	}
	return missing
}

func (h *home) sumDir(sum string) string { return filepath.Join(packagesIn(h.agentDir), sumsDir, sum) }

// errTeam is what is told of a package that a project names and that is not here.
func errTeam(label string) error {
	return fmt.Errorf("package %s of this project is not here: `pi trust` fetches it", printable.VisibleLine(label))
}

// teamLabel is as whom the user knows a package of the project.
func (s *state) teamLabel(name string) string {
	if slices.ContainsFunc(s.ownPackages(), func(p Package) bool { return p.Name == name }) {
		return projectLabel + name
	}
	return name
}

// projectPackages lists the packages that the project names, if a user approved that, and that are
// here.
func (s *state) projectPackages(p Places) (list []Package) {
	if p.NoProject || s.home.agentDir == "" {
		return nil
	}
	v := s.readLocked(s.home.teamFile())
	if !p.ProjectApproved && !s.approvals.isApproved(s.home.teamFile(), v.Sum) {
		return nil
	}
	named, _ := s.team(v)
	for _, t := range named {
		pack := s.home.packageIn(s.home.sumDir(t.Sum), t.Name, true)
		pack.Label = s.teamLabel(t.Name)
		if s.home.labels[pack.Dir] = pack.Label; len(pack.Files) > 0 {
			list = append(list, pack)
		}
	}
	return list
}

// addTeam adds the hooks of the packages that the project names, where a user approved that; else the
// packages are wanted. What is wrong with the file is a problem of the project.
func (d *discovery) addTeam() {
	if d.guard == nil {
		return
	}
	file := d.places.TeamFile()
	named, _, err := d.guard.Team(d.places)
	if err != nil {
		d.add(Source{Name: filepath.Base(file), Path: file, Real: file, Scope: ScopeProject, Err: fmt.Errorf("packages of this project: %w", err)})
		return
	}
	if len(named) == 0 {
		return
	}
	here := d.guard.teamPackages(d.places)
	d.addPackages(here)
	approved := d.places.ProjectApproved || d.guard.MayUseTeam()
	for _, t := range named {
		label, dir := d.guard.labelOf(t.Name), d.places.SumDir(t.Sum)
		s := Source{Name: label, Path: dir, Real: dir, Scope: ScopeProject, Package: label, PackageDir: dir}
		switch {
		case d.places.NoProject:
			d.found.Untrusted = append(d.found.Untrusted, s)
		case !approved:
			d.found.Wanted = append(d.found.Wanted, s)
		case !slices.ContainsFunc(here, func(p Package) bool { return p.Dir == dir }):
			s.Err = errTeam(label)
			d.add(s)
		}
	}
}

// teamPackages is [state.projectPackages].
func (g *Guard) teamPackages(p Places) []Package {
	s := g.lock()
	defer g.mu.Unlock()
	return s.projectPackages(p)
}

// MayUseTeam reports whether the file by which the project names packages is approved as it is active.
func (g *Guard) MayUseTeam() bool {
	s := g.lock()
	defer g.mu.Unlock()
	return s.approvals.isApproved(s.home.teamFile(), s.readLocked(s.home.teamFile()).Sum)
}

func (g *Guard) labelOf(name string) string {
	s := g.lock()
	defer g.mu.Unlock()
	return s.teamLabel(name)
}

// describeTeam describes the file by which the project names packages, for the question whether they
// count; false if there is none.
func (g *Guard) describeTeam(p Places) (ProjectFile, bool) {
	if g.state.home.team == nil {
		return ProjectFile{}, false
	}
	path := p.TeamFile()
	v := g.Read(path)
	if !v.exists() {
		return ProjectFile{}, false
	}
	f := ProjectFile{Path: path, SHA256: v.Sum, Size: int64(len(v.Code)), Events: []string{}, Code: v.Code}
	named, wants, err := g.Team(p)
	if err = errors.Join(v.Err, err); err != nil {
		f.Problem = err.Error()
	}
	for _, t := range named {
		row := fmt.Sprintf("package %s from %s, commit %s, sum %s", t.Name, t.Source, t.Commit, t.Sum)
		if slices.Contains(wants, t) {
			row += "; it is fetched after the yes"
		}
		f.Packages = append(f.Packages, row)
	}
	s := g.lock()
	defer g.mu.Unlock()
	f.Approved, f.By = s.approvals.isApproved(path, v.Sum), s.approvals.approvedBy(path, v.Sum)
	return f, true
}
