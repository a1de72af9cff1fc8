package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"pi/internal/child"
	"pi/internal/filelock"
	"pi/internal/suggest"
	"pi/luahooks/record"
	"pi/luahooks/text"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// modules are what a hook requires.
type modules struct {
	*bridge
	env      *stdlib.Env
	required map[string]*module // by name; only while the VM is held

	mu     sync.Mutex           // guards what follows
	looked map[string]string    // files that were looked at, with the sum of their bytes
	texts  []*lua.FunctionProto // the hook's own file, and those of its modules
}

// FindModule finds the file of a module and returns the path that messages have for
// it, and its bytes. looked is called with each file that is looked at and the sum of
// its bytes: one that appears there, or changes, counts for the hook.
type FindModule func(name string, loading bool, looked func(path, sum string)) (shown string, code []byte, err error)

// module is a file or a built-in that a hook required.
type module struct {
	value lua.LValue
	done  bool
}

// require loads a module once per VM: pi.* from the standard library, everything
// else from the folder of the hook.
func (m *modules) require(L *lua.LState) int {
	name := L.CheckString(1)
	if !trust.IsModuleName(name) {
		luavm.Raise(L, "%s", text.NoModuleName(name))
	}
	one := m.required[name]
	if one == nil {
		one = &module{}
		m.required[name] = one
		if err := m.load(L, name, one); err != nil {
			delete(m.required, name)
			luavm.Raise(L, "%v", err)
		}
	}
	if !one.done {
		luavm.Raise(L, "module %s is required while it loads", name)
	}
	L.Push(one.value)
	return 1
}

// load puts the value of a module into one: of a built-in, or what its file returns; true if
// that returns nothing. If the file raises, the module is as if nobody had required it.
func (m *modules) load(L *lua.LState, name string, one *module) error {
	if trust.IsBuiltinModule(name) {
		open := stdlib.Module(name)
		if name == "pi.test" {
			return errors.New("module pi.test is for the files that pi test runs, and not for hooks: what tests NAME.lua is NAME_test.lua")
		}
		if open == nil {
			if strings.HasPrefix(name, "pi.compat.") {
				return fmt.Errorf("module %s does not exist; there are %s", name, strings.Join(compat.Names(), ", "))
			}
			if meant := text.Required(name); meant != "" {
				return fmt.Errorf("module %s does not exist%s", name, meant)
			}
			if hint := suggest.Hint(name, stdlib.Names()); hint != "" {
				return fmt.Errorf("module %s does not exist%s", name, hint)
			}
			return fmt.Errorf("module %s does not exist; there are %s", name, strings.Join(stdlib.Names(), ", "))
		}
		one.value, one.done = open(m.vm, L, m.env), true
		if t, ok := one.value.(*lua.LTable); ok {
			if m.confine(m.vm, L, name, t); t.Metatable == lua.LNil {
				m.vm.StrictTable(name, t)
			}
		}
		return nil
	}
	shown, code, err := m.FindModule(name, m.vm.Loading(), m.note)
	if err != nil {
		return fmt.Errorf("%w%s", err, text.Required(name))
	}
	proto, err := m.Code.Compile(shown, code)
	if err != nil {
		return err
	}
	m.noteText(proto)
	defer func() {
		if !one.done {
			delete(m.required, name) // it raised
		}
	}()
	one.value, one.done = callLua(L, m.vm.NewChunk(L, proto), lua.LString(name)), true
	if one.value == lua.LNil {
		one.value = lua.LTrue
	}
	return nil
}

// note records the sum of a file's bytes, unless one is recorded from an earlier look.
func (m *modules) note(path, sum string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.looked[path]; !ok {
		m.looked[path] = sum
	}
}

// noteText remembers a file that belongs to the hook.
func (m *modules) noteText(file *lua.FunctionProto) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts = append(m.texts, file)
}

// hasText reports whether a text stands as a string in a file of the hook.
func (m *modules) hasText(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.texts, func(file *lua.FunctionProto) bool { return luavm.HasText(file, text) })
}

// files returns the files that require looked at, also those that were not there, with the
// sum of their bytes at the first look.
func (m *modules) files() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.looked)
}

// newEnv returns what the standard library may use of the program around the VM.
func newEnv(p *programs, s *servers, a *agents) *stdlib.Env {
	env := &stdlib.Env{
		Cwd:     p.Cwd,
		Getenv:  p.Getenv,
		Clock:   p.Clock,
		Reach:   p.Reach,
		Loading: p.vm.Loading,
		Spawn:   p.Spawn,
		Call:    p.jobs.callBack,
		Nested: func(ctx context.Context, name string, fn *lua.LFunction, args func(L *lua.LState) []lua.LValue) (bool, error) {
			answer, err := p.jobs.nested(ctx, name, fn, args)
			return answer == child.Enough, err
		},
		Inside: p.jobs.inside,
		Until: func(L *lua.LState, function string, v lua.LValue) stdlib.Within {
			return signalOption(L, function, v).within
		},
		Locks:   cmp.Or(p.Locks, filelock.New("")),
		Outside: asOutside,
		Follow:  func(again bool) func(context.Context) context.Context { return asFollowing(p.vm.Context(), again) },
		Exec: func(ctx context.Context, c stdlib.Command) (string, string, int, error) {
			r, err := p.run(ctx, child.Call{Command: p.command(c.Name, c.Args, c.Cwd, c.Env), Timeout: execTime, Max: execBytes})
			return r.Stdout, r.Stderr, r.Code, err
		},
		Complete: asking{models{p.bridge}, "complete"}.complete,
		Stream:   asking{models{p.bridge}, "stream"}.complete,
		Servers:  s.functions(),
		Agents:   a.functions(),
		Restyle:  restyle(p.records),
		Compat:   p.Compat,
	}
	if p.InChild() { // what comes in there is of its hook
		env.Unheard = errInChild
		env.Outside = func(ctx context.Context, _ string) context.Context { return asOwn(ctx) }
	}
	return env
}

// restyle returns the function that gives messages and entries to hooks which were written for
// another program, as these have them. What it needs is made when the first one asks.
func restyle(records *record.Converter) func(L *lua.LState, v lua.LValue, branch bool) lua.LValue {
	var styled *record.Converter
	return func(L *lua.LState, v lua.LValue, branch bool) lua.LValue {
		if styled == nil {
			styled = records.In(record.Style{PlainText: true, Wrapped: true})
		}
		return styled.Restyle(L, v, branch)
	}
}

// Resources are folders with skills, templates and agents that a hook brings, absolute; "" for none.
type Resources struct{ Skills, Prompts, Agents string }

// resources are those of a hook.
type resources struct{ *bridge }

func (r *resources) part() part { return part{"resources": r.register} }

func (Resources) id() string { return "" }

// register is pi.resources{skills?, prompts?, agents?} → true, or nil and a message: the names of
// folders beside the hook. A later call takes the place of an earlier one.
func (r *resources) register(L *lua.LState) int {
	var n Resources
	luavm.Unpack(L, 1, "resources", luavm.Opt("skills", &n.Skills), luavm.Opt("prompts", &n.Prompts), luavm.Opt("agents", &n.Agents))
	if n == (Resources{}) {
		luavm.Raise(L, "resources: \"skills\", \"prompts\" or \"agents\" must name a folder beside the hook")
	}
	for option, path := range map[string]*string{"skills": &n.Skills, "prompts": &n.Prompts, "agents": &n.Agents} {
		if *path == "" {
			continue
		}
		if !filepath.IsLocal(*path) {
			luavm.Raise(L, "resources: option %q must be the name of a folder beside the hook, not %q", option, *path)
		}
		*path = filepath.Join(filepath.Dir(r.Hook.Path), *path)
		if info, err := os.Stat(*path); err != nil || !info.IsDir() {
			return pushResult(L, nil, fmt.Errorf("%s: %s is no folder", option, *path))
		}
		if !r.isInside(*path) {
			return pushResult(L, nil, fmt.Errorf("%s: %s leads out of the folder of the hook", option, *path))
		}
	}
	if n.Agents != "" && (r.Hook.Scope == string(trust.ScopeProject) || r.isOfAnother()) {
		return pushResult(L, nil, errors.New("agents: those of a project are files of its .pi/agents, which an approval covers"))
	}
	r.registered.Resources.put(n)
	L.Push(lua.LTrue)
	return 1
}

// isOfAnother reports whether the hook belongs to a project, which the user named one by one.
func (r *resources) isOfAnother() bool {
	_, _, ok := trust.ProjectOf(r.Hook.Path, r.Paths.Agent)
	return ok
}

// isInside reports whether a path, behind all links, is in the folder of the hook.
func (r *resources) isInside(path string) bool {
	home, err := filepath.EvalSymlinks(filepath.Dir(r.Hook.Path))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(home, real)
	return err == nil && filepath.IsLocal(rel)
}
