package api

import (
	"context"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// components shows what a hook draws itself.
type components struct {
	*bridge
	dialogs *dialogs
	theme   *theme
}

func (c *components) part() part { return part{"custom": c.custom, "field": c.field, "list": c.list} }

// cursorMark is handle.cursor: a line of a component has it where the cursor is. No
// terminal is ever sent it.
const cursorMark = "\x1b_pi:cursor\x1b\\"

// component is what ctx.ui.custom shows; it is an [agent.Component]. Its functions
// are jobs of the hook's VM.
type component struct {
	home        *components
	draw, input *lua.LFunction
	hasCursor   bool
	handle      *lua.LTable     // what the functions get, and custom returns
	calls       context.Context // of the functions
	stopCalls   context.CancelFunc
	value       lua.LValue // what handle.close got; only while the VM is held

	mu      sync.Mutex    // guards what follows
	surface agent.Surface // where it is shown; nil until the front end has answered
	closed  bool          // by the hook, whose function may still run
	failed  bool          // it could not draw itself
}

// custom is ctx.ui.custom(component): it returns a handle {close, request_render, cursor},
// or, with wait, what handle.close got; nil without a user, and if that has closed it.
// component is {render = fn(width, handle, height), handle_input? = fn(key, handle, opts),
// wait?, place?, rows?, cursor?, releases?}.
func (c *components) custom(L *lua.LState) int {
	L.CheckTable(1)
	n := &component{home: c, value: lua.LNil}
	o := agent.SurfaceOptions{From: c.Hook.Name}
	place := "below"
	luavm.Unpack(L, 1, "custom", luavm.Opt("render", &n.draw).Required(), luavm.Opt("handle_input", &n.input), luavm.Opt("wait", &o.Waits),
		luavm.Opt("place", &place), luavm.Opt("rows", &o.Rows), luavm.Opt("cursor", &n.hasCursor), luavm.Opt("releases", &o.Releases))
	checkOneOf(L, "custom", "place", place, []string{"below", "over"})
	if o.Over = place == "over"; o.Rows < 0 {
		luavm.Raise(L, "custom: option \"rows\" must be a positive number")
	}
	ui := c.dialogs.user(L, "custom")
	if ui != nil && !agent.UICan(ui, agent.CanCustom) {
		c.Log("custom: nothing is shown in the mode " + c.Mode + ", so it returned nil; ctx.ui.can(\"custom\") tells")
		_, err := ui.Custom(n, o) // whoever plays the user notes it
		must(L, "custom", err)
		ui = nil
	}
	if ui == nil {
		L.Push(lua.LNil)
		return 1
	}
	handle := luavm.NewRecord(L, 3)
	luavm.Set(handle, "cursor", lua.LString(cursorMark))
	c.add(handle, part{"close": n.close, "request_render": n.requestRender})
	n.handle = c.vm.StrictTable("the handle of a component", handle)
	if !o.Waits {
		must(L, "custom", c.wait(L, "custom", func(context.Context) error { _, err := n.open(ui, o); return err }))
		L.Push(n.handle)
		return 1
	}
	c.dialogs.show(L, "custom", "", func(ctx context.Context) error {
		s, err := n.open(ui, o)
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
	L.Push(n.value)
	return 1
}

// close is handle.close(value?), with which the hook removes the component from the screen.
// The first value counts.
func (c *component) close(L *lua.LState) int {
	value := L.Get(1)
	c.mu.Lock()
	s, before := c.surface, c.closed
	c.closed = true
	c.mu.Unlock()
	if !before {
		c.value = value
	}
	if s != nil { // else open closes it
		s.Close()
	}
	return 0
}

// requestRender is handle.request_render(), which has the component drawn anew soon. Before
// it is shown it does nothing.
func (c *component) requestRender(*lua.LState) int {
	c.mu.Lock()
	s := c.surface
	c.mu.Unlock()
	if s != nil {
		s.RequestRender()
	}
	return 0
}

// open puts the component on the screen for as long as the hook's VM lives. If the
// user closes it, a function that is still running is stopped: it may be why.
func (c *component) open(ui agent.UI, o agent.SurfaceOptions) (agent.Surface, error) {
	c.calls, c.stopCalls = context.WithCancel(context.WithValue(c.home.Life, componentKey{}, true))
	s, err := ui.Custom(c, o)
	if err == nil && s == nil {
		err = errors.New("the front end cannot show components")
	}
	if err != nil {
		c.stopCalls()
		return nil, err
	}
	c.mu.Lock()
	c.surface = s
	ended := c.failed || c.closed
	c.mu.Unlock()
	if ended {
		s.Close()
	}
	c.home.Spawn(func(ctx context.Context) {
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

// isClosed reports whether the hook itself has closed the component; false if the user
// did, or if it failed.
func (c *component) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Render draws the component. One that fails is closed: it would get every key,
// show nothing, and fail again with each.
func (c *component) Render(width, height int) agent.Drawing {
	lines, err := c.home.jobs.draw(c.calls, "render of a component", func(L *lua.LState) lua.LValue {
		return callLua(L, c.draw, lua.LNumber(width), c.handle, lua.LNumber(height))
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
	return drawingOf(lines[:min(len(lines), max(height, 1))], c.hasCursor)
}

// drawingOf takes the marks of the cursor out of lines. With a cursor the first of them
// says where it is.
func drawingOf(lines []string, hasCursor bool) (d agent.Drawing) {
	for row, line := range lines {
		before, after, marked := strings.Cut(cutText(line), cursorMark)
		if marked {
			after = strings.ReplaceAll(after, cursorMark, "")
			if hasCursor && d.Cursor == nil {
				d.Cursor = &agent.Position{Row: row, Column: cells.Width(strings.ReplaceAll(printable.Text(before), "\t", " "))}
			}
		}
		d.Lines = append(d.Lines, before+after)
	}
	return d
}

// HandleInput gives a key to the hook's handle_input and waits for that. It is the key of a
// user, so what the hook sends then counts as sent for the user. The hook did not use a
// key if the function returned false or, for Esc, did not return true. If it closed the
// component, other functions of it that still run are stopped.
func (c *component) HandleInput(k agent.Key) (used bool) {
	if c.input == nil {
		return false
	}
	result := new(lua.LValue)
	err := c.home.jobs.callBack(asUser(c.calls), "handle_input of a component", func(L *lua.LState) error {
		opts := luavm.NewRecord(L, 2)
		luavm.SetText(opts, "text", k.Text)
		if k.Release {
			luavm.Set(opts, "release", lua.LTrue)
		}
		*result = callLua(L, c.input, lua.LString(keyName(k)), c.handle, opts)
		return nil
	})
	if c.isClosed() {
		c.stopCalls()
		return true
	}
	switch {
	case err != nil:
		return true
	case k.Name == "esc":
		return *result == lua.LTrue
	}
	return *result != lua.LFalse
}

// keyName is the key as hooks are told it: one that types a character is that character, a
// capital letter too, but for "space".
func keyName(k agent.Key) string {
	base := strings.TrimPrefix(k.Name, "shift+")
	if k.Text == "" || k.Text == " " || utf8.RuneCountInString(k.Text) != 1 || utf8.RuneCountInString(base) != 1 {
		return k.Name
	}
	return k.Text
}
