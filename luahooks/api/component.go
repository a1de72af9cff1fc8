package api

import (
	"context"
	"errors"
	"sync"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// components shows what a hook draws itself.
type components struct {
	*bridge
	dialogs *dialogs
	jobs    *jobs
}

func (c *components) part() part { return part{"custom": c.custom} }

// component is what ctx.ui.custom shows; it is an [agent.Component]. Its functions
// are jobs of the hook's VM.
type component struct {
	hook        string
	jobs        *jobs
	draw, input *lua.LFunction
	handle      *lua.LTable     // what the functions get, and custom returns: close, request_render
	calls       context.Context // of the functions
	stopCalls   context.CancelFunc

	mu      sync.Mutex    // guards what follows
	surface agent.Surface // where it is shown; nil until the front end has answered
	closed  bool          // by the hook, whose function may still run
	failed  bool          // it could not draw itself
}

// custom is ctx.ui.custom(component) → handle {close, request_render}; nil
// without a person. component is {render = fn(width, handle), handle_input? =
// fn(key, handle), wait?}; with wait the caller continues when it is closed.
func (c *components) custom(L *lua.LState) int {
	L.CheckTable(1)
	n := &component{hook: c.hook, jobs: c.jobs}
	var wait bool
	luavm.Unpack(L, 1, "custom", luavm.Opt("render", &n.draw).Required(), luavm.Opt("handle_input", &n.input), luavm.Opt("wait", &wait))
	ui := c.dialogs.person(L, "custom")
	if ui == nil {
		L.Push(lua.LNil)
		return 1
	}
	n.handle = luavm.NewRecord(L, 2)
	c.add(n.handle, part{"close": n.close, "request_render": n.requestRender})
	if wait {
		c.dialogs.show(L, "custom", "", func(ctx context.Context) error {
			s, err := n.open(ui)
			if err != nil {
				return err
			}
			select {
			case <-s.Done():
			case <-ctx.Done(): // the hook is stopped
				s.Close()
			}
			return nil
		})
	} else {
		must(L, "custom", c.wait(L, "custom", func(context.Context) error { _, err := n.open(ui); return err }))
	}
	L.Push(n.handle)
	return 1
}

// close is handle.close(), with which the hook removes the component from the screen.
// While the front end has not shown it yet, in its first render, there is nothing to remove
// and the call has no effect: open still waits for the surface.
func (c *component) close(context.Context) {
	c.mu.Lock()
	s := c.surface
	c.closed = c.closed || s != nil
	c.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// requestRender is handle.request_render(), which has the component drawn anew soon. Before
// it is shown it does nothing.
func (c *component) requestRender(context.Context) {
	c.mu.Lock()
	s := c.surface
	c.mu.Unlock()
	if s != nil {
		s.RequestRender()
	}
}

// open puts the component on the screen for as long as the hook's VM lives. If the
// person closes it, a function that is still running is stopped: it may be why.
func (c *component) open(ui agent.UI) (agent.Surface, error) {
	c.calls, c.stopCalls = context.WithCancel(context.WithValue(c.jobs.life, componentKey{}, true))
	s, err := ui.Custom(c, agent.SurfaceOptions{From: c.hook})
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, errors.New("the front end cannot show components")
	}
	c.mu.Lock()
	c.surface = s
	failed := c.failed
	c.mu.Unlock()
	if failed {
		s.Close()
	}
	c.jobs.spawn(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			s.Close()
		case <-s.Done():
			if !c.isClosed() {
				c.stopCalls()
			}
		}
	})
	return s, nil
}

// isClosed reports whether the hook itself has closed the component; false if the person
// did, or if it failed.
func (c *component) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Render draws the component. One that fails is closed: it would get every key,
// show nothing, and fail again with each.
func (c *component) Render(width, _ int) agent.Drawing {
	lines, err := c.jobs.draw(c.calls, "render of a component", func(L *lua.LState) lua.LValue {
		return callLua(L, c.draw, lua.LNumber(width), c.handle)
	})
	if err != nil {
		c.mu.Lock()
		c.failed = true
		s := c.surface
		c.mu.Unlock()
		if s != nil {
			s.Close()
		}
	}
	return agent.Drawing{Lines: lines}
}

// HandleInput gives a key to the hook's handle_input and waits for that. It is the key of a
// person, so what the hook sends then counts as sent for the person. If the function closed
// the component, other functions of it that still run are stopped.
func (c *component) HandleInput(k agent.Key) (used bool) {
	if c.input == nil {
		return false
	}
	_ = c.jobs.callBack(asPerson(c.calls), "handle_input of a component", func(L *lua.LState) error {
		callLua(L, c.input, lua.LString(k.Name), c.handle)
		return nil
	})
	if c.isClosed() {
		c.stopCalls()
	}
	return true
}
