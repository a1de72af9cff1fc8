package luahooks

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// module is a file or a built-in that a hook required.
type module struct {
	value lua.LValue
	done  bool
}

// isModuleName reports whether name is words of letters, digits and _ joined by
// dots.
func isModuleName(name string) bool {
	for word := range strings.SplitSeq(name, ".") {
		if word == "" || strings.Trim(word, wordCharacters) != "" {
			return false
		}
	}
	return true
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// require loads a module once per VM: pi.* from the standard library, everything
// else from beside the hook.
func (in *instance) require(L *lua.LState) int {
	name := L.CheckString(1)
	if !isModuleName(name) {
		luavm.Raise(L, "module name %q: names are words of letters, digits and _ joined by dots", name)
	}
	m := in.requires[name]
	if m == nil {
		m = &module{}
		in.requires[name] = m
		if err := in.loadModule(L, name, m); err != nil {
			delete(in.requires, name)
			luavm.Raise(L, "%v", err)
		}
	}
	if !m.done {
		luavm.Raise(L, "module %s is required while it loads", name)
	}
	L.Push(m.value)
	return 1
}

func (in *instance) loadModule(L *lua.LState, name string, m *module) error {
	if isBuiltinModule(name) {
		open := stdlib.Module(name)
		if open == nil {
			return fmt.Errorf("module %s does not exist; there are %s", name, strings.Join(stdlib.Names(), ", "))
		}
		m.value, m.done = open(in.vm, L, in.env()), true
		if t, ok := m.value.(*lua.LTable); ok && t.Metatable == lua.LNil {
			in.vm.StrictTable(name, t)
		}
		return nil
	}
	path, code, err := in.findModule(name)
	if err != nil {
		return err
	}
	proto, err := luavm.Compile(in.chain.shown(path), code)
	if err != nil {
		return err
	}
	defer func() {
		if !m.done {
			delete(in.requires, name) // it raised
		}
	}()
	m.value, m.done = callFunction(L, L.NewFunctionFromProto(proto), lua.LString(name)), true
	if m.value == lua.LNil {
		m.value = lua.LTrue
	}
	return nil
}

// findModule reads the file of a module: x.lua, x/init.lua or lib/x.lua beside
// the hook. It notes where it looked, for a file that appears there counts.
func (in *instance) findModule(name string) (string, []byte, error) {
	g, s := in.chain.guard, Source{Path: in.hook.Path, Real: in.real}
	for _, path := range candidates(s.dirs(), name) {
		if err := in.watched(path); err != nil {
			return "", nil, fmt.Errorf("module %s: %w", name, err)
		}
		v := g.read(path)
		in.note(path, v.sum)
		switch {
		case errors.Is(v.err, errNotApproved) || v.exists() && !g.mayRun(in.hook.Scope, path, v):
			return "", nil, fmt.Errorf("module %s is %w (%s)", name, errNotApproved, in.chain.shown(path))
		case v.exists():
			if err := in.judged(path); err != nil {
				return "", nil, fmt.Errorf("module %s: %w", name, err)
			}
			return path, v.code, v.err
		}
	}
	return "", nil, fmt.Errorf("module %s not found beside the hook (tried %s)", name, strings.Join(moduleFiles(name), ", "))
}

// judged says why a module cannot count: it is one of more than anybody can watch,
// and the hook does not name it in its text, so a tool could add it unseen.
func (in *instance) judged(path string) error {
	g := in.chain.guard
	dir := g.tooLarge(path)
	if dir == "" {
		return nil
	}
	if in.names(path) {
		return nil
	}
	return fmt.Errorf("%s has more than %d entries, too many to be watched: a module in it has to be named as a text, as in require \"x\"", in.chain.shown(dir), maxEntries)
}

// watched says why a module beside a hook that stands alone cannot count: nobody knew of
// it when tools began to run, so nobody knows whether one of them wrote it.
func (in *instance) watched(path string) error {
	if in.vm.Loading() || in.chain.guard.inHooks(path) || !isThere(path) || in.names(path) {
		return nil
	}
	return fmt.Errorf("%s stands outside of the folders of hooks, which are watched, and its name is computed: require it while the hook loads, or name it as a text, as in require \"x\"",
		in.chain.shown(path))
}

// names reports whether the text of the hook, or of a module it names, names a module.
func (in *instance) names(path string) bool {
	_, named := in.chain.guard.literal(in.hook.Path, Source{Path: in.hook.Path, Real: in.real}.dirs(), in.hook.Scope)
	return slices.Contains(named, path)
}

// inHooks reports whether a file lies in a folder of hooks.
func (g *Guard) inHooks(path string) bool {
	return slices.ContainsFunc(g.configs, func(config string) bool { return isBelow(path, filepath.Join(filepath.Dir(config), "hooks")) })
}

// moduleFiles are the files that a module may be, from where it is looked for.
func moduleFiles(name string) []string {
	rel := filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))
	return []string{rel + ".lua", filepath.Join(rel, "init.lua"), filepath.Join("lib", rel+".lua")}
}

// isBuiltinModule reports whether a name is one of the standard library's.
func isBuiltinModule(name string) bool { return name == "pi" || strings.HasPrefix(name, "pi.") }

func (in *instance) note(path, sum string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, ok := in.modules[path]; !ok {
		in.modules[path] = sum
	}
}

// modulesChanged reports whether a file that require looked at is another now.
func (in *instance) modulesChanged() bool {
	in.mu.Lock()
	modules := maps.Clone(in.modules)
	in.mu.Unlock()
	for path, sum := range modules {
		if in.chain.guard.read(path).sum != sum {
			return true
		}
	}
	return false
}

// files lists the hook's own file and those that require looked at.
func (in *instance) files() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append(slices.Collect(maps.Keys(in.modules)), in.real)
}
