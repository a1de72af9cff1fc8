package trust

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/internal/safefile"
)

// A package is a folder of hooks and texts that came from elsewhere. A user was shown the list of
// its files and agreed to exactly these bytes; that is written in the store, as the approvals of a
// project whose directory is the folder of the package. So every file of a package is judged as one
// of a project is, and what is not in the list does not count, whoever put it there. The lock beside
// the packages says where they came from; it approves nothing.
//
// The user's packages lie in packages/NAME of the agent directory. Those that projects name lie in
// packages/sums/SUM, and count only in a project that names them (see team.go).

// LockFile is the file of the agent directory that says where its packages came from.
const LockFile = "packages.lock"

// sumsDir is the folder among the packages that has those of projects.
const sumsDir = "sums"

func packagesIn(agentDir string) string { return filepath.Join(agentDir, "packages") }

// Package is a package that is in force, at least in part.
type Package struct {
	Name      string   // as its own hooks call it: require "NAME.x"
	Label     string   // as the user knows it: its name, or project:NAME
	Dir       string   // absolute
	OfProject bool     // a project names it
	Files     []string // that were approved, absolute, in order of the path
}

// maxPackageName is how many characters the name of a package may have.
const maxPackageName = 64

// IsPackageName reports whether a package may be called so: letters, digits, _ and -, which is not
// the first. pi is the name of what every hook may require, and sums the folder of the packages of projects.
func IsPackageName(name string) bool {
	switch {
	case name == "" || len(name) > maxPackageName || strings.Trim(name, wordCharacters+"-") != "":
		return false
	case name[0] == '-':
		return false
	}
	return !slices.Contains([]string{"pi", sumsDir}, strings.ToLower(name))
}

// packageOf returns the folder of the package that a file lies in, be it one that nobody approved;
// "" for a file of none.
func (h *home) packageOf(path string) string {
	if h.agentDir == "" {
		return ""
	}
	rel, below := strings.CutPrefix(path, packagesIn(h.agentDir)+string(filepath.Separator))
	parts := strings.SplitN(rel, string(filepath.Separator), 3)
	switch {
	case !below || len(parts) < 2:
		return ""
	case parts[0] != sumsDir:
		return filepath.Join(packagesIn(h.agentDir), parts[0])
	case len(parts) < 3:
		return ""
	}
	return filepath.Join(packagesIn(h.agentDir), parts[0], parts[1])
}

// hookOfPackage is [HookOfPackage] for a file of the package in dir.
func hookOfPackage(label, dir, path string) (name string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return "", false
	}
	return HookOfPackage(label, filepath.ToSlash(rel))
}

// HookOfPackage returns the name of the hook that a file of a package is, by its path there with slashes;
// false if it is none. Hooks are init.lua, called as the package is, and the files of the folder hooks that
// are no tests.
func HookOfPackage(label, file string) (name string, ok bool) {
	folder, base := path.Split(file)
	switch {
	case file == "init.lua":
		return label, true
	case folder != "hooks/" || !strings.HasSuffix(base, ".lua") || isTest(base) || Ignored(base):
		return "", false
	}
	return label + "." + strings.TrimSuffix(base, ".lua"), true
}

// ApprovePackage approves exactly these files of the package in dir, by their paths below it with
// slashes, each with its SHA-256, in place of what was approved there before, in one change of the
// store. A file that is on the disk as it is listed counts when hooks are loaded the next time; one
// that is not yet, as soon as it is. So who replaces a package approves first, and then puts the
// folder in its place: at no moment does a running pi see bytes that nobody approved. The error is
// that of [Guard.MayChangePackages], or that the store cannot be written; then nothing changed.
func (g *Guard) ApprovePackage(dir string, files map[string]string) error {
	sums := map[string]string{}
	for rel, sum := range files {
		if !filepath.IsLocal(filepath.FromSlash(rel)) || !isSum(sum) || sum == Unreadable {
			return fmt.Errorf("approve %s: file %q: a path in the package and its SHA-256 are expected", dir, rel)
		}
		sums[filepath.Join(dir, filepath.FromSlash(rel))] = sum
	}
	return g.setPackage(dir, sums)
}

// ForgetPackage takes back what was approved of the package in dir. Who removes a package forgets
// it first, and then removes its files: they are no longer missed.
func (g *Guard) ForgetPackage(dir string) error { return g.setPackage(dir, nil) }

// setPackage makes sums the approvals of a package; none: there is no such package.
func (g *Guard) setPackage(dir string, sums map[string]string) error {
	s := g.lock()
	defer g.mu.Unlock()
	dir = filepath.Clean(dir)
	if s.home.packageOf(filepath.Join(dir, "x")) != dir {
		return fmt.Errorf("approve %s: a folder of a package is expected", dir)
	}
	if err := s.mayChangePackages(); err != nil {
		return err
	}
	err := s.change(func(d *Data) {
		delete(d.Projects, dir)
		if len(sums) > 0 {
			d.Project(dir).approve(sums, "")
		}
		maps.DeleteFunc(d.Pending, func(path string, _ Mark) bool { return isBelow(path, dir) })
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.approvals.run, func(path, _ string) bool { return isBelow(path, dir) })
	for path := range s.ledger.pending {
		if isBelow(path, dir) {
			s.ledger.release(path)
			s.notices.forget(path)
		}
	}
	return nil
}

// approveInPackage approves one file of a package that has approvals, or, with "", that it is gone.
func (s *state) approveInPackage(dir, path, sum string) error {
	if len(s.home.approvedIn(dir)) == 0 {
		return fmt.Errorf("%s is of no package that was approved: `pi hooks add` lists one and asks", path)
	}
	return s.change(func(d *Data) {
		p := d.Project(dir)
		if delete(p.Files, path); sum != "" {
			p.approve(map[string]string{path: sum}, "")
		}
	})
}

// isInstalled reports whether a change of a file of a package is what a user agreed to when the
// package was added or updated, be it that the file is gone since.
func (s *state) isInstalled(c change) bool {
	dir := s.home.packageOf(c.path)
	return dir != "" && s.home.approvedIn(dir)[c.path] == c.is.Sum
}

// MayChangePackages returns why packages cannot be added, replaced or removed now: a tool started
// this program, tools are at work that could change what is approved, or the store is damaged.
func (g *Guard) MayChangePackages() error {
	s := g.lock()
	defer g.mu.Unlock()
	return s.mayChangePackages()
}

// mayChangePackages is [Guard.MayChangePackages].
func (s *state) mayChangePackages() error {
	if err := s.mayApprove(); err != nil {
		return err
	}
	s.lookAtOthers()
	switch {
	case s.home.store == nil:
		return errors.New("there is no store of approvals")
	case s.damaged != nil:
		return fmt.Errorf("%w; `pi trust` first", s.damaged)
	case s.others.atWork, s.window != nil && (!s.window.idle || s.hasProcesses(s.window)):
		return errAtWork
	}
	return nil
}

// ApprovedPackage returns what is approved of the package in dir: the SHA-256 of each file, by its path
// below dir with slashes; nothing if nobody approved it.
func (g *Guard) ApprovedPackage(dir string) map[string]string {
	s := g.lock()
	defer g.mu.Unlock()
	files := map[string]string{}
	for path, sum := range s.home.approvedIn(dir) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			files[filepath.ToSlash(rel)] = sum
		}
	}
	return files
}

// approvedIn returns what the store approves of a package: path → hash.
func (h *home) approvedIn(dir string) map[string]string {
	if h.store == nil || h.store.Damaged() != nil {
		return nil
	}
	return h.store.Files(dir)
}

// ChangeLock changes the lock of packages in the agent directory: change gets what is in force, nil
// for nothing, and what it returns is written and in force. It is refused as the packages themselves
// are ([Guard.MayChangePackages]).
func (g *Guard) ChangeLock(change func(old []byte) ([]byte, error)) error {
	path := filepath.Join(g.state.home.agentDir, LockFile)
	release, err := safefile.LockPath(path) // outside of the mutex: a tool may have the lock
	if err != nil {
		return err
	}
	defer release()
	s := g.lock()
	defer g.mu.Unlock()
	if err := s.mayChangePackages(); err != nil {
		return err
	}
	if changes := s.ledger.changed(map[string]Scope{path: ""}, s.window); len(changes) > 0 {
		s.decide(changes)
	}
	next, err := change(s.readLocked(path).Code)
	if err != nil {
		return err
	}
	return s.write(path, next)
}

// ReadLock returns the lock of packages that is in force; nil if there is none.
func (g *Guard) ReadLock() []byte {
	return g.Current(filepath.Join(g.state.home.agentDir, LockFile)).Code
}

// Packages lists the packages of which something is approved: the user's by name, then those that
// the project names and a user approved, as p has them. Whether their files are as they were approved
// is not looked at.
func (g *Guard) Packages(p Places) []Package {
	if g == nil || p.NoHooks || p.Only {
		return nil
	}
	s := g.lock()
	defer g.mu.Unlock()
	return slices.Concat(s.ownPackages(), s.projectPackages(p))
}

// ownPackages is [state.ownPackages]; g may be nil.
func (g *Guard) ownPackages() []Package {
	if g == nil {
		return nil
	}
	s := g.lock()
	defer g.mu.Unlock()
	return s.ownPackages()
}

// ownPackages lists the user's packages that are approved, by name.
func (s *state) ownPackages() (list []Package) {
	if s.home.agentDir == "" || s.home.store == nil {
		return nil
	}
	for _, dir := range s.home.store.PackageDirs() {
		if name := filepath.Base(dir); filepath.Dir(dir) == packagesIn(s.home.agentDir) && IsPackageName(name) {
			list = append(list, s.home.packageIn(dir, name, false))
		}
	}
	return list
}

// packageIn describes the package in dir.
func (h *home) packageIn(dir, name string, ofProject bool) Package {
	return Package{Name: name, Label: name, Dir: dir, OfProject: ofProject, Files: slices.Sorted(maps.Keys(h.approvedIn(dir)))}
}

// scope is where hooks of the package come from.
func (p Package) scope() Scope {
	if p.OfProject {
		return ScopeProject
	}
	return ScopePackage
}

// addPackages adds the hooks of packages, those that were approved: one that is no longer as it was
// is a source too, and so is a package with another file that is not.
func (d *discovery) addPackages(packages []Package) {
	for _, p := range packages {
		var hooks []Source
		var broken *Source
		for _, path := range p.Files {
			err := d.guard.checkPackageFile(p, path)
			name, isHook := hookOfPackage(p.Label, p.Dir, path)
			s := Source{Name: name, Path: path, Real: path, Scope: p.scope(), Package: p.Label, PackageDir: p.Dir}
			if isHook {
				hooks = append(hooks, s)
			} else if err != nil && broken == nil {
				s.Name, s.Err = p.Label, err
				broken = &s
			}
		}
		slices.SortFunc(hooks, func(a, b Source) int { return strings.Compare(a.Name, b.Name) }) // init.lua, which has the shortest name, first
		for _, s := range hooks {
			if v := d.guard.Read(s.Path); v.real != "" {
				s.Real = v.real
			}
			d.add(s)
		}
		if broken != nil {
			d.add(*broken)
		}
	}
}

// checkPackageFile returns why a file of a package does not count. What is on the disk in place of
// the bytes that were approved waits for approval from then on, so that a user can look at it.
func (g *Guard) checkPackageFile(p Package, path string) error {
	s := g.lock()
	defer g.mu.Unlock()
	if h := s.ledger.pending[path]; h != nil && !h.marked && h.now.exists() && s.approvals.isApproved(path, h.now.Sum) {
		s.ledger.put(path, h.now) // it was approved elsewhere
		s.ledger.release(path)
	}
	v := s.readLocked(path)
	if s.ledger.pending[path] == nil && !s.approvals.isApproved(path, v.Sum) && s.damaged == nil {
		was := Version{Sum: s.home.approvedIn(s.home.packageOf(path))[path], real: cmp.Or(v.real, path), Err: s.home.errPackage(p, path, v)}
		s.ledger.withhold(change{path, p.scope(), was, v}, false)
		return was.Err
	}
	return v.Err
}

// CheckPackages looks at the files of all packages, so that those that are not as they were approved
// are among what waits for approval.
func (g *Guard) CheckPackages(p Places) {
	for _, pack := range g.Packages(p) {
		for _, path := range pack.Files {
			_ = g.checkPackageFile(pack, path) // a search for hooks tells of it
		}
	}
}

// errPackage is why a package does not run as it is on the disk, and what to do. is is the file at path.
func (h *home) errPackage(p Package, path string, is Version) error {
	rel, _ := filepath.Rel(p.Dir, path)
	what := "is not what was approved"
	switch {
	case !is.exists():
		what = "is missing"
	case is.Err != nil:
		what = "cannot be read: " + reasonOf(is.Err).Error()
	}
	return fmt.Errorf("%s of package %s %s: %s", printable.VisibleLine(filepath.ToSlash(rel)), p.Label, what, h.wayOut(path))
}

// wayOut is what a user can do about the package of a file that is not as it was approved.
func (h *home) wayOut(path string) string {
	label := h.label(path)
	if filepath.Base(filepath.Dir(h.packageOf(path))) == sumsDir {
		return fmt.Sprintf("`pi trust` shows it and fetches %s anew, /hooks approve accepts it as it is", strings.TrimPrefix(label, projectLabel))
	}
	return fmt.Sprintf("`pi hooks update %s` brings it back, /hooks approve accepts it as it is, `pi hooks remove %s` takes the package away", label, label)
}

// UnapprovedPackages lists the folders of packages that nobody approved, and the hooks in others that
// were not approved with them. None of it runs.
func (g *Guard) UnapprovedPackages(p Places) (list []Source) {
	if g == nil || p.NoHooks || p.Only || g.state.home.store == nil {
		return nil
	}
	entries, err := hookEntries(p.PackagesDir())
	if err != nil {
		return nil
	}
	for _, e := range entries {
		dir := filepath.Join(p.PackagesDir(), e.Name())
		if e.Name() == sumsDir || !isDir(dir, e) {
			continue
		}
		approved := g.ApprovedPackage(dir)
		if len(approved) == 0 {
			list = append(list, Source{Name: e.Name(), Path: dir, Real: dir, Scope: ScopePackage, Package: e.Name(), PackageDir: dir})
			continue
		}
		for _, path := range listLua(dir).files {
			rel, _ := filepath.Rel(dir, path)
			if name, isHook := hookOfPackage(e.Name(), dir, path); isHook && approved[filepath.ToSlash(rel)] == "" {
				list = append(list, Source{Name: name, Path: path, Real: path, Scope: ScopePackage, Package: e.Name(), PackageDir: dir})
			}
		}
	}
	return list
}

// PackageFiles are the files that decide about packages, with their scopes: those of the packages in
// force, the lock, and the file by which a project names its own.
func (g *Guard) PackageFiles(p Places) map[string]Scope {
	files := map[string]Scope{}
	for _, pack := range g.Packages(p) {
		for _, path := range pack.Files {
			files[path] = pack.scope()
		}
	}
	g.state.home.addPackageLists(files, p)
	return files
}

// addPackageLists adds the files that say which packages there are.
func (h *home) addPackageLists(files map[string]Scope, p Places) {
	if h.agentDir == "" {
		return
	}
	files[filepath.Join(h.agentDir, LockFile)] = ""
	if !p.NoProject {
		files[h.teamFile()] = ScopeProject
	}
}

// addPackages adds to paths the files of the packages that are in force for p, and to dirs their
// folders, in which a file that appears is new.
func (g *Guard) addPackages(paths, dirs map[string]Scope, p Places) {
	for _, pack := range g.Packages(p) {
		dirs[pack.Dir] = pack.scope()
		for _, path := range listLua(pack.Dir).files {
			paths[path] = pack.scope()
		}
	}
	maps.Copy(paths, g.PackageFiles(p))
}

// CheckPackageText returns why a text of a package, such as a skill, does not count as it is on the
// disk: nobody approved these bytes.
func (g *Guard) CheckPackageText(path string) error {
	s := g.lock()
	defer g.mu.Unlock()
	if is := onDisk(path); !s.approvals.isApproved(path, is.Sum) || s.ledger.pending[path] != nil && !s.ledger.pending[path].active.same(is) {
		return fmt.Errorf("it is %w: %s", ErrNotApproved, s.home.wayOut(path))
	}
	return nil
}

// IsOfPackage reports whether a file lies in the folder of a package, be it one that nobody approved.
func (g *Guard) IsOfPackage(path string) bool { return g.state.home.packageOf(path) != "" }

// CheckPackageCode returns why these bytes of a file of a package do not run: nobody approved them.
func (g *Guard) CheckPackageCode(path string, code []byte) error {
	s := g.lock()
	defer g.mu.Unlock()
	if !s.approvals.isApproved(path, Sum(code)) {
		return fmt.Errorf("%s is %w: %s", path, ErrNotApproved, s.home.wayOut(path))
	}
	return nil
}

// CheckPackage returns why the files of a package are not on the disk as they were approved.
func (g *Guard) CheckPackage(dir string) error {
	s := g.lock()
	defer g.mu.Unlock()
	for path, sum := range s.home.approvedIn(dir) {
		if s.home.onDisk(path).Sum != sum {
			return fmt.Errorf("%s is %w: %s", path, ErrNotApproved, s.home.wayOut(path))
		}
	}
	return nil
}

// ReadPackageText returns a text of a package in the version in force. The error is why there is none
// that was approved.
func (g *Guard) ReadPackageText(path string) ([]byte, error) {
	s := g.lock()
	defer g.mu.Unlock()
	v := s.readLocked(path)
	if v.Err == nil && !s.approvals.isApproved(path, v.Sum) {
		return nil, fmt.Errorf("%s is %w: %s", path, ErrNotApproved, s.home.wayOut(path))
	}
	return v.Code, v.Err
}

// kindInPackage is what a file of a package is, for [Pending], and the name by which a user means it.
func (h *home) kindInPackage(path string) (kind, name string) {
	dir, label := h.packageOf(path), h.label(path)
	if name, isHook := hookOfPackage(label, dir, path); isHook {
		return "hook", name
	}
	rel, _ := filepath.Rel(dir, path)
	if kind = "file of a package"; strings.HasSuffix(path, ".lua") {
		kind = "module"
	}
	return kind, label + "/" + filepath.ToSlash(rel)
}

// label is as whom the user knows the package that a file belongs to.
func (h *home) label(path string) string {
	dir := h.packageOf(path)
	if label, known := h.labels[dir]; known {
		return label
	}
	return filepath.Base(dir)
}

// isPackageModule returns the first word of the name of a module, and whether a package has that name.
func (g *Guard) isPackageModule(module string) (name string, is bool) {
	name, _, inside := strings.Cut(module, ".")
	if !inside {
		return name, false
	}
	s := g.lock()
	defer g.mu.Unlock()
	if s.home.agentDir == "" {
		return name, false
	}
	if len(s.home.approvedIn(filepath.Join(packagesIn(s.home.agentDir), name))) > 0 {
		return name, true
	}
	return name, slices.Contains(slices.Collect(maps.Values(s.home.labels)), projectLabel+name)
}

// ownName is the name by which hooks of a package require its files.
func (s Source) ownName() string { return cmp.Or(s.own, strings.TrimPrefix(s.Package, projectLabel)) }

// candidates are the files in which a module that the hook requires is looked for, in order: for one
// whose name begins with that of the hook's package, in the folder of that.
func (s Source) candidates(module string) []string {
	if own, isOwn := strings.CutPrefix(module, s.ownName()+"."); s.PackageDir != "" && isOwn {
		return candidates([]string{s.PackageDir}, own)
	}
	return candidates(s.dirs(), module)
}
