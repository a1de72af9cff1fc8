package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Scope is where a hook comes from.
type Scope string

const (
	ScopeBuiltin Scope = "builtin"      // inside the program
	ScopeGlobal  Scope = "global"       // the agent directory's hooks/
	ScopePackage Scope = "package"      // a package of the agent directory's packages/
	ScopeProject Scope = "project"      // the project's .pi/hooks/
	ScopeConfig  Scope = "configured"   // named in a config.toml
	ScopeCommand Scope = "command line" // --hook
)

// Source is a hook file that is to be loaded.
type Source struct {
	Name  string // file name without .lua, or the directory's name; of a package PACK.NAME
	Path  string // as it was found, absolute
	Real  string // with symbolic links resolved; what is read and watched
	Scope Scope

	// Of a hook of a package: as whom the user knows the package, and its folder.
	Package, PackageDir string
	own                 string // by which name it requires files of the package, where that has no label: its author works on it

	// Err is why there is nothing to read where a hook lies or is named; what is
	// there may be a gate.
	Err error
}

// Missing reports whether the path of a source leads to no file.
func (s Source) Missing() bool {
	return errors.Is(s.Err, fs.ErrNotExist) || errors.Is(s.Err, syscall.ENOTDIR) || errors.Is(s.Err, syscall.ELOOP)
}

// Removed reports whether a hook that an option names, and of which there is no readable
// file, is gone altogether: nothing is at its path, not even a link that leads nowhere.
func (s Source) Removed() bool {
	if !s.Missing() {
		return false
	}
	_, err := os.Lstat(s.Path)
	return err != nil
}

// Below reports whether a source lies in a directory, at any depth.
func (s Source) Below(dir string) bool {
	return strings.HasPrefix(s.Path, dir+string(filepath.Separator))
}

// dirs are the directories in which a hook's modules are looked for; of a package also those of
// its own name (see [Source.candidates]).
func (s Source) dirs() []string {
	dirs := []string{filepath.Dir(s.Path)}
	if real := filepath.Dir(s.Real); real != dirs[0] && s.Real != "" {
		dirs = append(dirs, real)
	}
	return dirs
}

// hookName is the name of the hook with that file.
func hookName(path string) string {
	base := filepath.Base(path)
	if base == "init.lua" {
		return filepath.Base(filepath.Dir(path))
	}
	return strings.TrimSuffix(base, ".lua")
}

// Places are where hooks are looked for.
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

	// Lost are settings files whose list of hooks cannot be known, and why.
	Lost map[string]error

	ProjectApproved bool // the hooks of the project count as they are

	Servers  []string // files of the project that name MCP servers, whether they are there or not
	Programs []string // files of the project that those servers are made of
}

// GlobalDir is the directory of the user's own hooks.
func (p Places) GlobalDir() string { return filepath.Join(p.AgentDir, "hooks") }

// PackagesDir is the directory of the packages, each in a folder of its name.
func (p Places) PackagesDir() string { return packagesIn(p.AgentDir) }

// ProjectDir is the directory of the project's hooks.
func (p Places) ProjectDir() string { return filepath.Join(p.Cwd, ".pi", "hooks") }

// Watched are the directories whose content decides which hooks there are.
func (p Places) Watched() []string {
	switch {
	case p.NoHooks:
		return nil
	case p.NoProject:
		return []string{p.GlobalDir(), p.PackagesDir()}
	}
	return []string{p.GlobalDir(), p.PackagesDir(), p.ProjectDir()}
}

// Named lists the paths of the hooks that settings and the command line name one by one, as
// far as p lets them run.
func (p Places) Named() []string {
	named := p.CommandLine[:len(p.CommandLine):len(p.CommandLine)]
	if p.NoHooks {
		return named
	}
	if !p.NoProject {
		named = append(named, p.ConfiguredIn...)
	}
	return append(named, p.Configured...)
}

// disables reports whether the settings turn a hook off.
func (p Places) disables(s Source) bool {
	by := func(list []string) bool {
		return slices.Contains(list, s.Name) || slices.Contains(list, s.Path) || slices.Contains(list, s.Real)
	}
	return by(p.Disable) || s.Scope == ScopeProject && by(p.DisableProject)
}

// ProjectPaths lists the Lua files below the project's hooks directory and the hooks
// that its settings name, each once, whether anybody approved them or not.
func (p Places) ProjectPaths() []string {
	return p.withConfigured(listLua(p.ProjectDir()).files)
}

// withConfigured adds to files the hooks that the settings of the project name and that are
// not among them.
func (p Places) withConfigured(files []string) []string {
	there := map[string]bool{}
	for _, path := range files {
		there[path] = true
	}
	for _, path := range p.ConfiguredIn {
		if !there[path] && !there[filepath.Join(path, "init.lua")] {
			there[path] = true
			files = append(files, path)
		}
	}
	return files
}

// What a project may have of Lua for anybody to judge it.
const (
	maxProjectFiles = 1_000
	maxProjectLua   = 4 << 20 // bytes of all its files
)

// TooLarge returns why the hooks of the project are too many or too long to be judged, so
// that none of them runs; nil: they are not.
func (p Places) TooLarge() error {
	l := listLua(p.ProjectDir())
	files, bytes := p.withConfigured(l.files), int64(0)
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

func isBelow(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }
