package repl

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/pick"
	"pi/repl/terminal"
)

// inks is what panels paint with.
func inks(p terminal.Palette) pick.Palette { return pick.Palette{On: p.On, With: p.Paint} }

// A panel has the keys in place of the line: a dialog, a picker, and so does a component
// of a hook. The first one of what the user began has them at once, if it comes soon. Any
// other takes none until no key has come for a while, so that nobody answers a question
// with what they were about to type: until then keys go to the line, which stays in view.
// What waits in the terminal to be read was typed before the time at which it is read.

// quietBefore is how long no key comes before a question has the keys, and how long after
// the key that began it the first one of a command has them at once.
const quietBefore = 400 * time.Millisecond

// quiet is whether something has the keys. The lock of the screen guards it.
type quiet struct {
	quietFrom time.Time // when it was shown, or a key came before it had them
	ready     bool      // it has the keys
	atOnce    bool      // it has them from its beginning
}

// shownPanel is a panel that is open, or waits until the one before it is done.
type shownPanel struct {
	terminal.Panel
	quiet
	done chan struct{}
}

// panels are those that are open, the first with the keys. The lock of the screen guards
// them.
type panels struct {
	all        []*shownPanel
	components []*surface // the last has the keys, if no panel is open
}

// top is the panel in view; nil for none.
func (p *panels) top() *shownPanel {
	if len(p.all) == 0 {
		return nil
	}
	return p.all[0]
}

// component is the component in view; nil for none.
func (p *panels) component() *surface {
	if len(p.components) == 0 {
		return nil
	}
	return p.components[len(p.components)-1]
}

// hasKeys reports whether what is in view has the keys at this moment.
func (q *quiet) hasKeys() bool { return q.ready || q.atOnce }

// open shows a panel: above another one, or if that is nil behind all, where it waits for
// those before it. The caller has the lock.
func (s *screen) open(p terminal.Panel, atOnce bool, above *shownPanel) *shownPanel {
	x := &shownPanel{Panel: p, quiet: quiet{atOnce: atOnce}, done: make(chan struct{})}
	at := len(s.panels.all)
	if i := slices.Index(s.panels.all, above); i >= 0 {
		at = i
		if l, ok := above.Panel.(*list); ok {
			l.waiting = nil // typed before the question was there
		}
	}
	s.panels.all = slices.Insert(s.panels.all, at, x)
	if at == 0 {
		s.view(&x.quiet)
	}
	return x
}

// view starts the time in which what is shown takes no keys, and has the zone painted when
// it does. The caller has the lock.
func (s *screen) view(q *quiet) {
	q.quietFrom = s.now()
	if !q.atOnce {
		time.AfterFunc(quietBefore+time.Millisecond, func() { s.change(func() { s.giveKeys(q) }) })
	}
}

// giveKeys gives the keys to what is shown if none has come for a while. Where the program
// stood still, or the machine is slow, some have come that were not read yet. The caller has
// the lock.
func (s *screen) giveKeys(q *quiet) {
	switch {
	case q.hasKeys() || s.now().Sub(q.quietFrom) < quietBefore:
	case s.keysWait():
		s.view(q)
	default:
		q.ready = true
	}
}

// closePanel removes a panel, and shows the next one. The caller has the lock.
func (s *screen) closePanel(x *shownPanel) {
	i := slices.Index(s.panels.all, x)
	if i < 0 {
		return
	}
	s.panels.all = slices.Delete(s.panels.all, i, i+1)
	s.activity.answered = s.now()
	close(x.done)
	if next := s.panels.top(); i == 0 && next != nil {
		s.view(&next.quiet)
	}
}

// panelKey gives a key to the panel in view. It reports false if there is none, or if it
// does not take keys yet. The caller has the lock.
func (s *screen) panelKey(k terminal.Key) bool {
	x := s.panels.top()
	if x == nil {
		return false
	}
	if !x.hasKeys() {
		s.view(&x.quiet)
		return false
	}
	x.Key(k)
	if x.Done() {
		s.closePanel(x)
	}
	return true
}

// componentKey gives a key to the component in view. It reports false if there is none, or
// if it does not take that key. The caller has the lock.
func (s *screen) componentKey(k terminal.Key) bool {
	x := s.panels.component()
	switch {
	case x == nil || k.Release && !x.options.Releases:
		return false
	case x.hasKeys():
		x.press(k)
		return true
	case !k.Release:
		s.view(&x.quiet)
	}
	return false
}

// initiative is something that the user began with a key: its first question, if it comes
// soon, is what they look for. The lock of the screen guards it.
type initiative struct {
	at    time.Time // of the key
	asked bool      // it has asked a question
}

// asksAtOnce notes a question, and reports whether that has the keys at once. There may be
// no initiative.
func (i *initiative) asksAtOnce(now time.Time) bool {
	if i == nil || i.asked {
		return false
	}
	i.asked = true
	return now.Sub(i.at) < quietBefore
}

// initiativeKey is for the initiative that a context is part of.
type initiativeKey struct{}

// asUser returns a context for what the user began with a key at that time.
func asUser(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, initiativeKey{}, &initiative{at: at})
}

// initiativeOf is that of a context; nil for none.
func initiativeOf(ctx context.Context) *initiative {
	i, _ := ctx.Value(initiativeKey{}).(*initiative)
	return i
}

// surface is a component of a hook that is shown. The component is called on a goroutine
// of its own, since a hook may be slow; what it drew last is shown meanwhile.
type surface struct {
	component agent.Component
	options   agent.SurfaceOptions
	screen    *screen
	unused    func(terminal.Key) // gets the keys that the component does not want

	again  chan struct{} // it is to be drawn again, a buffer of one
	done   chan struct{}
	cancel context.CancelFunc

	mu   sync.Mutex // guards keys
	keys []terminal.Key

	// The lock of the screen guards the rest.
	quiet
	drawing       agent.Drawing
	drawnWidth    int // of the rows of drawing, at most
	width, height int // that there is for it
}

// Custom shows c. The surface is nil if no user can be asked.
func (p *user) Custom(c agent.Component, o agent.SurfaceOptions) (agent.Surface, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	if !p.HasUI() || p.hasEnded() {
		return nil, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &surface{component: c, options: o, screen: p.screen, unused: p.keys.unusedKey,
		again: make(chan struct{}, 1), done: make(chan struct{}), cancel: cancel}
	p.screen.mu.Lock()
	x.width, x.height = p.screen.columns, usualHeight
	ofAgent := p.screen.activity.isOfAgent()
	p.screen.mu.Unlock()
	go func() {
		defer p.closeSurface(x)
		if o.Waits && ofAgent {
			defer p.work.await()()
		}
		if p.term.Plain() {
			p.presentLines(ctx, x)
			return
		}
		x.run(ctx)
	}()
	if !p.term.Plain() {
		p.screen.change(func() {
			if p.screen.closed {
				cancel()
				return
			}
			x.atOnce = p.screen.activity.asksAtOnce(p.screen.now())
			p.screen.view(&x.quiet)
			p.screen.panels.components = append(p.screen.panels.components, x)
			p.tellReleases()
		})
	}
	return x, nil
}

// usualHeight is the height that a component is drawn for before it is known.
const usualHeight = 10

// closeSurface removes a surface that has ended.
func (p *user) closeSurface(x *surface) {
	p.screen.change(func() {
		all := &p.screen.panels.components
		p.screen.activity.answered = p.screen.now()
		*all = slices.DeleteFunc(*all, func(other *surface) bool { return other == x })
		p.tellReleases()
	})
	close(x.done)
	for _, k := range x.takeKeys() { // they were typed behind the one that closed it
		p.keys.key(k)
	}
}

// tellReleases has the terminal tell of released keys if the component in view wants them.
// The caller has the lock of the screen.
func (p *user) tellReleases() {
	c := p.screen.panels.component()
	p.term.Releases(c != nil && c.options.Releases)
}

// run draws the component and gives it keys until ctx ends.
func (x *surface) run(ctx context.Context) {
	show := x.screen.change
	for {
		if !x.draw(ctx, show) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-x.again:
		}
		show = x.screen.change
		for ctx.Err() == nil { // what is typed behind the key that closes it is not its own
			k, ok := x.takeKey()
			if !ok {
				break
			}
			show = x.screen.key
			used := false
			if !unlessEnded(ctx, func() {
				used = x.component.HandleInput(agent.Key{Name: typedName(k), Text: k.Text, Release: k.Release})
			}) {
				return
			}
			if !used && !k.Release {
				x.unused(k)
			}
		}
	}
}

// typedName is the name of a key as hooks know it: a letter that Shift made large is that
// letter.
func typedName(k terminal.Key) string {
	if len([]rune(k.Text)) == 1 && k.Name == "shift+"+strings.ToLower(k.Text) {
		return k.Text
	}
	return k.Name
}

// draw has the component drawn for the room there is, and shows that in one of the ways in
// which the screen is changed: what a key did is painted at once. It reports false if ctx
// ended.
func (x *surface) draw(ctx context.Context, show func(func())) bool {
	x.screen.mu.Lock()
	width, height := x.width, x.height
	x.screen.mu.Unlock()
	var drawing agent.Drawing
	if !unlessEnded(ctx, func() { drawing = x.component.Render(width, height) }) {
		return false
	}
	drawing.Lines = x.screen.palette.Painted(drawing.Lines, width)
	show(func() { x.drawing, x.drawnWidth = drawing, width })
	return ctx.Err() == nil
}

// rows are those of the component, and where its cursor is; row is -1 for nowhere. If
// there is another room than it was drawn for, it is drawn again soon. The caller has
// the lock of the screen.
func (x *surface) rows(width, height int) (rows []string, row, column int) {
	if x.options.Rows > 0 {
		height = min(height, x.options.Rows)
	}
	if width != x.width || height != x.height {
		x.width, x.height = width, height
		x.RequestRender()
	}
	rows = x.drawing.Lines[:min(len(x.drawing.Lines), height)]
	if width < x.drawnWidth {
		cut := make([]string, len(rows))
		for i, row := range rows {
			cut[i] = cells.Cut(row, width)
		}
		rows = cut
	}
	if c := x.drawing.Cursor; c != nil && c.Row < len(rows) {
		return rows, c.Row, min(c.Column, max(0, width-1))
	}
	return rows, -1, 0
}

// press queues a key for the component. Ctrl+C closes it, whatever it is doing.
func (x *surface) press(k terminal.Key) {
	if k.Name == "ctrl+c" && !k.Release {
		x.takeKeys()
		x.cancel()
		return
	}
	x.mu.Lock()
	x.keys = append(x.keys, k)
	x.mu.Unlock()
	x.RequestRender()
}

func (x *surface) takeKey() (k terminal.Key, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.keys) == 0 {
		return k, false
	}
	k, x.keys = x.keys[0], x.keys[1:]
	return k, true
}

// takeKeys removes and returns all keys that the component did not get.
func (x *surface) takeKeys() []terminal.Key {
	x.mu.Lock()
	defer x.mu.Unlock()
	keys := x.keys
	x.keys = nil
	return keys
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

// presentLines shows a component in plain mode: its lines are written anew for each
// typed line and each request, until ctx or the input ends.
func (p *user) presentLines(ctx context.Context, x *surface) {
	d := &plainDialog{prompt: "? ", lines: make(chan string, 1), turn: make(chan struct{}), leave: x.cancel}
	p.plain.add(d)
	defer p.converseEnds(d)
	select {
	case <-d.turn:
	case <-ctx.Done():
		return
	}
	defer p.term.Unprompt()
	for {
		if !x.draw(ctx, x.screen.change) {
			return
		}
		p.screen.printNow(strings.Join(x.drawing.Lines, "\n"))
		p.promptFor(d.prompt)
		select {
		case <-ctx.Done():
			return
		case <-x.again:
		case line := <-d.lines:
			unlessEnded(ctx, func() {
				for _, key := range append(terminal.KeysOf(line), "enter") {
					if ctx.Err() != nil {
						return // one of the keys closed it
					}
					x.component.HandleInput(agent.Key{Name: key})
				}
			})
		}
	}
}

// RequestRender has the component drawn again soon. It does not wait.
func (x *surface) RequestRender() { wake(x.again) }

// Close ends the showing of the component. It does not wait, since the component itself
// may call it.
func (x *surface) Close() { x.cancel() }

// Done is closed when the component is shown no more.
func (x *surface) Done() <-chan struct{} { return x.done }

var _ agent.Surface = (*surface)(nil)
