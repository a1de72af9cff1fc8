package api

import (
	"context"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// compactions are what a hook asks for with ctx.compact.
type compactions struct {
	*bridge
	jobs  *jobs
	grace time.Duration // hook_grace
}

// compact is ctx.compact{instructions?, on_complete?, on_error?} → true. It asks for a
// compaction and does not wait for it; one of the functions is called when it is over. The end
// of the compaction waits for that up to hook_grace, so that the hook can tell of it before a
// program without a person ends; not before ctx.compact has returned, which has the VM until
// then.
func (c *compactions) compact(L *lua.LState) int {
	host := c.mustHost(L, "compact")
	var o agent.CompactOptions
	var onComplete, onError *lua.LFunction
	luavm.Unpack(L, 1, "compact", luavm.Opt("instructions", &o.Instructions), luavm.Opt("on_complete", &onComplete), luavm.Opt("on_error", &onError))
	var returned atomic.Bool
	host.RequestCompact(o, func(done *agent.Compacted, err error) {
		fn := onComplete
		if done == nil {
			fn = onError
		}
		finished := make(chan struct{})
		began := c.jobs.spawn(func(ctx context.Context) {
			defer close(finished)
			c.callBack(ctx, fn, done, err)
		})
		if began && returned.Load() {
			select {
			case <-finished:
			case <-time.After(c.grace):
			}
		}
	})
	returned.Store(true)
	L.Push(lua.LTrue)
	return 1
}

// callBack runs the function for success or failure. The person is told of a failure
// that the hook has no function for.
func (c *compactions) callBack(ctx context.Context, fn *lua.LFunction, done *agent.Compacted, err error) {
	if fn == nil {
		if done == nil {
			c.notify(ctx, agent.LevelWarning, "hook "+c.hook+": compact: "+err.Error())
		}
		return
	}
	_ = c.jobs.callBack(ctx, "compact", func(L *lua.LState) error {
		if done != nil {
			callLua(L, fn, c.records.Entry(done.Entry))
		} else {
			callLua(L, fn, lua.LString(err.Error()))
		}
		return nil
	})
}
