package hooktest

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/luavm"
	"pi/repl/terminal/keymap"

	lua "github.com/yuin/gopher-lua"
)

// The window that a component is drawn in, unless the test names another.
const (
	viewWidth  = 80
	viewHeight = 24
)

// viewTable is a component for a test: {lines(width?, height?), key(name…), type(text),
// paste(text), close(), closed(), hook}.
func (f *file) viewTable(L *lua.LState, v *view) lua.LValue {
	t := luavm.NewRecord(L, 7)
	luavm.Set(t, "hook", lua.LString(v.from))
	luavm.Set(t, "lines", f.vm.Func("view.lines", func(L *lua.LState, width, height *int) []string {
		w, h := viewWidth, viewHeight
		if width != nil {
			w = *width
		}
		if height != nil {
			h = *height
		}
		var lines []string
		wasClosed := v.isClosed()
		f.inWait(L, "view.lines", func(context.Context) { lines = v.lines(w, h) })
		if lines == nil && !wasClosed && v.isClosed() {
			fault := "a component of hook " + v.from + " failed when it was drawn"
			f.current(L, "view").note(fault) // the user would look at nothing
			luavm.Raise(L, "%s", fault)
		}
		return lines
	}))
	luavm.Set(t, "key", f.vm.Func("view.key", func(L *lua.LState, names ...string) (used bool) {
		f.inWait(L, "view.key", func(context.Context) {
			for _, name := range names {
				used = v.press(keymap.KeyName(name))
			}
		})
		return used
	}))
	luavm.Set(t, "paste", f.vm.Func("view.paste", func(L *lua.LState, text string) (used bool) {
		f.inWait(L, "view.paste", func(context.Context) { used = v.give(agent.Key{Name: "paste", Text: text}) })
		return used
	}))
	luavm.Set(t, "type", f.vm.Func("view.type", func(L *lua.LState, text string) {
		f.inWait(L, "view.type", func(context.Context) { v.enter(text) })
	}))
	luavm.Set(t, "close", f.vm.Func("view.close", func(*lua.LState) { v.Close() }))
	luavm.Set(t, "closed", f.vm.Func("view.closed", func(*lua.LState) bool { return v.isClosed() }))
	return f.vm.StrictTable("view", t)
}

// inWait calls do while other jobs of the test may run.
func (f *file) inWait(L *lua.LState, function string, do func(ctx context.Context)) {
	err := f.vm.Wait(L, true, func(ctx context.Context) error {
		do(ctx)
		return nil
	})
	if err != nil {
		luavm.Raise(L, "%s: %v", function, err)
	}
}

// player returns what plays with the components that hooks show, by a function of the test;
// nil without one.
func (s *scene) player(fn *lua.LFunction) func(v *view) {
	if fn == nil {
		return nil
	}
	return func(v *view) {
		_ = s.job(s.ctx, "custom", func(L *lua.LState) error {
			call(L, fn, s.file.viewTable(L, v))
			return nil
		})
	}
}

// key is t.key(name): a key that a hook took with pi.shortcut.
func (f *file) key(L *lua.LState, name string) error {
	f.open(L, "key")
	if chord, err := keymap.ParseChord(name); err == nil {
		name = chord
	}
	return f.wait(L, "key", func(ctx context.Context, s *scene) error {
		var known []string
		for _, one := range s.stage.run.Chain().Shortcuts() {
			known = append(known, one.Key)
			if one.Key == name {
				return s.stage.press(ctx, one.Run)
			}
		}
		return fmt.Errorf("no hook has the key %q; taken are: %s", name, strings.Join(known, ", "))
	})
}

// complete is t.complete(word) → what hooks offer for a word being typed.
func (f *file) complete(L *lua.LState, word string) (values []string) {
	f.open(L, "complete")
	err := f.wait(L, "complete", func(ctx context.Context, s *scene) error {
		for _, c := range s.stage.run.Chain().Completions() {
			rest, ok := strings.CutPrefix(word, c.Prefix)
			if !ok {
				continue
			}
			found, err := c.Complete(ctx, rest)
			if err != nil {
				return err
			}
			for _, one := range found {
				values = append(values, one.Value)
			}
		}
		return nil
	})
	if err != nil {
		luavm.Raise(L, "t.complete: %v", err)
	}
	return values
}

// shell is t.shell(line) → {output, exit_code}: a command of the user, as ! runs it.
func (f *file) shell(L *lua.LState, line string) (lua.LValue, error) {
	f.open(L, "shell")
	var outcome agent.BashOutcome
	err := f.wait(L, "shell", func(ctx context.Context, s *scene) (err error) {
		outcome, err = s.stage.run.Agent().Bash(ctx, agent.UserCommand{Line: line})
		return cmp.Or(err, s.stage.finish(ctx))
	})
	if err != nil {
		return lua.LNil, err
	}
	t := luavm.NewRecord(L, 2)
	luavm.Set(t, "output", lua.LString(outcome.Output))
	if outcome.ExitCode != nil {
		luavm.Set(t, "exit_code", lua.LNumber(*outcome.ExitCode))
	}
	return t, nil
}
