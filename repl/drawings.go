package repl

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/internal/pace"
)

// A call that runs is drawn by hooks as it goes on: again when its tool has reported
// something, and when a hook asks for it. The hook is asked aside, since it may be slow, and
// what it drew last stays in the zone until then. When the call is over it is drawn once
// more, and that drawing alone goes into the transcript.

// drawPause is the time between two drawings by hooks, at least: of a widget, header or footer, and
// of running calls, whichever calls those are.
const drawPause = 100 * time.Millisecond

// drawings has hooks draw the calls that run, one at a time and in the order in which that
// became due.
type drawings struct {
	view *transcript
	pace *pace.Pacer[struct{}]

	mu  sync.Mutex // guards due
	due []*drawnCall
}

// drawnCall is a call for the hooks that draw it.
type drawnCall struct {
	drawing sync.Mutex  // is held while a hook draws the call
	over    atomic.Bool // it is drawn no more, but for the last time

	mu      sync.Mutex // guards what follows
	call    agent.DrawnCall
	partial *agent.Result // what its tool has reported last; nil: nothing
}

func newTranscript(s *screen, r Renderer) *transcript {
	t := &transcript{screen: s, renderer: r}
	t.drawings = &drawings{view: t}
	t.drawings.pace = pace.New(drawPause, func(struct{}) { t.drawings.next() })
	return t
}

// begin returns a call that runs from now on.
func (d *drawings) begin(id, name string, input json.RawMessage, now time.Time) *drawnCall {
	x := &drawnCall{call: agent.DrawnCall{ID: id, Name: name, Input: input, Running: true, Started: now, Kept: new(sync.Map)}}
	x.call.Redraw = func() { d.want(x) }
	return x
}

// update notes what the tool of a call has reported, and has it drawn. x may be nil.
func (d *drawings) update(x *drawnCall, partial agent.Result) {
	if x == nil {
		return
	}
	x.mu.Lock()
	x.partial = &partial
	x.mu.Unlock()
	d.want(x)
}

// want has a call drawn soon, if it runs and a hook draws it. It does not wait.
func (d *drawings) want(x *drawnCall) {
	s := d.view.screen
	if x.over.Load() || s.isPlain() || d.view.renderer == nil || !d.view.renderer.DrawsTool(x.now().Name) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.due, x) {
		return
	}
	d.due = append(d.due, x)
	go d.pace.Put(struct{}{}) // who wants it may be a hook, whose VM the drawing needs
}

// next draws the call whose turn it is.
func (d *drawings) next() {
	d.mu.Lock()
	for len(d.due) > 0 && d.due[0].over.Load() {
		d.due = d.due[1:]
	}
	var x *drawnCall
	if len(d.due) > 0 {
		x, d.due = d.due[0], d.due[1:]
	}
	more := len(d.due) > 0
	d.mu.Unlock()
	if more {
		d.pace.Put(struct{}{})
	}
	if x != nil {
		d.view.drawRunning(x)
	}
}

// stop has nothing drawn any more, and waits for what is being drawn.
func (d *drawings) stop() {
	d.mu.Lock()
	d.due = nil
	d.mu.Unlock()
	d.pace.Stop()
}

// now is the call as it is at this moment.
func (x *drawnCall) now() agent.DrawnCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.call
}

// rewritten is now with other arguments, which the call has from now on.
func (x *drawnCall) rewritten(input json.RawMessage) agent.DrawnCall {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.call.Input = input
	return x.call
}

// end is the call when it is over. What is being drawn of it is waited for, so that nothing
// is drawn behind the last time.
func (x *drawnCall) end(e *agent.ToolExecutionEnd) agent.DrawnCall {
	x.over.Store(true)
	x.drawing.Lock()
	defer x.drawing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.call.Running, x.call.Failed, x.call.Took, x.call.Input = false, e.Result.IsError, e.Took, e.Input
	return x.call
}

// drawRunning draws a call that runs, and what its tool has reported.
func (t *transcript) drawRunning(x *drawnCall) {
	x.drawing.Lock()
	defer x.drawing.Unlock()
	if x.over.Load() {
		return
	}
	x.mu.Lock()
	c, partial := x.call, x.partial
	x.mu.Unlock()
	t.screen.mu.Lock()
	if shown := t.screen.calls.of(x); shown != nil {
		c.Took = shown.ranFor(t.screen.now())
	}
	t.screen.mu.Unlock()
	width := t.width(4)
	title := t.titleByHook(c, false, width)
	var progress []string
	if partial != nil {
		progress = t.resultByHook(c, *partial, false, width+1)
	}
	t.screen.change(func() {
		if shown := t.screen.calls.of(x); shown != nil {
			shown.progress = progress
			if title != nil {
				shown.title = title
			}
		}
	})
}

// of is the call that x is drawn for; nil if it is shown no more.
func (c *calls) of(x *drawnCall) *call {
	if i := slices.IndexFunc(c.all, func(shown *call) bool { return shown.drawn == x }); i >= 0 {
		return c.all[i]
	}
	return nil
}
