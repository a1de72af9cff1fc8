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

// compactCall is one call of ctx.compact.
type compactCall struct {
	*compactions
	onComplete, onError *lua.LFunction
	returned            atomic.Bool
}

// compact is ctx.compact{instructions?, on_complete?, on_error?} → true. It asks for a
// compaction and does not wait for it; one of the functions is called when it is over.
func (c *compactions) compact(L *lua.LState) int {
	host := c.mustHost(L, "compact")
	one := &compactCall{compactions: c}
	var o agent.CompactOptions
	luavm.Unpack(L, 1, "compact", luavm.Opt("instructions", &o.Instructions), luavm.Opt("on_complete", &one.onComplete), luavm.Opt("on_error", &one.onError))
	host.RequestCompact(o, one.ended)
	one.returned.Store(true)
	L.Push(lua.LTrue)
	return 1
}

// ended is called when the compaction is over, well or not, and starts the hook's callback.
// It waits for that up to hook_grace, so that the hook can tell of the end before a program
// without a person ends; not before ctx.compact has returned, which has the VM until then.
func (c *compactCall) ended(done *agent.Compacted, err error) {
	finished := make(chan struct{})
	began := c.jobs.spawn(func(ctx context.Context) {
		defer close(finished)
		c.callBack(ctx, done, err)
	})
	if began && c.returned.Load() {
		select {
		case <-finished:
		case <-time.After(c.grace):
		}
	}
}

// callBack runs the function for success or failure. The person is told of a failure
// that the hook has no function for.
func (c *compactCall) callBack(ctx context.Context, done *agent.Compacted, err error) {
	fn := c.onComplete
	if done == nil {
		fn = c.onError
	}
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
