package luavm

import (
	"context"

	lua "github.com/yuin/gopher-lua"
)

// Stopped reports whether the job of ctx, which [VM.Context] or [VM.Wait] gave,
// was stopped: its context ended, or it used too much time or memory. It is
// false while the job runs and when it ended by itself.
func Stopped(ctx context.Context) bool {
	j, ok := ctx.Value(jobKey{}).(*job)
	if !ok {
		return ctx.Err() != nil
	}
	return j.cause.Load() != nil || j.state.Load() != stateEnded && j.parent.Err() != nil
}

// looksApart is how many steps Go code that runs for Lua may take before it looks
// whether its job was stopped.
const looksApart = 1 << 10

// halted returns why the running job was stopped, nil if it was not. Go code that may
// take long calls it now and then, because only Lua's own instructions are watched.
func halted(L *lua.LState) error {
	if L.G.CurrentThread != nil {
		L = L.G.CurrentThread
	}
	ctx := L.Context()
	if ctx == nil || ctx.Done() == nil {
		return nil
	}
	return ctx.Err()
}
