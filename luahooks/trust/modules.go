package trust

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pi/luahooks/text"
)

// Required is a module that a hook requires.
type Required struct {
	Hook    Source // Path, Real and Scope
	Name    string
	Loading bool                     // the hook is being loaded: what it looks for is known before tools run
	Shown   func(path string) string // how messages write a path
	Looked  func(path, key string)   // is told of each file that decides, and of its [Version.Key], those that are not there among them
}

// FindModule reads the active version of a module's file: x.lua, x/init.lua or
// lib/x.lua beside the hook. The error is why the hook does not get it: it is not
// there, cannot be read, is not approved, or nobody could watch it.
func (g *Guard) FindModule(r Required) (path string, code []byte, err error) {
	for _, path := range r.Hook.candidates(r.Name) {
		if err := g.checkWatched(r, path); err != nil {
			return "", nil, fmt.Errorf("module %s: %w", r.Name, err)
		}
		v := g.Read(path)
		r.Looked(path, v.Key())
		switch {
		case errors.Is(v.Err, ErrNotApproved) || v.exists() && !g.MayRunVersion(r.Hook.Scope, path, v):
			return "", nil, fmt.Errorf("module %s is %w (%s)", r.Name, ErrNotApproved, r.Shown(path))
		case v.exists():
			if err := g.checkListed(r, path); err != nil {
				return "", nil, fmt.Errorf("module %s: %w", r.Name, err)
			}
			return path, v.Code, v.Err
		}
	}
	pack, isOfPackage := g.isPackageModule(r.Name)
	switch {
	case r.Hook.PackageDir != "" && r.Hook.ownName() == pack:
		return "", nil, fmt.Errorf("module %s not found in package %s (tried %s)", r.Name, pack, strings.Join(ModuleFiles(strings.TrimPrefix(r.Name, pack+".")), ", "))
	case isOfPackage:
		return "", nil, fmt.Errorf("module %s belongs to package %s, and only the hooks of that get it: copy the file beside this hook, or let the two talk with pi.emit", r.Name, pack)
	}
	return "", nil, fmt.Errorf("module %s not found beside the hook (tried %s)", r.Name, strings.Join(ModuleFiles(r.Name), ", "))
}

// checkListed returns an error for a module in a folder with more files than can be watched,
// unless the hook names it in its text: a tool could add it there unseen.
func (g *Guard) checkListed(r Required, path string) error {
	dir := g.state.home.tooLarge(path)
	if dir == "" || g.namesModule(r.Hook, path) {
		return nil
	}
	return fmt.Errorf("%s has more than %d entries, too many to be watched: a module in it has to be named as a text, as in require \"x\"", r.Shown(dir), MaxEntries)
}

// checkWatched returns an error for a module outside of the folders of hooks, unless the hook
// is being loaded or names the module in its text: nobody knew of it when tools began to
// run, so nobody knows whether one of them wrote it.
func (g *Guard) checkWatched(r Required, path string) error {
	if r.Loading || g.state.home.inHooks(path) || g.state.home.packageOf(path) != "" || !isThere(path) || g.namesModule(r.Hook, path) {
		return nil
	}
	return fmt.Errorf("%s stands outside of the folders of hooks, which are watched, and its name is computed: require it while the hook loads, or name it as a text, as in require \"x\"",
		r.Shown(path))
}

// namesModule reports whether the text of the hook, or of a module it names, names a module.
func (g *Guard) namesModule(hook Source, path string) bool {
	_, named := g.literalModules(hook)
	return slices.Contains(named, path)
}

// candidates returns the files in which a module is looked for, in order; none for a name
// that is of the standard library or no name.
func candidates(dirs []string, name string) (paths []string) {
	for _, dir := range dirs {
		for _, t := range ModuleFiles(name) {
			paths = append(paths, filepath.Join(dir, t))
		}
	}
	return paths
}

// maxModules bounds what is looked for: from one hook, or from those of a project.
const maxModules = 4096

// ModuleFiles are the files that a module may be, from where it is looked for; none for a name
// that is of the standard library or no name.
func ModuleFiles(name string) []string {
	if !IsModuleName(name) || IsBuiltinModule(name) {
		return nil
	}
	rel := filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))
	return []string{rel + ".lua", filepath.Join(rel, "init.lua"), filepath.Join("lib", rel+".lua")}
}

// IsModuleName reports whether name is words of letters, digits and _ joined by
// dots. The first of several may be the name of a package.
func IsModuleName(name string) bool {
	first, others, isInside := strings.Cut(name, ".")
	if isInside && IsPackageName(first) {
		name = others
	}
	for word := range strings.SplitSeq(name, ".") {
		if word == "" || strings.Trim(word, wordCharacters) != "" {
			return false
		}
	}
	return true
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// IsBuiltinModule reports whether a name is one of the standard library's.
func IsBuiltinModule(name string) bool { return name == "pi" || strings.HasPrefix(name, "pi.") }

// literalModules lists the modules that the literal require calls of a hook reach, and
// all files that decide about it, those that are not there among them.
func (g *Guard) literalModules(hook Source) (looked map[string]Scope, reached []string) {
	r := g.newReach(hook.Scope, math.MaxInt, math.MaxInt)
	r.follow(hook)
	return r.looked, r.reached
}

// reach collects the modules that the literal require calls of hooks lead to. A module
// that several hooks share is followed once.
type reach struct {
	guard   *Guard
	scope   Scope
	looked  map[string]Scope // files that decide, those that are not there among them
	reached []string         // modules
	done    map[string]bool  // files with the directories of their modules
	left    int              // bytes that may still be parsed
	unread  int              // bytes that may still be read
}

// newReach returns a reach that reads and parses files of so many bytes together. Modules
// beyond that are not reached, so that nobody approves them and they do not run.
func (g *Guard) newReach(scope Scope, read, parsed int) *reach {
	return &reach{guard: g, scope: scope, looked: map[string]Scope{}, done: map[string]bool{}, left: parsed, unread: read}
}

// follow adds the modules that a hook names, those that these name, and so on, as far as the
// limits allow.
func (r *reach) follow(hook Source) {
	in := strings.Join(append(hook.dirs(), hook.Package), "\x00") + "\x00"
	for todo := []string{hook.Path}; len(todo) > 0 && len(r.looked) < maxModules && r.left >= 0; todo = todo[1:] {
		if file := todo[0]; !r.done[in+file] {
			r.done[in+file] = true
			todo = append(todo, r.modulesOf(file, hook)...)
		}
	}
}

// modulesOf returns the files of the modules that one file of a hook requires by name, and adds them to
// reached. All places in which they are looked for are added to looked.
func (r *reach) modulesOf(file string, hook Source) (modules []string) {
	v := r.guard.Read(file)
	if r.left -= len(v.Code); r.left < 0 {
		return nil
	}
	for _, name := range r.guard.requires.namesOf(v) {
		found := false
		for _, candidate := range hook.candidates(name) {
			r.looked[candidate] = r.scope
			if found || r.unread < 0 {
				continue
			}
			c := r.guard.Read(candidate)
			if r.unread -= len(c.Code); c.exists() && r.unread >= 0 {
				found = true
				modules, r.reached = append(modules, candidate), append(r.reached, candidate)
			}
		}
	}
	return modules
}

// requireCache remembers what files require by name: it is asked before each run of
// tools. It may be used from any goroutine.
type requireCache struct {
	mu    sync.Mutex          // guards names
	names map[string][]string // by the hash of the file
}

// namesOf is the modules that a version of a file requires by name; none if it cannot be
// read.
func (c *requireCache) namesOf(v Version) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	names, known := c.names[v.Sum]
	if known || v.Code == nil {
		return names
	}
	scanned, _ := text.Scan(v.Code)
	if c.names == nil {
		c.names = map[string][]string{}
	}
	c.names[v.Sum] = scanned.Requires
	return scanned.Requires
}
