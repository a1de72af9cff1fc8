package hooktest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"

	"pi/agent"
	"pi/luavm"
)

// drawn draws the calls of tools as the terminal does, and remembers that. Each report is
// drawn, for a test has time. It is a listener behind the hooks.
type drawn struct {
	stage *stage

	mu    sync.Mutex // guards what follows
	calls map[string]*drawnCall
	all   []drawing
}

// drawnCall is a call that is not over.
type drawnCall struct {
	drawing sync.Mutex     // is held while hooks draw it
	again   sync.WaitGroup // drawings that hooks asked for
	asked   time.Time      // when one did last; the lock of drawn guards it

	mu      sync.Mutex // guards what follows
	call    agent.DrawnCall
	partial *agent.Result // what the tool has reported last
}

// drawing is what a user saw of a call.
type drawing struct {
	call        agent.DrawnCall
	text        string // of the result
	title, rows []string
}

// Wants reports whether events of kind k change what is drawn.
func (d *drawn) Wants(k agent.Kind) bool {
	return k == agent.KindToolExecutionStart || k == agent.KindToolExecutionUpdate || k == agent.KindToolExecutionEnd
}

// Handle draws what e changes. It never fails.
func (d *drawn) Handle(ctx context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		d.begin(ctx, e.ID, e.Name, e.Input)
	case *agent.ToolExecutionUpdate:
		if x := d.of(e.ID); x != nil {
			x.mu.Lock()
			x.partial = &e.Partial
			x.mu.Unlock()
			d.draw(ctx, x)
		}
	case *agent.ToolExecutionEnd:
		d.end(ctx, e)
	}
	return nil
}

func (d *drawn) begin(ctx context.Context, id, name string, input json.RawMessage) {
	x := &drawnCall{call: agent.DrawnCall{ID: id, Name: name, Input: input, Running: true, Started: d.stage.clock.Now(), Kept: new(sync.Map)}}
	ctx = context.WithoutCancel(ctx)
	x.call.Redraw = func() { d.redraw(ctx, x) }
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		d.calls = map[string]*drawnCall{}
	}
	d.calls[id] = x
}

// redrawPause is the time between two drawings that hooks ask for, by the clock of the case: a
// hook that asks in each drawing for the next one would never be done.
const redrawPause = 100 * time.Millisecond

// redraw draws a running call because a hook asks for it. It does not wait, for the drawing
// needs the VM of the hook.
func (d *drawn) redraw(ctx context.Context, x *drawnCall) {
	now := d.stage.clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls[x.call.ID] != x || now.Sub(x.asked) < redrawPause {
		return
	}
	x.asked = now
	x.again.Go(func() { d.draw(ctx, x) })
}

// of is the call of an id that is not over; nil if there is none.
func (d *drawn) of(id string) *drawnCall {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[id]
}

// draw draws a running call with what it has reported, if it has.
func (d *drawn) draw(ctx context.Context, x *drawnCall) {
	x.drawing.Lock()
	defer x.drawing.Unlock()
	x.mu.Lock()
	c, partial := x.call, x.partial
	x.mu.Unlock()
	if partial == nil {
		return
	}
	c.Took = max(0, d.stage.clock.Now().Sub(c.Started)).Truncate(time.Millisecond)
	d.keep(ctx, c, *partial)
}

// end draws a call for the last time, behind all that was asked for.
func (d *drawn) end(ctx context.Context, e *agent.ToolExecutionEnd) {
	x := d.of(e.ID)
	if x == nil {
		return
	}
	d.mu.Lock()
	delete(d.calls, e.ID)
	d.mu.Unlock()
	x.again.Wait()
	c := x.call
	c.Running, c.Failed, c.Took, c.Input = false, e.Result.IsError, e.Took, e.Input
	d.keep(ctx, c, e.Result)
}

// keep has the hooks draw a call and its result, and remembers that.
func (d *drawn) keep(ctx context.Context, c agent.DrawnCall, r agent.Result) {
	one := drawing{call: c, text: textOf(r)}
	if run := d.stage.run; run != nil && run.Chain().DrawsTool(c.Name) {
		one.title, _ = run.Chain().RenderToolCall(ctx, c, false, viewWidth)
		one.rows, _ = run.Chain().RenderToolResult(ctx, c, r, false, viewWidth)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// seen are the drawings of the calls of a tool so far; of all, if name is "".
func (d *drawn) seen(name string) (found []drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.all {
		if name == "" || one.call.Name == name {
			found = append(found, one)
		}
	}
	return found
}

// drawings are the functions about what hooks draw of calls.
func (f *file) drawings() functions {
	return functions{
		// partial is t.partial(tool?) → what a user saw of the calls so far, one after the other:
		// {tool, id, partial, text, call?, lines?}. The last of each call is what stays.
		"partial": func(L *lua.LState, tool *string) lua.LValue {
			name := ""
			if tool != nil {
				name = *tool
			}
			seen := f.current(L, "partial").stage.drawn.seen(name)
			return luavm.NewList(L, len(seen), func(i int) lua.LValue { return drawingTable(L, seen[i]) })
		},
	}
}

func drawingTable(L *lua.LState, d drawing) lua.LValue {
	t := luavm.NewRecord(L, 6)
	luavm.Set(t, "tool", lua.LString(d.call.Name))
	luavm.Set(t, "id", lua.LString(d.call.ID))
	luavm.Set(t, "partial", lua.LBool(d.call.Running))
	luavm.Set(t, "text", lua.LString(d.text))
	for name, rows := range map[string][]string{"call": d.title, "lines": d.rows} {
		if rows != nil {
			luavm.Set(t, name, luavm.NewList(L, len(rows), func(i int) lua.LValue { return lua.LString(rows[i]) }))
		}
	}
	return t
}

// watchers are several listeners as one. None of them fails.
type watchers []agent.Listener

// Wants reports whether one of them wants events of kind k.
func (w watchers) Wants(k agent.Kind) bool {
	return slices.ContainsFunc(w, func(l agent.Listener) bool { return l.Wants(k) })
}

// Handle hands e to those that want it.
func (w watchers) Handle(ctx context.Context, e agent.Event) error {
	for _, l := range w {
		if l.Wants(e.Kind()) {
			_ = l.Handle(ctx, e)
		}
	}
	return nil
}
