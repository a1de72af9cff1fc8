package stdlib

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/internal/filelock"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
	"go.uber.org/goleak"
)

//go:embed spec
var specs embed.FS

// The specs of modules are Lua files. Each is given t, with
//
//	t.equal(got, want)        lists and records are compared as JSON
//	t.fails(text, nil, err)   what returns nil and a message that has text in it
//	t.raises(fn, text)        fn raises at its own line, which is that of t.raises
//	t.dir                     an empty directory, which is the working directory
//	t.run(program, …)         runs a program there
//	t.soon(fn)                waits until fn() is true
//
// and must show of each function of its module that it works, that it fails
// where it can, and that misuse raises.

// cannotFail are the functions that have no ordinary failure.
func cannotFail() []string {
	return []string{
		"base64.encode", "base64.url_encode",
		"fs.exists", "hash.sha256", "hash.sha512", "hash.sha1", "hash.md5", "hash.hmac_sha256", "hash.hex", "hash.random", "http.encode",
		"json.encode", "json.list", "mcp.servers", "path.join", "path.dir", "path.base", "path.clean", "path.is_abs", "path.ext", "path.stem", "path.abs", "path.split", "path.match", "path.rel",
		"re.match", "re.find_all", "re.test", "re.replace", "re.split", "re.escape",
		"schema.string", "schema.number", "schema.integer", "schema.boolean", "schema.null", "schema.any", "schema.object", "schema.array", "schema.map", "schema.optional",
		"schema.enum", "schema.const", "schema.any_of", "schema.check", // whose second result is a list
		"sh.quote", "text.truncate", "text.width", "text.fit", "text.wrap", "text.redact", "text.of", "text.front_matter",
		"time.now", "time.since", "time.duration", "timer.sleep", "timer.after", "timer.every",
	}
}

// rig is a VM with an Env around it as the program has.
type rig struct {
	t       *testing.T
	vm      *luavm.VM
	env     *Env
	spawned sync.WaitGroup

	mu     sync.Mutex
	faults []string // of callbacks
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	r := &rig{t: t, vm: luavm.New(luavm.Options{})}
	life, end := context.WithCancel(context.Background())
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		end()
		r.spawned.Wait()
		r.vm.Close()
		goleak.VerifyNone(t, before)
	})
	r.env = &Env{
		Cwd: dir, Loading: r.vm.Loading,
		Spawn: func(f func(context.Context)) bool {
			if life.Err() != nil {
				return false
			}
			r.spawned.Go(func() { f(life) })
			return true
		},
		Call: func(ctx context.Context, name string, f func(*lua.LState) error) error {
			err := r.vm.Run(ctx, luavm.Job{Name: name, Run: f})
			if err != nil && ctx.Err() == nil {
				r.mu.Lock()
				r.faults = append(r.faults, name+": "+err.Error())
				r.mu.Unlock()
			}
			return err
		},
		Nested: func(ctx context.Context, name string, fn *lua.LFunction, args func(*lua.LState) []lua.LValue) (enough bool, err error) {
			err = r.vm.Run(ctx, luavm.Job{Name: name, Run: func(L *lua.LState) error {
				L.Push(fn)
				given := args(L)
				for _, v := range given {
					L.Push(v)
				}
				L.Call(len(given), 1)
				enough = L.Get(-1) == lua.LTrue
				return nil
			}})
			if err != nil {
				err = luavm.Misusef("%s: %v", name, err)
			}
			return enough, err
		},
		Inside: func(ctx context.Context, name string, fn *lua.LFunction) (values []lua.LValue, err error) {
			return values, r.vm.Run(ctx, luavm.Job{Name: name, Run: func(L *lua.LState) error {
				L.Push(fn)
				L.Call(0, lua.MultRet)
				for i := 1; i <= L.GetTop(); i++ {
					values = append(values, L.Get(i))
				}
				return nil
			}})
		},
		Locks:    filelock.New(filepath.Join(t.TempDir(), "locks")),
		Exec:     execute,
		Complete: completeNothing,
		Stream:   completeNothing,
		Servers: map[string]lua.LGFunction{
			"servers": r.vm.Func("mcp.servers", func(L *lua.LState) *lua.LTable { return list(L, 0, nil) }).GFunction,
			"connect": func(L *lua.LState) int { return serverNamed(L, L.CheckTable(1).RawGetString("name")) },
			"add":     func(L *lua.LState) int { L.CheckTable(2); return serverNamed(L, L.Get(1)) },
		},
		Agents:  map[string]lua.LGFunction{"run": errandOf, "start": errandOf},
		Outside: func(ctx context.Context, _ string) context.Context { return ctx },
		Follow: func(bool) func(context.Context) context.Context {
			return func(ctx context.Context) context.Context { return ctx }
		},
	}
	return r
}

func execute(ctx context.Context, c Command) (string, string, int, error) {
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = c.Cwd, &stdout, &stderr, os.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return "", "", 0, err
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), nil
}

// serverNamed pushes the name of a server, unless it is taken.
func serverNamed(L *lua.LState, name lua.LValue) int {
	if name == lua.LString("taken") {
		L.Push(lua.LNil)
		L.Push(lua.LString("there is one already"))
		return 2
	}
	L.Push(name)
	return 1
}

// errandOf pushes what an agent is asked, unless that is nothing that it does.
func errandOf(L *lua.LState) int {
	prompt := L.CheckTable(1).RawGetString("prompt")
	if prompt == lua.LString("too deep") {
		L.Push(lua.LNil)
		L.Push(prompt)
		return 2
	}
	L.Push(prompt)
	return 1
}

// completeNothing answers with what it was asked, or not at all.
func completeNothing(L *lua.LState) int {
	if model, ok := L.Get(1).(lua.LString); !ok {
		luavm.RaiseArg(L, 1, "llm.complete", "model expected")
	} else if model == "offline" {
		L.Push(lua.LNil)
		L.Push(lua.LString("no connection"))
		return 2
	}
	L.Push(L.Get(2))
	return 1
}

// run runs Lua code as a job. Modules are those of the program; require gives
// them.
func (r *rig) run(name, code string, loading bool, global map[string]lua.LValue) error {
	r.t.Helper()
	proto, err := luavm.Compile(name, []byte(code))
	if err != nil {
		r.t.Fatal(err)
	}
	open := map[string]lua.LValue{}
	r.vm.SetRequire(func(L *lua.LState) int {
		module := L.CheckString(1)
		if open[module] == nil {
			open[module] = Module(module)(r.vm, L, r.env)
		}
		L.Push(open[module])
		return 1
	})
	for name, v := range global {
		r.vm.SetGlobal(name, v)
	}
	return r.vm.Run(context.Background(), luavm.Job{Name: name, Loading: loading, Timeout: time.Minute, Run: func(L *lua.LState) error {
		L.Push(L.NewFunctionFromProto(proto))
		L.Call(0, 0)
		return nil
	}})
}

const helpers = `
local json = require "pi.json"
local function text(v)
  if type(v) == "table" then return json.encode(v) end
  return type(v) .. " " .. tostring(v)
end
function t.equal(got, want)
  if text(got) ~= text(want) then error("got " .. text(got) .. ", want " .. text(want), 2) end
end
function t.fails(want, got, err)
  if got ~= nil or type(err) ~= "string" or not err:find(want, 1, true) then
    error("got " .. tostring(got) .. ", " .. tostring(err) .. "; want nil, " .. want, 2)
  end
end
function t.raises(fn, want)
  local here = t.place(2)
  local ok, err = pcall(fn)
  if ok or not tostring(err):find(want, 1, true) then error("got " .. tostring(err) .. "; want " .. want, 2) end
  if tostring(err):sub(1, #here + 2) ~= here .. ": " then error("raised at " .. err .. ", not at " .. here, 2) end
end
function t.soon(fn)
  local timer = require "pi.timer"
  while not fn() do timer.sleep(1) end
end
`

// place is the line of the Lua function at a level.
func place(L *lua.LState) int {
	dbg, ok := L.GetStack(L.CheckInt(1))
	if !ok {
		L.RaiseError("no such level")
	}
	_, _ = L.GetInfo("Sl", dbg, nil)
	L.Push(lua.LString(fmt.Sprintf("%s:%d", dbg.Source, dbg.CurrentLine)))
	return 1
}

func (r *rig) helpers() *lua.LTable {
	L := r.vm.State()
	t := L.NewTable()
	t.RawSetString("place", L.NewFunction(place))
	t.RawSetString("dir", lua.LString(r.env.Cwd))
	t.RawSetString("run", r.vm.Func("run", func(L *lua.LState, program string, args ...string) error {
		_, stderr, code, err := execute(context.Background(), Command{Cwd: r.env.Cwd, Name: program, Args: args})
		if err == nil && code != 0 {
			err = errors.New(stderr)
		}
		return err
	}))
	return t
}

// outcomes are what the functions of a module were seen to do.
type outcomes map[string]map[string]bool

// observe makes the functions of a module tell what comes of each call.
func (o outcomes) observe(module string, table *lua.LTable) {
	table.ForEach(func(k, v lua.LValue) {
		fn, ok := v.(*lua.LFunction)
		if !ok {
			return
		}
		seen, call := map[string]bool{}, fn.GFunction
		o[module+"."+k.String()] = seen
		fn.GFunction = func(L *lua.LState) int {
			outcome := "raised"
			defer func() { seen[outcome] = true }()
			n := call(L)
			outcome = "worked"
			if n == 2 && L.Get(-2) == lua.LNil && L.Get(-1).Type() == lua.LTString {
				outcome = "failed"
			}
			return n
		}
	})
}

func TestEveryFunctionOfEveryModule(t *testing.T) {
	for full, open := range modules() {
		module := strings.TrimPrefix(full, "pi.")
		t.Run(module, func(t *testing.T) {
			file := module + "_spec.lua"
			code, err := specs.ReadFile("spec/" + file)
			if err != nil {
				t.Fatal("the module has no spec")
			}
			r := newRig(t)
			seen := outcomes{}
			global := map[string]lua.LValue{"t": r.helpers()}
			if err := r.run("helpers", helpers, false, global); err != nil {
				t.Fatal(err)
			}
			err = r.vm.Run(context.Background(), luavm.Job{Run: func(L *lua.LState) error {
				global["observed"] = open(r.vm, L, r.env)
				luavm.Materialise(L, global["observed"].(*lua.LTable))
				seen.observe(module, global["observed"].(*lua.LTable))
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.run(file, "local "+module+" = observed; "+string(code), false, global); err != nil {
				t.Error(err)
			}
			for name, outcome := range seen {
				for _, want := range []string{"worked", "failed", "raised"} {
					if !outcome[want] && (want != "failed" || !slices.Contains(cannotFail(), name)) {
						t.Errorf("%s was not seen to have %s", name, want)
					}
				}
				if outcome["failed"] && slices.Contains(cannotFail(), name) {
					t.Errorf("%s can fail", name)
				}
			}
		})
	}
}

func TestSpecsAreOfModules(t *testing.T) {
	entries, err := specs.ReadDir("spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_spec.lua") {
			continue // what runs them in a hook
		}
		if Module("pi."+strings.TrimSuffix(e.Name(), "_spec.lua")) == nil {
			t.Errorf("%s is of no module", e.Name())
		}
	}
}

// While the hook loads what computes or looks works, and what acts raises before it looks
// at its arguments.
func TestNothingActsWhileTheHookLoads(t *testing.T) {
	acting := []string{"agent", "fs", "git", "http", "llm", "mcp", "timer"}
	r := newRig(t)
	for full, open := range modules() {
		module := strings.TrimPrefix(full, "pi.")
		var functions []string
		_ = r.vm.Run(context.Background(), luavm.Job{Run: func(L *lua.LState) error {
			table := open(r.vm, L, r.env).(*lua.LTable)
			luavm.Materialise(L, table)
			table.ForEach(func(k, v lua.LValue) {
				if v.Type() == lua.LTFunction {
					functions = append(functions, k.String())
				}
			})
			return nil
		}})
		for _, f := range functions {
			err := r.run("load.lua", fmt.Sprintf("\nrequire(%q)[%q]()", full, f), true, nil)
			const refused = "load.lua:2: %s.%s: not available while the hook loads; use session_start"
			got := err != nil && err.Error() == fmt.Sprintf(refused, module, f)
			looks := []string{"http.encode", "http.resolve", "fs.read", "fs.exists", "fs.stat", "fs.list", "fs.glob", "fs.real"}
			if got != (slices.Contains(acting, module) && !slices.Contains(looks, module+"."+f)) {
				t.Errorf("%s.%s while loading: %v", module, f, err)
			}
		}
	}
	if entries, _ := os.ReadDir(r.env.Cwd); len(entries) > 0 {
		t.Errorf("something was written: %v", entries)
	}
}

func TestFilesAreReadWhileTheHookLoads(t *testing.T) {
	r := newRig(t)
	if err := os.WriteFile(filepath.Join(r.env.Cwd, "rules.txt"), []byte("no rm"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := r.run("load.lua", `
		local fs = require "pi.fs"
		assert(fs.read("rules.txt") == "no rm" and fs.exists("rules.txt") and fs.stat("rules.txt").size == 5)
		assert(fs.list()[1].name == "rules.txt" and fs.glob("*.txt")[1] == "rules.txt")
		assert(fs.real("rules.txt") == fs.real(".") .. "/rules.txt")
		local text, message = fs.read("none")
		assert(text == nil and message:find("no such file"))`, true, nil)
	if err != nil {
		t.Error(err)
	}
}
