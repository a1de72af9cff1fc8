package luahooks

import (
	"context"
	"sync/atomic"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// compactCall is one call of ctx.compact.
type compactCall struct {
	in                  *instance
	onComplete, onError *lua.LFunction
	returned            atomic.Bool
}

// compact is ctx.compact{instructions?, on_complete?, on_error?} → true.
func (in *instance) compact(L *lua.LState) int {
	host := in.mustHost(L, "compact")
	c := &compactCall{in: in}
	var o agent.CompactOptions
	luavm.Unpack(L, 1, "compact", luavm.Opt("instructions", &o.Instructions), luavm.Opt("on_complete", &c.onComplete), luavm.Opt("on_error", &c.onError))
	host.RequestCompact(o, c.ended)
	c.returned.Store(true)
	L.Push(lua.LTrue)
	return 1
}

// ended calls the hook back. It waits a little for that, so that what the hook
// says is heard before a program without a person ends; not while ctx.compact
// itself still has the VM.
func (c *compactCall) ended(done *agent.Compacted, err error) {
	finished := make(chan struct{})
	began := c.in.spawn(func(ctx context.Context) {
		defer close(finished)
		c.tell(ctx, done, err)
	})
	if began && c.returned.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), c.in.chain.opts.Grace)
		defer cancel()
		waitDone(ctx, finished)
	}
}

// tell runs the function that is for the outcome. A failure that the hook has no
// function for is told to the person.
func (c *compactCall) tell(ctx context.Context, done *agent.Compacted, err error) {
	fn := c.onComplete
	if done == nil {
		fn = c.onError
	}
	switch {
	case fn != nil:
	case done == nil:
		c.in.chain.notify(ctx, agent.LevelWarning, "hook "+c.in.hook.Name+": compact: "+err.Error())
		return
	default:
		return
	}
	_ = c.in.callBack(ctx, "compact", func(L *lua.LState) error {
		if done != nil {
			callFunction(L, fn, c.in.records.Entry(done.Entry))
		} else {
			callFunction(L, fn, lua.LString(err.Error()))
		}
		return nil
	})
}
