package repl

import (
	"context"
	"maps"
	"slices"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/pace"
	"pi/repl/terminal"
)

// Hooks show lines around the line: some that stand as they are, others that they draw for the
// width that there is.

// widgetLines is how many lines of one widget, header or footer are shown.
const widgetLines = 20

// widget is what a hook shows at a place under a key: lines, or what draws itself.
type widget struct {
	lines []string
	drawn *drawn // nil: lines
}

// widgets are those that hooks show, by place and key.
type widgets struct {
	each map[agent.Place]map[string]widget
	plan plan
}

// set sets what is shown under a key, and ends what was drawn there.
func (w *widgets) set(place agent.Place, key string, now widget) {
	if before := w.each[place][key].drawn; before != nil {
		before.end()
	}
	if now.lines == nil && now.drawn == nil {
		delete(w.each[place], key)
		return
	}
	if w.each == nil {
		w.each = map[agent.Place]map[string]widget{}
	}
	if w.each[place] == nil {
		w.each[place] = map[string]widget{}
	}
	w.each[place][key] = now
}

// rows are those of a place, in the order of their keys.
func (w *widgets) rows(p terminal.Palette, columns int, place agent.Place) (rows []string) {
	for _, key := range slices.Sorted(maps.Keys(w.each[place])) {
		switch x := w.each[place][key]; {
		case x.drawn != nil:
			rows = append(rows, x.drawn.rows(columns)...)
		default:
			rows = append(rows, drawnLines(p, x.lines, columns)...)
		}
	}
	return rows
}

// redraw has what draws itself drawn anew, because what it is told of has changed.
func (w *widgets) redraw() {
	for _, place := range w.each {
		for _, x := range place {
			if x.drawn != nil {
				wake(x.drawn.again)
			}
		}
	}
}

// end ends what is drawn, for good.
func (w *widgets) end() {
	for _, place := range w.each {
		for _, x := range place {
			if x.drawn != nil {
				x.drawn.end()
			}
		}
	}
}

// drawnLines are the lines of a hook as rows, not too many of them.
func drawnLines(p terminal.Palette, lines []string, columns int) []string {
	rows := p.Painted(lines, columns)
	return rows[:min(len(rows), widgetLines)]
}

// drawn is a widget, header or footer that a hook draws for the width. It is drawn on a
// goroutine of its own, since a hook may be slow; what it drew last is shown meanwhile.
type drawn struct {
	drawer agent.Drawer
	again  chan struct{} // it is to be drawn again, a buffer of one
	end    context.CancelFunc

	// The lock of the screen guards the rest.
	width      int // that there is; 0: nobody has looked yet
	drawnRows  []string
	drawnWidth int // for which they were drawn
}

// newDrawn makes one that is drawn as soon as it is in view, until its end.
func newDrawn(s *screen, d agent.Drawer) *drawn {
	ctx, cancel := context.WithCancel(context.Background())
	x := &drawn{drawer: d, again: make(chan struct{}, 1), end: cancel}
	go x.run(ctx, s)
	return x
}

// rows are those that were drawn last. For another width they are drawn anew soon. The caller
// has the lock of the screen.
func (x *drawn) rows(columns int) []string {
	if columns != x.width {
		x.width = columns
		wake(x.again)
	}
	if columns >= x.drawnWidth {
		return x.drawnRows
	}
	cut := make([]string, len(x.drawnRows))
	for i, row := range x.drawnRows {
		cut[i] = cells.Cut(row, columns)
	}
	return cut
}

// run draws whenever that is asked for, but not too often, until ctx ends.
func (x *drawn) run(ctx context.Context, s *screen) {
	slow := pace.New(drawPause, func(struct{}) { x.draw(ctx, s) })
	defer slow.Stop()
	for {
		select {
		case <-x.again:
		case <-x.drawer.Asked():
		case <-ctx.Done():
			return
		}
		slow.Put(struct{}{})
	}
}

// draw draws it once, if it is in view, unless ctx ends.
func (x *drawn) draw(ctx context.Context, s *screen) {
	s.mu.Lock()
	width, around := x.width, agent.Surroundings{Branch: s.status.branch, Statuses: maps.Clone(s.status.hooks)}
	s.mu.Unlock()
	if width == 0 || ctx.Err() != nil {
		return
	}
	var lines []string
	if unlessEnded(ctx, func() { lines = x.drawer.Draw(width, around) }) {
		s.change(func() {
			x.drawnRows, x.drawnWidth = drawnLines(s.palette, lines, width), width
		})
	}
}

// SetDrawer sets what draws the lines under a key in a place; nil removes what is there.
func (p *user) SetDrawer(place agent.Place, key string, d agent.Drawer) {
	p.screen.change(func() {
		now := widget{}
		if d != nil && !p.screen.closed {
			now.drawn = newDrawn(p.screen, d)
		}
		p.screen.widgets.set(place, key, now)
	})
}

// HideStatus has the status line go, or come back.
func (p *user) HideStatus(hidden bool) {
	p.screen.change(func() { p.screen.status.hidden = hidden })
}

var _ agent.Wide = (*user)(nil)
