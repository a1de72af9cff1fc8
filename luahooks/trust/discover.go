package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Found is the result of a search for hooks.
type Found struct {
	Sources   []Source // in chain order
	Untrusted []Source // project hooks that are not to be run, with NoProject
	Wanted    []Source // packages that the project names, as long as nobody approved that
	Disabled  []Source // that the settings turn off
	Problems  []error  // what cannot be read of a project and was never approved
	Unread    []Source // directories that are there and cannot be read
	TooLarge  error    // why the hooks of the project are left out, whoever approved them
}

// Discover lists the hooks in chain order: the agent directory's, those of its packages, the
// project's, the configured ones, those of the command line; within a directory by name,
// byte by byte. A file reached twice counts at its first place, but one that the
// user names counts where the user does: a link in a project must not take its
// place and then wait for approval. What g withholds is listed as it was before; g
// may be nil. Whether a hook of the project may run is not decided here.
//
// A hook that is named, or lies where hooks lie, and cannot be found is a
// source too, with Err. Of a project it is one only if the user approved
// something there.
func (p Places) Discover(g *Guard) Found {
	d := discovery{places: p, guard: g, seen: map[string]bool{}, own: p.own(g)}
	if err := p.TooLarge(); err != nil && !p.NoHooks {
		// Nobody can judge the hooks of the project, so none of them is listed. One that
		// the user approved before may have been a gate.
		d.found.TooLarge = err
		dir := p.ProjectDir()
		d.add(Source{Name: filepath.Base(dir), Path: dir, Real: dir, Scope: ScopeProject, Err: fmt.Errorf("%w: no hook of this project runs", err)})
	}
	project := d.found.TooLarge == nil
	if !p.NoHooks && !p.Only {
		d.addDirectory(ScopeGlobal, p.GlobalDir())
		d.addPackages(g.ownPackages())
		if project {
			d.addTeam()
			d.addDirectory(ScopeProject, p.ProjectDir())
		}
	}
	if !p.NoHooks {
		d.addFiles(ScopeConfig, p.Configured)
		if project {
			d.addFiles(ScopeProject, p.ConfiguredIn)
		}
		d.addLostSettings()
	}
	d.addFiles(ScopeCommand, p.CommandLine)
	return d.found
}

// discovery is a search for hooks.
type discovery struct {
	places Places
	found  Found
	guard  *Guard
	seen   map[string]bool // the files that were listed, symbolic links followed
	own    map[string]bool // the files of hooks that the user names, see [Places.own]
}

func (d *discovery) addFiles(scope Scope, paths []string) {
	for _, path := range paths {
		d.add(sourceAt(path, scope, d.guard))
	}
}

// addDirectory adds the hooks of a directory; one that cannot be read is a source itself.
func (d *discovery) addDirectory(scope Scope, dir string) {
	paths, err := hookFiles(dir, d.guard)
	if err != nil {
		s := Source{Name: filepath.Base(dir), Path: dir, Real: dir, Scope: scope, Err: fmt.Errorf("hooks in %s: %w", dir, reasonOf(err))}
		d.found.Unread = append(d.found.Unread, s)
		d.add(s)
	}
	d.addFiles(scope, paths)
}

// addLostSettings adds settings files that cannot be read as sources with an error: their
// hooks cannot be known, and may be gates. One of the project counts only if the user
// approved something of the project.
func (d *discovery) addLostSettings() {
	for _, path := range slices.Sorted(maps.Keys(d.places.Lost)) {
		s := Source{Name: filepath.Base(path), Path: path, Real: path, Scope: ScopeConfig,
			Err: fmt.Errorf("what %s says of hooks and tools is not known: %w", path, d.places.Lost[path])}
		if path == filepath.Join(d.places.Cwd, ".pi", "config.toml") {
			s.Scope = ScopeProject
		}
		if s.Scope != ScopeProject || d.mayBeGate(s) { // who reads settings has said what is wrong with them
			d.add(s)
		}
	}
}

// add puts a source into the list of d.found that it belongs to, and nowhere if its file was
// listed already or is one that the user names and the project only links to.
func (d *discovery) add(s Source) {
	ofProject := s.Scope == ScopeProject
	switch {
	case d.seen[s.Real], ofProject && d.own[s.Real]:
	case d.places.disables(s):
		d.found.Disabled = append(d.found.Disabled, s)
	case s.Err != nil && ofProject && !d.mayBeGate(s):
		d.found.Problems = append(d.found.Problems, s.Err)
	case ofProject && d.places.NoProject:
		d.found.Untrusted = append(d.found.Untrusted, s)
	default:
		d.seen[s.Real] = true
		d.found.Sources = append(d.found.Sources, s)
	}
}

// mayBeGate reports whether a source of the project that cannot be read may be a gate that
// the user relies on: hooks of the project may run, and this one, or all, were approved.
func (d *discovery) mayBeGate(s Source) bool {
	return s.Package != "" || !d.places.NoProject && (d.places.ProjectApproved || d.guard.WasApproved(s.Path))
}

// own returns the files of the hooks that the user names, in the own settings or on the
// command line, symbolic links followed. Hooks that are off are not among them.
func (p Places) own(g *Guard) map[string]bool {
	named := p.CommandLine
	if !p.NoHooks {
		named = slices.Concat(p.Configured, p.CommandLine)
	}
	own := map[string]bool{}
	for _, path := range named {
		if s := sourceAt(path, ScopeCommand, g); s.Err == nil && !p.disables(s) {
			own[s.Real] = true
		}
	}
	return own
}

// sourceAt describes the hook at path: a file, or a directory with an init.lua. One of the command line
// that lies in a package is in that as its author works on it: it requires files of it by their names.
func sourceAt(path string, scope Scope, g *Guard) Source {
	s := describeHook(path, scope, g)
	if scope == ScopeCommand && g != nil && g.state.home.around != nil {
		if dir, name, ok := g.state.home.around(filepath.Dir(s.Path)); ok {
			s.PackageDir, s.own = dir, name
		}
	}
	return s
}

// describeHook is sourceAt without what lies around the hook.
func describeHook(path string, scope Scope, g *Guard) Source {
	if s, ok := g.knownSource(path, scope); ok {
		return s
	}
	s := Source{Name: hookName(path), Path: path, Scope: scope}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		s.Name = filepath.Base(path)
		s.Path = filepath.Join(path, "init.lua")
	}
	if err == nil {
		s.Real, err = filepath.EvalSymlinks(s.Path)
	}
	if err != nil {
		s.Real, s.Err = s.Path, fmt.Errorf("hook %s: %w", s.Path, reasonOf(err))
	}
	return s
}

// knownSource describes the hook at path from the active version, without a look at the
// disk; ok is false for a hook that g has not read and does not withhold. A pending hook
// that was not there before has an error.
func (g *Guard) knownSource(path string, scope Scope) (s Source, ok bool) {
	if g == nil {
		return s, false
	}
	for _, file := range []string{path, filepath.Join(path, "init.lua")} {
		v, ok := g.activeAt(file)
		switch {
		case !ok:
		case !v.exists():
			return Source{Name: hookName(file), Path: file, Real: file, Scope: scope, Err: fmt.Errorf("hook %w", v.Err)}, true
		default:
			return Source{Name: hookName(file), Path: file, Real: v.real, Scope: scope}, true
		}
	}
	return s, false
}

// HooksIn lists the hooks of a directory as a session would find them there; one with an init.lua is
// a hook itself. What is not approved is among them.
func HooksIn(dir string) (paths []string, err error) {
	if _, err := os.Lstat(filepath.Join(dir, "init.lua")); err == nil {
		return []string{dir}, nil
	}
	return hookFiles(dir, nil)
}

// hookFiles lists the hooks of a directory in chain order: by entry name, so
// that gate/ comes before gate.lua. A missing directory has none; a name that
// leads nowhere is among them, for a gate that cannot be read must not pass for
// none.
func hookFiles(dir string, g *Guard) (paths []string, err error) {
	entries, err := hookEntries(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = lostLink(dir)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); isHook(path) {
			paths = append(paths, path)
		}
	}
	if g == nil {
		return paths, nil
	}
	return withActive(paths, g.activeIn(dir), dir), nil
}

// isHook reports whether an entry of a hooks directory is a hook, or may be one
// that cannot be read: a link that leads nowhere may have led to a directory with an
// init.lua. Tests lie beside hooks and are none.
func isHook(path string) bool {
	if isTest(path) {
		return false
	}
	if strings.HasSuffix(path, ".lua") {
		return true
	}
	info, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) || lostLink(path) != nil
	}
	if !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(path, "init.lua"))
	return !errors.Is(err, fs.ErrNotExist)
}

// isTest reports whether a file has the name of a test of hooks, which only `pi test` runs.
func isTest(path string) bool { return strings.HasSuffix(path, "_test.lua") }

// lostLink is an error if path is not there because it, or a directory above it, is
// a symbolic link that leads nowhere.
func lostLink(path string) error {
	for {
		if _, err := os.Lstat(path); err == nil {
			_, err := os.Stat(path)
			return err
		}
		above := filepath.Dir(path)
		if above == path {
			return nil
		}
		path = above
	}
}

// withActive corrects paths, the hooks of a directory on the disk, to those active: one
// whose removal is pending is added, one whose addition is pending is removed. active says
// of files below dir whether a version of them is active.
func withActive(paths []string, active map[string]bool, dir string) []string {
	for file, was := range active {
		path := file
		if filepath.Base(file) == "init.lua" && filepath.Dir(file) != dir {
			path = filepath.Dir(file)
		}
		if filepath.Dir(path) != dir || isTest(path) {
			continue // a module, or a test
		}
		i := slices.Index(paths, path)
		switch {
		case was && i < 0:
			paths = append(paths, path)
		case !was && i >= 0:
			paths = slices.Delete(paths, i, i+1)
		}
	}
	sort.Slice(paths, func(i, j int) bool { return filepath.Base(paths[i]) < filepath.Base(paths[j]) })
	return paths
}

// Hides returns the directory that a hook lies in, if that cannot be read now, or
// belongs to a project that has become too large.
func (f Found) Hides(s Source) (dir Source, ok bool) {
	if f.TooLarge != nil && s.Scope == ScopeProject {
		return Source{Err: f.TooLarge}, true
	}
	for _, dir := range f.Unread {
		if s.Below(dir.Path) {
			return dir, true
		}
	}
	return Source{}, false
}
