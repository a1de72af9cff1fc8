package luahooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Scope says where a hook comes from.
type Scope string

const (
	ScopeBuiltin Scope = "builtin"      // inside the program
	ScopeGlobal  Scope = "global"       // the agent directory's hooks/
	ScopeProject Scope = "project"      // the project's .pi/hooks/
	ScopeConfig  Scope = "configured"   // named in a config.toml
	ScopeCommand Scope = "command line" // --hook
)

// Source is a hook file that is to be loaded.
type Source struct {
	Name  string // file name without .lua, or the directory's name
	Path  string // as it was found, absolute
	Real  string // with symbolic links resolved; what is read and watched
	Scope Scope
}

// Places says where hooks are looked for.
type Places struct {
	AgentDir     string
	Cwd          string   // the project
	Configured   []string // absolute paths, the global file's
	ConfiguredIn []string // absolute paths, the project file's: project scope
	CommandLine  []string // absolute paths
	NoHooks      bool     // only those of the command line
	Only         bool     // only those that are named, none of a directory
	NoProject    bool     // nothing of the project
	Disable      []string // names or paths

	DisableProject []string // names or paths; reaches project hooks only
}

// Found is what a search came up with.
type Found struct {
	Sources   []Source // in chain order
	Untrusted []Source // project hooks that are not to be run, with NoProject
	Disabled  []Source // that the settings turn off
	Problems  []error  // configured paths that do not exist and the like
	Unread    []string // directories that are there and cannot be read
	TooLarge  error    // why the hooks of the project are left out, whoever approved them
}

// Discover lists the hooks in chain order: the agent directory's, the project's,
// the configured ones, those of the command line; within a directory by name,
// byte by byte. A file reached twice counts at its first place, but one that the
// person names counts where the person does: a link in a project must not take its
// place and then wait for approval. What g holds back is listed as it was before; g
// may be nil. Whether a hook of the project may run is not decided here.
func (p Places) Discover(g *Guard) Found {
	var f Found
	seen, own := map[string]bool{}, p.own(g)
	add := func(scope Scope, trusted bool, paths ...string) {
		for _, path := range paths {
			s, err := source(path, scope, g)
			switch {
			case err != nil:
				f.Problems = append(f.Problems, err)
			case seen[s.Real], scope == ScopeProject && own[s.Real]:
			case p.disabled(s):
				f.Disabled = append(f.Disabled, s)
			case !trusted:
				f.Untrusted = append(f.Untrusted, s)
			default:
				seen[s.Real] = true
				f.Sources = append(f.Sources, s)
			}
		}
	}
	in := func(dir string) []string {
		paths, err := hookFiles(dir, g)
		if err != nil {
			f.Problems = append(f.Problems, fmt.Errorf("hooks in %s: %w", dir, reasonOf(err)))
			f.Unread = append(f.Unread, dir)
		}
		return paths
	}
	if f.TooLarge = p.TooLarge(); f.TooLarge != nil && !p.NoHooks {
		f.Problems = append(f.Problems, fmt.Errorf("%w: no hook of this project runs", f.TooLarge))
	}
	if !p.NoHooks && !p.Only {
		add(ScopeGlobal, true, in(p.GlobalDir())...)
		if f.TooLarge == nil {
			add(ScopeProject, !p.NoProject, in(p.ProjectDir())...)
		}
	}
	if !p.NoHooks {
		add(ScopeConfig, true, p.Configured...)
		if f.TooLarge == nil {
			add(ScopeProject, !p.NoProject, p.ConfiguredIn...)
		}
	}
	add(ScopeCommand, true, p.CommandLine...)
	return f
}

// own are the hooks that the person names, by the file they lead to.
func (p Places) own(g *Guard) map[string]bool {
	named := p.CommandLine
	if !p.NoHooks {
		named = slices.Concat(p.Configured, p.CommandLine)
	}
	own := map[string]bool{}
	for _, path := range named {
		if s, err := source(path, ScopeCommand, g); err == nil && !p.disabled(s) {
			own[s.Real] = true
		}
	}
	return own
}

// GlobalDir is the directory of the person's own hooks.
func (p Places) GlobalDir() string { return filepath.Join(p.AgentDir, "hooks") }

// ProjectDir is the directory of the project's hooks.
func (p Places) ProjectDir() string { return filepath.Join(p.Cwd, ".pi", "hooks") }

func (p Places) disabled(s Source) bool {
	by := func(list []string) bool {
		return slices.Contains(list, s.Name) || slices.Contains(list, s.Path) || slices.Contains(list, s.Real)
	}
	return by(p.Disable) || s.Scope == ScopeProject && by(p.DisableProject)
}

// source describes the hook at path: a file, or a directory with an init.lua.
func source(path string, scope Scope, g *Guard) (Source, error) {
	if s, ok, err := g.heldSource(path, scope); ok {
		return s, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, fmt.Errorf("hook %s: %w", path, reasonOf(err))
	}
	s := Source{Name: hookName(path), Path: path, Scope: scope}
	if info.IsDir() {
		s.Name = filepath.Base(path)
		s.Path = filepath.Join(path, "init.lua")
	}
	if s.Real, err = filepath.EvalSymlinks(s.Path); err != nil {
		return Source{}, fmt.Errorf("hook %s: %w", s.Path, reasonOf(err))
	}
	return s, nil
}

// heldSource describes a hook that is held back.
func (g *Guard) heldSource(path string, scope Scope) (s Source, ok bool, err error) {
	if g == nil {
		return s, false, nil
	}
	for _, file := range []string{path, filepath.Join(path, "init.lua")} {
		v, ok := g.heldAt(file)
		switch {
		case !ok:
		case !v.exists():
			return s, true, fmt.Errorf("hook %w", v.err)
		default:
			return Source{Name: hookName(file), Path: file, Real: v.real, Scope: scope}, true, nil
		}
	}
	return s, false, nil
}

// reasonOf is the error without the operation and path, which the caller names.
func reasonOf(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

func hookName(path string) string {
	base := filepath.Base(path)
	if base == "init.lua" {
		return filepath.Base(filepath.Dir(path))
	}
	return strings.TrimSuffix(base, ".lua")
}

// hookFiles lists the hooks of a directory in chain order: by entry name, so
// that gate/ comes before gate.lua. A missing directory has none; a name that
// leads nowhere is among them, for a gate that cannot be read must not pass for
// none.
func hookFiles(dir string, g *Guard) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries { // ReadDir sorts by name, byte by byte
		path := filepath.Join(dir, e.Name())
		if ignored(e.Name()) {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			if _, err := os.Stat(filepath.Join(path, "init.lua")); err == nil {
				paths = append(paths, path)
			}
		case strings.HasSuffix(e.Name(), ".lua"):
			paths = append(paths, path)
		}
	}
	if g == nil {
		return paths, nil
	}
	return withHeld(paths, g.heldIn(dir), dir), nil
}

// withHeld lists the hooks of a directory as they were before: what is held as
// removed is there, what is held as added is not.
func withHeld(paths []string, held map[string]bool, dir string) []string {
	for file, was := range held {
		path := file
		if filepath.Base(file) == "init.lua" && filepath.Dir(file) != dir {
			path = filepath.Dir(file)
		}
		if filepath.Dir(path) != dir {
			continue // a module
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

// unread reports whether a hook stands in a directory that cannot be read now, or
// in a project that has become too large.
func (f Found) unread(s Source) bool {
	if f.TooLarge != nil && s.Scope == ScopeProject {
		return true
	}
	return slices.ContainsFunc(f.Unread, func(dir string) bool {
		return strings.HasPrefix(s.Path, dir+string(filepath.Separator))
	})
}

// ignored reports whether a directory entry is an editor's, not a hook.
func ignored(name string) bool {
	if name == "4913" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") {
		return true
	}
	for _, end := range []string{"~", ".swp", ".tmp", ".bak"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
