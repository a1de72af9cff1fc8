package stdlib

import (
	"context"
	"time"

	"pi/internal/filelock"
	"pi/luavm"
	"pi/stdlib/compat"

	lua "github.com/yuin/gopher-lua"
)

// Env is what modules may use of the program around a VM. Every function may be
// called from any goroutine unless it says otherwise.
type Env struct {
	Cwd string // relative paths begin there

	// Getenv is a variable of the hook's environment, "" if it is not set; nil: that of the
	// process.
	Getenv func(name string) string
	// Reach returns an error for a host to which pi.http does not connect; nil: all may be
	// reached.
	Reach func(host string) error
	// Clock is what pi.time and pi.timer go by; nil: the clock of the machine.
	Clock Clock
	// Loading reports whether the hook's file is being run. Functions that do
	// more than compute raise then, see [Env.Ready].
	Loading func() bool
	// Spawn runs f on a goroutine of its own; ctx ends when the hook is reloaded,
	// removed, or the program ends, and that is waited for. It is false when that
	// has happened already.
	Spawn func(f func(ctx context.Context)) bool
	// Call runs f as a job of the hook's VM, from outside of any job; what goes
	// wrong is reported as the hook's, under name.
	Call func(ctx context.Context, name string, f func(L *lua.LState) error) error
	// Nested calls fn with what args returns, in a job inside of the one that waits with
	// ctx, and reports whether it returned true. The error is a *[luavm.Misuse].
	Nested func(ctx context.Context, name string, fn *lua.LFunction, args func(L *lua.LState) []lua.LValue) (enough bool, err error)
	// Inside calls fn in a job inside of the one that waits with ctx, which the job's context
	// comes from, and returns all its results. The error is a *[luavm.Error].
	Inside func(ctx context.Context, name string, fn *lua.LFunction) ([]lua.LValue, error)
	// Locks are those of pi.fs, which the tools have too.
	Locks *filelock.Locks
	// Outside marks the context of a call that something outside of the program
	// causes; source says what, to a user.
	Outside func(ctx context.Context, source string) context.Context
	// Unheard is why the hook cannot listen or watch, such as that it runs in the session of a child;
	// nil: it can.
	Unheard error
	// Follow is called inside a job; what it returns marks the context of a later
	// call, or of one again and again, as what this job is about.
	Follow func(again bool) func(context.Context) context.Context
	// Until reads a signal, that is an option of function, and returns what makes a context end
	// with it, too; a value that is none raises. Nil: there are no signals.
	Until func(L *lua.LState, function string, signal lua.LValue) Within
	// Exec runs a program without a shell, as pi.exec does, for as long as ctx
	// lives. err is not nil only when it could not be started.
	Exec func(ctx context.Context, c Command) (stdout, stderr string, code int, err error)
	// Complete is pi.llm.complete, and Stream pi.llm.stream.
	Complete, Stream lua.LGFunction
	// Servers are the functions of pi.mcp, by their names.
	Servers map[string]lua.LGFunction
	// Agents are those of pi.agent.
	Agents map[string]lua.LGFunction
	// Restyle is that of compat.Host.
	Restyle func(L *lua.LState, v lua.LValue, branch bool) lua.LValue
	// Compat is the Code of compat.Host; it may be nil.
	Compat *compat.Code
}

// Within derives a context that may end earlier; its cancel has to be called.
type Within = func(ctx context.Context) (context.Context, context.CancelFunc)

// Clock is the time that modules go by. Its methods may be called from any goroutine.
type Clock interface {
	Now() time.Time
	// Sleep waits for d; it is false if ctx ended first.
	Sleep(ctx context.Context, d time.Duration) bool
	// Wait begins to wait for d, without an end if d is negative: over is closed when that has
	// passed. stop ends the wait.
	Wait(d time.Duration) (over <-chan struct{}, stop func())
	// Begin says that a hook does something beside what it was called for, until end is called. A
	// clock that is set waits for that, or until it waits itself.
	Begin() (end func())
	// Timer begins to wait for d. run, which has to be called, calls f when that is over, and
	// if again is set once more when d has passed since f returned, and so on. It returns when
	// f was called for the last time, or ctx has ended.
	Timer(d time.Duration, again bool) (run func(ctx context.Context, f func()))
}

// clock is that of the environment, or of the machine.
func (e *Env) clock() Clock {
	if e.Clock != nil {
		return e.Clock
	}
	return MachineClock{}
}

// MachineClock is the clock of the machine.
type MachineClock struct{}

// Now is the time of the machine.
func (MachineClock) Now() time.Time { return time.Now() }

// Sleep is that of [Clock].
func (MachineClock) Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Wait is that of [Clock].
func (MachineClock) Wait(d time.Duration) (over <-chan struct{}, stop func()) {
	if d < 0 {
		return nil, func() {}
	}
	passed := make(chan struct{})
	t := time.AfterFunc(d, func() { close(passed) })
	return passed, func() { t.Stop() }
}

// Begin is that of [Clock]; nobody waits.
func (MachineClock) Begin() (end func()) { return func() {} }

// Timer is that of [Clock].
func (c MachineClock) Timer(d time.Duration, again bool) func(ctx context.Context, f func()) {
	return func(ctx context.Context, f func()) {
		for c.Sleep(ctx, d) {
			f()
			if !again {
				return
			}
		}
	}
}

// Command is a program to run.
type Command struct {
	Cwd, Name string
	Args      []string
	Env       map[string]string // beside the variables of this program
}

// Ready raises while the hook loads: function acts, and loading may only
// register.
func (e *Env) Ready(L *lua.LState, function string) {
	if e.Loading != nil && e.Loading() {
		luavm.Raise(L, "%s: not available while the hook loads; use session_start", function)
	}
}

// until is Until, and without signals or one of them what ends nothing.
func (e *Env) until(L *lua.LState, function string, signal lua.LValue) Within {
	switch {
	case signal == nil:
		return context.WithCancel
	case e.Until == nil:
		luavm.Raise(L, "%s: option \"signal\" is for hooks; a test has none", function)
	}
	return e.Until(L, function, signal)
}
