package luahooks

import (
	"context"
	"errors"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// luaComponent is what ctx.ui.custom shows; it is an [agent.Component]. Its
// functions are jobs of the hook's VM.
type luaComponent struct {
	in          *instance
	draw, input *lua.LFunction
	handle      *lua.LTable
	surface     agent.Surface // set while the VM is held

	calls  context.Context // of the functions
	cut    context.CancelFunc
	closed bool // by the hook, whose function may go on
	failed bool // it could not draw itself, perhaps before it was known where
}

// componentKey is in the Go context of a component's functions.
type componentKey struct{}

// uiCustom is ctx.ui.custom(component) → handle {close, request_render}; nil
// without a person. component is {render = fn(width, handle), handle_input? =
// fn(key, handle), wait?}; with wait the caller goes on when it is closed.
func (in *instance) uiCustom(L *lua.LState) int {
	L.CheckTable(1)
	c := &luaComponent{in: in}
	var wait bool
	luavm.Unpack(L, 1, "custom", luavm.Opt("render", &c.draw).Required(), luavm.Opt("handle_input", &c.input), luavm.Opt("wait", &wait))
	ui := in.dialogUI(L, "custom")
	if ui == nil {
		L.Push(lua.LNil)
		return 1
	}
	c.newHandle(L)
	show := func(ctx context.Context) error { return c.show(ctx, ui) }
	if wait {
		in.dialog(L, "custom", "", func(ctx context.Context) error {
			if err := show(ctx); err != nil {
				return err
			}
			return c.waitFor(ctx)
		})
	} else if err := in.wait(L, "custom", false, show); err != nil {
		luavm.Raise(L, "custom: %v", err)
	}
	L.Push(c.handle)
	return 1
}

func (c *luaComponent) newHandle(L *lua.LState) {
	c.handle = luavm.NewRecord(L, 2)
	do := func(f func(agent.Surface)) func(context.Context) {
		return func(context.Context) {
			if s := c.shownOn(); s != nil {
				f(s)
			}
		}
	}
	c.in.addFuncs(c.handle, map[string]any{
		"close": do(func(s agent.Surface) {
			c.in.mu.Lock()
			c.closed = true
			c.in.mu.Unlock()
			s.Close()
		}),
		"request_render": do(agent.Surface.RequestRender),
	})
}

// shownOn is where the component is shown; nil as long as the front end has not
// said where.
func (c *luaComponent) shownOn() agent.Surface {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.surface
}

// show puts the component on the screen for as long as the hook's VM lives. If
// the person gets out of it, a function that is still running is stopped: it may
// be why.
func (c *luaComponent) show(_ context.Context, ui agent.UI) error {
	c.calls, c.cut = context.WithCancel(context.WithValue(c.in.behind.life, componentKey{}, true))
	s, err := ui.Custom(c)
	if err != nil {
		return err
	}
	if s == nil {
		return errors.New("the front end cannot show components")
	}
	c.in.mu.Lock()
	c.surface = s
	failed := c.failed
	c.in.mu.Unlock()
	if failed {
		s.Close()
	}
	c.in.spawn(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			s.Close()
		case <-s.Done():
			if !c.closedByHook() {
				c.cut()
			}
		}
	})
	return nil
}

func (c *luaComponent) closedByHook() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.closed
}

// waitFor waits until the component is closed, and closes it if the hook is
// stopped before.
func (c *luaComponent) waitFor(ctx context.Context) error {
	s := c.shownOn()
	select {
	case <-s.Done():
	case <-ctx.Done():
		s.Close()
	}
	return nil
}

// Render draws the component. One that fails is taken away: it would take every
// key, show nothing, and fail again with each.
func (c *luaComponent) Render(width int) []string {
	lines, err := c.in.drawn(c.calls, "render of a component", func(L *lua.LState) lua.LValue {
		return callFunction(L, c.draw, lua.LNumber(width), c.handle)
	})
	if err != nil {
		c.giveUp()
	}
	return lines
}

func (c *luaComponent) giveUp() {
	c.in.mu.Lock()
	c.failed = true
	s := c.surface
	c.in.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// HandleInput gives it a key.
func (c *luaComponent) HandleInput(key string) {
	if c.input == nil {
		return
	}
	_ = c.in.callBack(asPerson(c.calls), "handle_input of a component", func(L *lua.LState) error {
		callFunction(L, c.input, lua.LString(key), c.handle)
		return nil
	})
	if c.closedByHook() {
		c.cut()
	}
}
