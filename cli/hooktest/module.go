package hooktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pi/internal/safefile"
	"pi/luavm"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// functions are those of one subject of pi.test, by the names that Lua calls them by.
type functions map[string]any

// newModule makes pi.test.
func (f *file) newModule(L *lua.LState) lua.LValue {
	t := luavm.NewRecord(L, 40)
	for _, part := range []functions{f.ofFile(), f.ofPlace(), f.ofWork(), f.ofChange(), f.ofPerson(), f.ofPast(), f.ofChecks()} {
		for name, fn := range part {
			luavm.Set(t, name, f.vm.Func("t."+name, fn))
		}
	}
	luavm.Set(t, "clock", f.newClock(L))
	return f.vm.StrictTable("pi.test", t)
}

// ofFile are the functions that make a test file.
func (f *file) ofFile() functions {
	return functions{"case": func(L *lua.LState, name string, body *lua.LFunction) {
		if f.scene != nil {
			luavm.Raise(L, "t.case: a case has no cases in it")
		}
		f.cases = append(f.cases, testCase{name, f.line(L), body})
	}}
}

// line is the line of the test file that is being run; 0 if none is.
func (f *file) line(L *lua.LState) int {
	for level := 0; ; level++ {
		frame, ok := L.GetStack(level)
		if !ok {
			return 0
		}
		if _, err := L.GetInfo("Sl", frame, nil); err == nil && frame.Source == f.shown {
			return frame.CurrentLine
		}
	}
}

// current is the case that runs. Outside of one it raises.
func (f *file) current(L *lua.LState, function string) *scene {
	if f.scene == nil {
		luavm.Raise(L, "t.%s: only inside of a case", function)
	}
	return f.scene
}

// setUp is current for what has to be said before the run is open.
func (f *file) setUp(L *lua.LState, function string) *scene {
	s := f.current(L, function)
	if s.stage.run != nil {
		luavm.Raise(L, "t.%s: the run has begun; say it before the first prompt or command", function)
	}
	return s
}

// ofPlace are the functions that say what there is before the run.
func (f *file) ofPlace() functions {
	return functions{
		"hook": func(L *lua.LState, path string) {
			f.setUp(L, "hook")
			if err := f.wait(L, "hook", func(_ context.Context, s *scene) error { return s.stage.hooks.add(f.absolute(path)) }); err != nil {
				luavm.Raise(L, "t.hook: %v", err)
			}
		},
		"config": func(L *lua.LState, settings *lua.LTable) {
			s := f.setUp(L, "config")
			values, err := plainTable(L, settings)
			if err != nil {
				luavm.Raise(L, "t.config: %v", err)
			}
			s.stage.settings.set(values)
		},
		"flags": func(L *lua.LState, flags *lua.LTable) { f.setFlags(L, f.setUp(L, "flags"), flags) },
		"env": func(L *lua.LState, variables map[string]string) {
			s := f.setUp(L, "env")
			for name, value := range variables {
				s.stage.env[name] = value
			}
		},
		"approve": func(L *lua.LState) { f.setUp(L, "approve").stage.approved = true },
		"file":    f.writeFile,
		"read":    f.readFile,
		"dir":     func(L *lua.LState) string { return f.current(L, "dir").stage.project },
		"model": func(L *lua.LState, steps *lua.LTable) {
			s := f.current(L, "model")
			for i := 1; i <= steps.Len(); i++ {
				s.stage.script.add(readStep(L, f.records, steps.RawGetInt(i), "t.model"))
			}
		},
		"answers": func(L *lua.LState, answers lua.LValue) { f.setAnswers(L, f.current(L, "answers"), answers) },
	}
}

// absolute is the path of a file beside the test file.
func (f *file) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

// setFlags sets flags of hooks as the command line would.
func (f *file) setFlags(L *lua.LState, s *scene, flags *lua.LTable) {
	for k, v := flags.Next(lua.LNil); k != lua.LNil; k, v = flags.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			luavm.Raise(L, "t.flags: %s is no name of a flag", k)
		}
		s.stage.flags.Values[string(name)] = v.String()
		s.stage.flags.Bare[string(name)] = v == lua.LTrue
	}
}

func (f *file) writeFile(L *lua.LState, path, text string) {
	at, err := f.current(L, "file").stage.inProject(path)
	if err == nil {
		err = f.wait(L, "file", func(context.Context, *scene) error {
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			return os.WriteFile(at, []byte(text), 0o600)
		})
	}
	if err != nil {
		luavm.Raise(L, "t.file: %v", err)
	}
}

// mostRead is how large a file may be that a test reads.
const mostRead = 16 << 20

func (f *file) readFile(L *lua.LState, path string) (string, error) {
	at, err := f.current(L, "read").stage.inProject(path)
	if err != nil {
		luavm.Raise(L, "t.read: %v", err)
	}
	var text []byte
	err = f.wait(L, "read", func(context.Context, *scene) (err error) { text, err = safefile.Read(at, mostRead); return err })
	if errors.Is(err, safefile.ErrNotRegular) {
		return "", fmt.Errorf("%s is not a regular file of at most %d MiB", path, mostRead>>20)
	} else if err != nil {
		return "", fmt.Errorf("%s is not there", path)
	}
	return string(text), nil
}

// wait calls do while other jobs of the test may run: steps and answers that are functions.
// A fault that the case has by then raises.
func (f *file) wait(L *lua.LState, function string, do func(ctx context.Context, s *scene) error) error {
	s := f.current(L, function)
	var inner error
	err := f.vm.Wait(L, true, func(ctx context.Context) error {
		inner = do(ctx, s)
		return nil
	})
	if err != nil {
		luavm.Raise(L, "t.%s: %v", function, err)
	}
	if fault := s.fault(); fault != "" {
		luavm.Raise(L, "%s", fault)
	}
	return inner
}

// open opens the run of the case if it is not; a hook that does not load fails the case.
func (f *file) open(L *lua.LState, function string) *scene {
	var failed error
	_ = f.wait(L, function, func(ctx context.Context, s *scene) error {
		_, failed = s.stage.opened(ctx)
		return nil
	})
	if failed != nil {
		luavm.Raise(L, "t.%s: %v", function, failed)
	}
	return f.scene
}

// blocks reads what goes along with a prompt: paths, {path =} and {text =, name =}.
func (f *file) blocks(L *lua.LState, s *scene, list lua.LValue) (blocks []message.Block) {
	if list == lua.LNil {
		return nil
	}
	t, ok := list.(*lua.LTable)
	if !ok {
		luavm.Raise(L, "t.prompt: attachments are a list, not a %s", list.Type())
	}
	luavm.Materialise(L, t)
	for i := 1; i <= t.Len(); i++ {
		path, text, name := "", "", ""
		switch v := t.RawGetInt(i).(type) {
		case lua.LString:
			path = string(v)
		case *lua.LTable:
			luavm.UnpackTable(L, v, "t.prompt", luavm.Opt("path", &path), luavm.Opt("text", &text), luavm.Opt("name", &name))
		default:
			luavm.Raise(L, "t.prompt: attachment %d must be a path or a table, not a %s", i, v.Type())
		}
		if path == "" {
			blocks = append(blocks, message.NamedText(name, text))
			continue
		}
		found := s.stage.attached(path)
		if len(found.Problems) > 0 {
			luavm.Raise(L, "t.prompt: %s", strings.Join(found.Problems, "; "))
		}
		if len(found.Blocks()) == 0 {
			luavm.Raise(L, "t.prompt: attachment %d: %s is not there", i, path)
		}
		blocks = append(blocks, found.Blocks()...)
	}
	return blocks
}
