package hooktest

import (
	"context"
	"errors"
	"strings"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// ofChange are the functions that change what is there while the run is open.
func (f *file) ofChange() functions {
	return functions{"edit_hook": f.editHook, "reopen": f.reopen, "events": f.events, "soon": f.soon}
}

// editHook is t.edit_hook(path, text): it saves a hook of the case, or a file beside one, and
// returns when that is live. A hook that does not load gives nil and why; the version before
// runs on, as ever.
func (f *file) editHook(L *lua.LState, path, text string) error {
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
		chain.Reload(ctx, false)
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
	before := len(s.stage.witness.seen())
	err := f.wait(L, "reopen", func(ctx context.Context, s *scene) error {
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
	return strings.Join(s.stage.witness.seen()[before:], "\n")
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
		f.current(L, "clock.advance")
		_ = f.wait(L, "clock.advance", func(ctx context.Context, s *scene) error {
			s.stage.clock.advance(ctx, by)
			if s.stage.run == nil || !s.stage.run.Agent().IsIdle() {
				return nil
			}
			return s.stage.finish(ctx)
		})
	}))
	luavm.Set(t, "now", f.vm.Func("t.clock.now", func(L *lua.LState) int64 { return f.current(L, "clock.now").stage.clock.Now().UnixMilli() }))
	return f.vm.StrictTable("t.clock", t)
}
