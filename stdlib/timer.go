package stdlib

import (
	"context"
	"math"
	"strconv"
	"time"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openTimer makes pi.timer. Times are milliseconds.
//
//	sleep(ms)                  other work of the hook goes on meanwhile
//	after(ms, fn) → cancel     calls fn once
//	every(ms, fn) → cancel     calls fn again and again; while fn runs none is due
//
// cancel() is true when there was something to cancel. Timers end with the hook.
func openTimer(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "timer")
	m.act("sleep", func(ctx context.Context, ms float64) error {
		d, err := duration(ms, 0)
		if err != nil {
			return err
		}
		env.clock().Sleep(ctx, d)
		return nil
	})
	for name, again := range map[string]bool{"after": false, "every": true} {
		least := 0.0
		if again {
			least = 1
		}
		m.act(name, func(ms float64, fn *lua.LFunction) (lua.LValue, error) {
			d, err := duration(ms, least)
			if err != nil {
				return nil, err
			}
			return m.timer("timer."+name, d, fn, again)
		})
	}
	return m.table()
}

// maxTimer is a year.
const maxTimer = 365 * 24 * 60 * 60 * 1000

// duration converts milliseconds from Lua; less than least or more than a year is
// misuse.
func duration(ms, least float64) (time.Duration, error) {
	if math.IsNaN(ms) || ms < least || ms > maxTimer {
		return 0, luavm.Misusef("%s is no number of milliseconds from %v to %d, a year", strconv.FormatFloat(ms, 'f', -1, 64), least, int64(maxTimer))
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

// timer starts a goroutine of the hook that calls fn after d, once or again and again,
// each time as a job, and returns the Lua function that cancels it. A call that is
// waiting for the VM when the timer is cancelled does not run.
func (m *module) timer(name string, d time.Duration, fn *lua.LFunction, again bool) (lua.LValue, error) {
	stop, cancel := context.WithCancel(context.Background())
	done := false // belongs to the VM
	mark := m.env.Follow(again)
	run := m.env.clock().Timer(d, again)
	ok := m.env.Spawn(func(life context.Context) {
		ctx, end := context.WithCancel(life)
		defer end()
		defer context.AfterFunc(stop, end)()
		run(ctx, func() {
			_ = m.env.Call(mark(life), name, func(L *lua.LState) error {
				if stop.Err() != nil {
					return nil
				}
				done = !again
				L.Push(fn)
				L.Call(0, 0)
				return nil
			})
		})
	})
	if !ok {
		cancel()
		run(stop, nil)
		return nil, luavm.Misusef("the hook is gone")
	}
	return m.vm.Func("cancel", func() bool {
		pending := !done && stop.Err() == nil
		cancel()
		return pending
	}), nil
}
