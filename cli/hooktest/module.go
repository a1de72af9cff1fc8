package hooktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"pi/agent"
	"pi/internal/safefile"
	"pi/luahooks/record"
	"pi/luavm"
	"pi/session/message"
)

// functions are those of one subject of pi.test, by the names that Lua calls them by.
type functions map[string]any

// newModule makes pi.test.
func (f *file) newModule(L *lua.LState) lua.LValue {
	t := luavm.NewRecord(L, 48)
	for _, part := range []functions{f.setUps(), f.deeds(), f.servers(), f.agents(), f.web(), f.history(), f.onDesk(), f.drawings(), f.checks()} {
		for name, fn := range part {
			luavm.Set(t, name, f.vm.Func("t."+name, fn))
		}
	}
	luavm.Set(t, "clock", f.newClock(L))
	return f.vm.StrictTable("pi.test", t)
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

// setUps are the functions that make a case, and say what there is before its run.
func (f *file) setUps() functions {
	return functions{
		"case": func(L *lua.LState, name string, body *lua.LFunction) {
			if f.scene != nil {
				luavm.Raise(L, "t.case: a case has no cases in it")
			}
			f.cases = append(f.cases, testCase{name, f.line(L), body})
		},
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
			merge(s.stage.settings, values)
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

// writeFile is t.file(path, text, {mode?}).
func (f *file) writeFile(L *lua.LState, path, text string, opts lua.LValue) {
	mode := "600"
	if opts != lua.LNil {
		luavm.UnpackTable(L, L.CheckTable(3), "t.file", luavm.Opt("mode", &mode))
	}
	rights, invalid := strconv.ParseUint(mode, 8, 9)
	if invalid != nil {
		luavm.Raise(L, "t.file: mode is a text such as \"755\", not %q", mode)
	}
	at, err := f.current(L, "file").stage.inProject("file", path)
	if err == nil {
		err = f.wait(L, "file", func(context.Context, *scene) error {
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				return err
			}
			return os.Chmod(at, os.FileMode(rights))
		})
	}
	if err != nil {
		luavm.Raise(L, "t.file: %v", err)
	}
}

// mostRead is how large a file may be that a test reads.
const mostRead = 16 << 20

func (f *file) readFile(L *lua.LState, path string) (string, error) {
	at, err := f.current(L, "read").stage.inProject("read", path)
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

// deeds are the functions that make something happen: as a user types it, or does otherwise, or in
// what is there while the run is open.
func (f *file) deeds() functions {
	return functions{
		"prompt": f.prompt, "command": f.command, "tool": f.tool,
		"key": f.key, "complete": f.complete, "shell": f.shell,
		"edit_hook": f.editHook, "reopen": f.reopen, "soon": f.soon,
	}
}

// prompt is t.prompt(text, attachments?) → the last answer, or nil and how the run failed.
// It returns when nothing is left to do.
func (f *file) prompt(L *lua.LState, text string, attachments lua.LValue) (*string, error) {
	s := f.open(L, "prompt")
	blocks := f.blocks(L, s, attachments)
	var answer *string
	err := f.wait(L, "prompt", func(ctx context.Context, s *scene) error {
		err := s.stage.submit(ctx, text, blocks)
		answer = s.stage.lastAnswer()
		return err
	})
	return answer, err
}

// lastAnswer is the text of the newest answer of the session; nil if there is none.
func (s *stage) lastAnswer() *string {
	for _, e := range slices.Backward(s.run.Session().Branch()) {
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant {
			text := m.Text()
			return &text
		}
	}
	return nil
}

// command is t.command("/name args") → what it showed, or nil and how it failed.
func (f *file) command(L *lua.LState, line string) (string, error) {
	if !strings.HasPrefix(line, "/") {
		luavm.Raise(L, "t.command: a command begins with /, and %q does not; t.prompt sends a text", line)
	}
	s := f.open(L, "command")
	before := len(s.stage.witness.shown())
	err := f.wait(L, "command", func(ctx context.Context, s *scene) error { return s.stage.submit(ctx, line, nil) })
	return strings.Join(s.stage.witness.shown()[before:], "\n"), err
}

// tool is t.tool(name, input?) → {text, content, details, is_error}: a call that passes the
// gates, without a model.
func (f *file) tool(L *lua.LState, name string, input lua.LValue) lua.LValue {
	f.open(L, "tool")
	arguments := arguments(L, f.records, name, input)
	var result agent.Result
	_ = f.wait(L, "tool", func(ctx context.Context, s *scene) error {
		result = s.stage.run.Agent().CallTool(ctx, name, arguments)
		return errors.Join(s.stage.finish(ctx), s.stage.run.Session().Flush()) // what a user has done stays
	})
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "text", lua.LString(textOf(result)))
	luavm.Set(t, "content", f.records.Blocks(L, result.Content))
	luavm.Set(t, "details", f.records.Details(name, result.Details))
	luavm.Set(t, "is_error", lua.LBool(result.IsError))
	return t
}

// editHook is t.edit_hook(path, text?): it saves a hook of the case, or a file beside one, with
// another text, and returns when that is live; without a text all load anew. A hook that does not load gives nil and why; the version before
// runs on, as ever.
func (f *file) editHook(L *lua.LState, path string, text *string) error {
	s := f.current(L, "edit_hook")
	var saved string
	err := f.wait(L, "edit_hook", func(context.Context, *scene) (err error) {
		saved, err = s.stage.hooks.edit(f.absolute(path), text)
		return err
	})
	if err != nil {
		luavm.Raise(L, "t.edit_hook: %v", err)
	}
	if s.stage.run == nil {
		return nil
	}
	return f.wait(L, "edit_hook", func(ctx context.Context, s *scene) error {
		chain := s.stage.run.Chain()
		chain.Reload(ctx, text == nil)
		for _, h := range chain.Hooks() {
			if strings.HasSuffix(saved, h.Path) && h.Rejected != "" {
				return errors.New(h.Rejected)
			}
		}
		return s.stage.finish(ctx)
	})
}

// reopen is t.reopen() → what was shown: it ends the program, and begins it again with the
// same session.
func (f *file) reopen(L *lua.LState) string {
	s := f.open(L, "reopen")
	before := len(s.stage.witness.shown())
	err := f.wait(L, "reopen", func(ctx context.Context, s *scene) error {
		if s.stage.isHeldUp(ctx) {
			return errors.New("the agent works, and waits for this function; call it behind t.prompt")
		}
		if err := s.stage.close(ctx); err != nil {
			return err
		}
		if _, err := s.stage.opened(ctx); err != nil {
			return err
		}
		return s.stage.finish(ctx)
	})
	if err != nil {
		luavm.Raise(L, "t.reopen: %v", err)
	}
	return strings.Join(s.stage.witness.shown()[before:], "\n")
}

// How long t.soon waits, and how often it looks.
const (
	soonTime  = 10 * time.Second
	soonPause = 5 * time.Millisecond
)

// soon is t.soon(fn, message?): it waits until fn() is true. It is for what happens outside
// of the run, such as a file that is noticed.
func (f *file) soon(L *lua.LState, fn *lua.LFunction, message *string) {
	s := f.open(L, "soon")
	for began := time.Now(); !lua.LVAsBool(call(L, fn)); {
		if time.Since(began) > soonTime {
			f.fails(L, "soon", Failure{Message: wording(message, "it did not become true within "+soonTime.String())})
		}
		_ = f.wait(L, "soon", func(ctx context.Context, s *scene) error {
			timer := time.NewTimer(soonPause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			if s.stage.run.Agent().IsIdle() {
				return s.stage.finish(ctx)
			}
			return nil
		})
		if s.ctx.Err() != nil {
			return
		}
	}
}

// newClock makes t.clock: {advance(ms), now()}.
func (f *file) newClock(L *lua.LState) lua.LValue {
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "advance", f.vm.Func("t.clock.advance", func(L *lua.LState, by time.Duration) {
		if by < 0 {
			luavm.Raise(L, "t.clock.advance: time does not go back")
		}
		f.open(L, "clock.advance")
		_ = f.wait(L, "clock.advance", func(ctx context.Context, s *scene) error {
			s.stage.clock.advance(ctx, by)
			if !s.stage.run.Agent().IsIdle() {
				return nil
			}
			return s.stage.finish(ctx)
		})
	}))
	luavm.Set(t, "now", f.vm.Func("t.clock.now", func(L *lua.LState) int64 { return f.current(L, "clock.now").stage.clock.Now().UnixMilli() }))
	return f.vm.StrictTable("t.clock", t)
}

// history are the functions that tell what happened, and what a user sees.
func (f *file) history() functions {
	return functions{
		"calls":  f.calls,
		"events": f.events,
		"requests": func(L *lua.LState) lua.LValue {
			seen := f.current(L, "requests").stage.script.seen()
			return luavm.NewList(L, len(seen), func(i int) lua.LValue { return f.requestTable(L, seen[i]) })
		},
		"entries": func(L *lua.LState) lua.LValue {
			return f.records.Entries(L, f.open(L, "entries").stage.run.Session().Branch())
		},
		"messages": func(L *lua.LState) lua.LValue {
			return f.records.Messages(L, f.open(L, "messages").stage.run.Agent().Seen())
		},
		"notices": func(L *lua.LState) lua.LValue {
			told := f.current(L, "notices").stage.witness.told()
			return luavm.NewList(L, len(told), func(i int) lua.LValue {
				t := luavm.NewRecord(L, 2)
				luavm.Set(t, "level", lua.LString(told[i].Level))
				luavm.Set(t, "text", lua.LString(told[i].Text))
				return t
			})
		},
		"status": func(L *lua.LState) lua.LValue {
			t := luavm.NewRecord(L, 4)
			for key, text := range f.current(L, "status").stage.witness.statuses() {
				luavm.Set(t, key, lua.LString(text))
			}
			return t
		},
		// view is t.view() → the newest component that a hook shows, or nil.
		"view": func(L *lua.LState) lua.LValue {
			if v := f.current(L, "view").stage.user.open(); v != nil {
				return f.viewTable(L, v)
			}
			return lua.LNil
		},
		// typed is t.typed() → the line being typed, which hooks can fill.
		"typed": func(L *lua.LState) string { return f.current(L, "typed").stage.user.EditorText() },
	}
}

// calls is t.calls(name?) → the calls of tools so far: {name, agent?, input, ran, is_error, text}.
func (f *file) calls(L *lua.LState, name *string) lua.LValue {
	of := ""
	if name != nil {
		of = *name
	}
	calls := f.current(L, "calls").stage.witness.called(of)
	return luavm.NewList(L, len(calls), func(i int) lua.LValue {
		c := calls[i]
		t := luavm.NewRecord(L, 5)
		luavm.Set(t, "name", lua.LString(c.name))
		luavm.SetText(t, "agent", c.agent)
		luavm.Set(t, "input", f.records.Input(c.name, c.input))
		luavm.Set(t, "ran", lua.LBool(c.ran))
		luavm.Set(t, "is_error", lua.LBool(c.isError))
		luavm.Set(t, "text", lua.LString(c.text))
		return t
	})
}

// requestTable is a request as the model saw it: {model, system, messages, tools, thinking,
// payload, headers, url}.
func (f *file) requestTable(L *lua.LState, r *sentRequest) lua.LValue {
	t, headers := luavm.NewRecord(L, 8), luavm.NewRecord(L, len(r.header))
	for name, values := range r.header {
		luavm.Set(headers, name, lua.LString(strings.Join(values, ", ")))
	}
	luavm.Set(t, "payload", f.records.JSON(r.payload))
	luavm.Set(t, "headers", headers)
	luavm.Set(t, "url", lua.LString(r.url))
	luavm.Set(t, "model", lua.LString(r.Model.Ref()))
	luavm.Set(t, "system", lua.LString(r.System))
	luavm.Set(t, "messages", f.records.Messages(L, record.ItemsOf(r.Messages)))
	luavm.Set(t, "thinking", lua.LString(r.Thinking))
	luavm.Set(t, "tools", luavm.NewList(L, len(r.Tools), func(i int) lua.LValue { return lua.LString(r.Tools[i].Name) }))
	return t
}
