package repl

import (
	"context"
	"sync"

	"pi/agent"
	"pi/repl/terminal"
)

// A panel shows a component below the transcript: its lines are the region of the
// screen, and it gets the keys. It has the floor, so that there is
// one at a time and no prompt is open.

// present shows c until ctx ends. It is drawn anew after each key and each signal of
// again; out is called for Ctrl+C. It reports false, and shows nothing, where only whole
// lines can be read.
func (r *REPL) present(ctx context.Context, c agent.Component, again <-chan struct{}, out func()) bool {
	pressed, ok := r.prompter.Grab(out)
	if !ok {
		return false
	}
	defer r.prompter.Release()
	r.screen.OpenRegion()
	defer r.screen.CloseRegion()
	for {
		if !r.draw(ctx, c) {
			return true
		}
		select {
		case <-ctx.Done():
			return true
		case <-again:
		case <-pressed:
			r.press(ctx, c, out)
		}
	}
}

// press gives c the keys that were pressed, until ctx ends. out is called for an Esc that
// c has no use for.
func (r *REPL) press(ctx context.Context, c agent.Component, out func()) {
	for ctx.Err() == nil {
		key, ok := r.keyboard.Key()
		if !ok {
			return
		}
		if key != "" {
			unlessEnded(ctx, func() {
				if !c.HandleInput(agent.Key{Name: key}) && key == "esc" {
					out()
				}
			})
		}
	}
}

// draw shows as much of c as fits on the screen. It reports false if ctx ended.
func (r *REPL) draw(ctx context.Context, c agent.Component) bool {
	width, height := terminal.Columns(r.opts.Out)-1, terminal.Rows(r.opts.Out)-1
	var lines []string
	if !unlessEnded(ctx, func() { lines = c.Render(width, height).Lines }) {
		return false
	}
	lines = r.screen.Painted(lines, width)
	r.screen.DrawRegion(lines[:min(len(lines), max(height, 1))])
	return true
}

// unlessEnded calls a method of a component. If ctx ends first it reports false and
// does not wait for the call, so that a hook that is stuck does not block the
// terminal.
func unlessEnded(ctx context.Context, call func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// surface is a component of a hook that is shown or waits for that.
type surface struct {
	component agent.Component
	again     chan struct{} // a buffer of one
	done      chan struct{}
	cancel    context.CancelFunc
}

// Custom shows c below the transcript as soon as it can have the floor. Where
// only whole lines can be read, its lines are written anew each time, and it gets
// typed keys when their line ends. The surface is nil if no person can be asked.
func (r *REPL) Custom(c agent.Component, _ agent.SurfaceOptions) (agent.Surface, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	if !r.HasUI() || r.keyboard == nil {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &surface{component: c, again: make(chan struct{}, 1), done: make(chan struct{}), cancel: cancel}
	if !r.surfaces.add(s) {
		cancel()
		close(s.done)
		return s, nil
	}
	go r.show(ctx, s)
	return s, nil
}

// show waits for the floor, and then shows a surface until it is closed.
func (r *REPL) show(ctx context.Context, s *surface) {
	defer close(s.done)
	defer r.surfaces.remove(s)
	defer s.cancel()
	if r.floor.acquireDialog(ctx) != nil {
		return
	}
	defer r.floor.releaseDialog()
	if !r.present(ctx, s.component, s.again, s.cancel) {
		r.presentLines(ctx, s)
	}
}

// presentLines shows a component where only whole lines can be read: its lines are
// written anew for each typed line and each request, until ctx or the input ends.
func (r *REPL) presentLines(ctx context.Context, s *surface) {
	answers, done := r.inbox.Lend()
	defer done()
	for {
		width := terminal.Columns(r.opts.Out) - 1
		var lines []string
		if !unlessEnded(ctx, func() { lines = s.component.Render(width, terminal.Rows(r.opts.Out)-1).Lines }) {
			return
		}
		for _, line := range r.screen.Painted(lines, width) {
			r.screen.Print(line)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		case a := <-answers:
			if a.EOF {
				return
			}
			r.screen.LineEnded("")
			unlessEnded(ctx, func() {
				for _, key := range terminal.KeysOf(a.Text) { // one of the keys that the line was typed with
					s.component.HandleInput(agent.Key{Name: key})
				}
				s.component.HandleInput(agent.Key{Name: "enter"})
			})
		}
	}
}

// RequestRender has the component drawn again soon. It does not wait.
func (s *surface) RequestRender() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// Close ends the showing of the component. It does not wait, since the component itself may
// call it.
func (s *surface) Close() { s.cancel() }

func (s *surface) Done() <-chan struct{} { return s.done }

// surfaces are the components that are shown or wait for the floor.
type surfaces struct {
	mu     sync.Mutex
	open   map[*surface]bool
	closed bool
}

// add adds a surface. It reports false, and adds nothing, after close.
func (all *surfaces) add(s *surface) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.closed {
		return false
	}
	if all.open == nil {
		all.open = map[*surface]bool{}
	}
	all.open[s] = true
	return true
}

func (all *surfaces) remove(s *surface) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, s)
}

// interrupt closes all surfaces and reports whether there was one.
func (all *surfaces) interrupt() bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	for s := range all.open {
		s.Close()
	}
	return len(all.open) > 0
}

// close closes all surfaces; each is done when its component has returned.
func (all *surfaces) close() {
	all.mu.Lock()
	all.closed = true
	all.mu.Unlock()
	all.interrupt()
}

var _ agent.Surface = (*surface)(nil)
