package luahooks

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

var moduleName = regexp.MustCompile(`^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$`)

// require loads a module once per VM: pi.* from the standard library, everything
// else from beside the hook.
func (in *instance) require(L *lua.LState) int {
	name := L.CheckString(1)
	if !moduleName.MatchString(name) {
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
		luavm.Raise(L, "module %s requires itself", name)
	}
	L.Push(m.value)
	return 1
}

func (in *instance) loadModule(L *lua.LState, name string, m *module) error {
	if name == "pi" || strings.HasPrefix(name, "pi.") {
		open := stdlib.Module(name)
		if open == nil {
			return fmt.Errorf("module %s does not exist; there are %s", name, strings.Join(stdlib.Names(), ", "))
		}
		m.value, m.done = open(in.vm, L), true
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
	in.mu.Lock()
	in.modulePaths = append(in.modulePaths, path)
	in.mu.Unlock()
	L.Push(L.NewFunctionFromProto(proto))
	L.Push(lua.LString(name))
	defer func() {
		if !m.done {
			delete(in.requires, name) // it raised
		}
	}()
	L.Call(1, 1)
	m.value, m.done = L.Get(-1), true
	L.Pop(1)
	if m.value == lua.LNil {
		m.value = lua.LTrue
	}
	return nil
}

// findModule reads the file of a module: x.lua, x/init.lua or lib/x.lua beside
// the hook.
func (in *instance) findModule(name string) (string, []byte, error) {
	dir := filepath.Dir(in.hook.Path)
	rel := filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))
	tried := []string{rel + ".lua", filepath.Join(rel, "init.lua"), filepath.Join("lib", rel+".lua")}
	for _, t := range tried {
		path := filepath.Join(dir, t)
		code, err := readHook(path)
		if err == nil {
			return path, code, nil
		}
		if _, statErr := os.Stat(path); statErr == nil {
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("module %s not found beside the hook (tried %s)", name, strings.Join(tried, ", "))
}

// files lists what the instance was made of, for watching.
func (in *instance) files() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append([]string{in.hook.Real}, in.modulePaths...)
}
