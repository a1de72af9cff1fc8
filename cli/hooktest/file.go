package hooktest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"pi/internal/process"
	"pi/internal/safefile"
	"pi/luahooks/record"
	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// How long Lua of a test may run, without what it waits for, and how long a case may take.
const (
	luaTime  = 1500 * time.Millisecond
	caseTime = time.Minute
)

// testCase is a case as t.case registered it.
type testCase struct {
	name string
	line int
	body *lua.LFunction
}

// file is a test file in its VM.
type file struct {
	path    string                               // absolute
	shown   string                               // in messages
	mayRun  func(path string, code []byte) error // see Options; never nil
	watcher *process.Watcher                     // likewise; it may be nil
	vm      *luavm.VM
	records *record.Converter
	modules map[string]lua.LValue
	env     *stdlib.Env // of the modules that the test requires; those of a case have its folder
	ctx     context.Context
	stop    context.CancelFunc

	cases []testCase
	scene *scene // of the case that runs; nil between cases
}

// openFile runs the code of a test file, which registers its cases.
func openFile(ctx context.Context, path, shown string, o Options) (*file, error) {
	f := &file{path: path, shown: shown, mayRun: o.MayRun, watcher: o.Watcher, modules: map[string]lua.LValue{}}
	if f.mayRun == nil {
		f.mayRun = func(string, []byte) error { return nil }
	}
	print := func(line string) {
		if o.Print != nil {
			o.Print(shown, line)
		}
	}
	f.ctx, f.stop = context.WithCancel(ctx)
	f.vm = luavm.New(luavm.Options{Print: print, StrictGlobals: true, Now: testClock{f}.Now})
	f.records = record.NewConverter(f.vm, new(record.ValidJSON))
	f.env = f.newEnv()
	code, err := f.readLua(path)
	if err == nil {
		var proto *lua.FunctionProto
		if proto, err = luavm.Compile(shown, code); err == nil {
			f.vm.SetRequire(f.require)
			err = f.vm.Run(ctx, luavm.Job{Name: "load", Loading: true, Timeout: luaTime, Run: func(L *lua.LState) error {
				L.Push(L.NewFunctionFromProto(proto))
				L.Call(0, 0)
				return nil
			}})
		}
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// readLua reads a file of Lua that may run. A pipe, or a file without an end, is none.
func (f *file) readLua(path string) ([]byte, error) {
	code, err := readMost(path, trust.MaxHook)
	if err == nil {
		err = f.mayRun(path, code)
	}
	return code, err
}

// readMost reads a file of at most so many bytes.
func readMost(path string, most int64) ([]byte, error) {
	data, err := safefile.Read(path, most)
	if errors.Is(err, safefile.ErrNotRegular) {
		err = fmt.Errorf("read %s: not a regular file of at most %d KiB", path, most>>10)
	}
	return data, err
}

func (f *file) close() {
	f.stop()
	f.vm.Close()
}

// runCase runs one case on a stage of its own and returns why it failed; none if it passed.
func (f *file) runCase(c testCase) (failures []Failure) {
	ctx, cancel := context.WithTimeoutCause(f.ctx, caseTime, fmt.Errorf("the case did not end within %v", caseTime))
	defer cancel()
	st, err := newStage(f.readLua, f.mayRun)
	if err != nil {
		return []Failure{{File: f.shown, Line: c.line, Message: err.Error()}}
	}
	sc := &scene{file: f, stage: st, ctx: ctx}
	st.watcher, st.life = f.watcher, ctx
	st.script.answer, st.script.lacking = sc.stepOf, sc.note
	st.servers.result, st.servers.broken = sc.serverResult, sc.note
	st.user.lacking, st.user.failed = sc.note, sc.fault
	st.agents.answer, st.agents.lacking = sc.agentResult, sc.note
	f.scene, f.env.Cwd = sc, st.project
	defer func() { f.scene = nil }()
	err = f.vm.Run(ctx, luavm.Job{Name: c.name, Timeout: luaTime, Clock: luavm.CountedLua, Run: func(L *lua.LState) error {
		L.Push(c.body)
		L.Push(f.modules["pi.test"])
		L.Call(1, 0)
		if len(st.hooks.paths) > 0 && !st.began {
			f.open(L, "hook") // that a hook loads is a test, too
		}
		return nil
	}})
	failures = sc.failures(c, err)
	if err := st.remove(context.WithoutCancel(ctx)); err != nil && len(failures) == 0 {
		failures = append(failures, Failure{File: f.shown, Line: c.line, Message: "the end of the run: " + err.Error()})
	}
	return failures
}

// placeOf splits "file:line" of a Lua error.
var placeOf = regexp.MustCompile(`^(.*):(\d+)$`)

// failureOf is how an error of Lua is reported: at its line if that is of the test file,
// else at the line that has called.
func (f *file) failureOf(c testCase, err error) Failure {
	fail := Failure{File: f.shown, Line: c.line, Message: err.Error()}
	var e *luavm.Error
	if !errors.As(err, &e) {
		return fail
	}
	fail.Message = e.Message
	if m := placeOf.FindStringSubmatch(e.Where); m != nil {
		if m[1] == f.shown {
			fail.Line = atoi(m[2])
		} else {
			fail.Message = e.Where + ": " + e.Message
		}
	}
	return fail
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// require gives a test pi.test, the modules that hooks have, and files beside the test.
func (f *file) require(L *lua.LState) int {
	name := L.CheckString(1)
	if f.modules[name] == nil {
		value, err := f.load(L, name)
		if err != nil {
			luavm.Raise(L, "%v", err)
		}
		f.modules[name] = value
	}
	L.Push(f.modules[name])
	return 1
}

func (f *file) load(L *lua.LState, name string) (lua.LValue, error) {
	if name == "pi.test" {
		return f.newModule(L), nil
	}
	if open := stdlib.Module(name); open != nil {
		value := open(f.vm, L, f.env)
		if t, ok := value.(*lua.LTable); ok && t.Metatable == lua.LNil {
			f.vm.StrictTable(name, t)
		}
		return value, nil
	}
	if strings.HasPrefix(name, "pi.") {
		return nil, fmt.Errorf("module %s does not exist; there are pi.test, %s", name, strings.Join(stdlib.Names(), ", "))
	}
	path := filepath.Join(filepath.Dir(f.path), filepath.FromSlash(strings.ReplaceAll(name, ".", "/"))+".lua")
	code, err := f.readLua(path)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	proto, err := luavm.Compile(filepath.Base(path), code)
	if err != nil {
		return nil, err
	}
	L.Push(L.NewFunctionFromProto(proto))
	L.Push(lua.LString(name))
	L.Call(1, 1)
	value := L.Get(-1)
	L.Pop(1)
	if value == lua.LNil {
		value = lua.LTrue
	}
	return value, nil
}
