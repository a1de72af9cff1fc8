package hooktest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"pi/agent"
	"pi/internal/githead"
	"pi/luavm"
)

// desk is what the user of a case has around the line being typed, and beside the terminal. The
// zero value is an empty one.
type desk struct {
	mu             sync.Mutex // guards all
	title, working string
	hidden         bool // nothing is shown while the agent works
	widgets        map[agent.Place]map[string]widget
	inFront        bool // the terminal has told that its window is
	quiet          bool // [ui] notify is off
	copied         []string
	told           []desktopNotice
}

// widget is what a hook shows under a key: lines, or what draws itself.
type widget struct {
	lines  []string
	drawer agent.Drawer // nil: lines
}

// desktopNotice is what a user is told who looks at another window.
type desktopNotice struct{ title, body string }

// set shows something under a key in a place, or nothing any more.
func (d *desk) set(place agent.Place, key string, w widget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.widgets == nil {
		d.widgets = map[agent.Place]map[string]widget{}
	}
	if d.widgets[place] == nil {
		d.widgets[place] = map[string]widget{}
	}
	d.widgets[place][key] = w
	if w.lines == nil && w.drawer == nil {
		delete(d.widgets[place], key)
	}
}

// at returns what is shown in a place, in the order of the keys; of one key unless that is "".
func (d *desk) at(place agent.Place, key string) (all []widget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(d.widgets[place])) {
		if key == "" || key == k {
			all = append(all, d.widgets[place][k])
		}
	}
	return all
}

// change changes the desk.
func (d *desk) change(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// SetWidget remembers the lines of a widget as read.
func (p *user) SetWidget(place agent.Place, key string, lines []string) {
	for _, line := range lines {
		p.witness.add(line)
	}
	p.desk.set(place, key, widget{lines: slices.Clone(lines)})
}

// SetDrawer remembers what draws itself; the case has it drawn.
func (p *user) SetDrawer(place agent.Place, key string, d agent.Drawer) {
	p.desk.set(place, key, widget{drawer: d})
}

// Can reports that the user of a case has all but a terminal to lend; where nobody is there,
// nothing shows a component.
func (p *user) Can(a agent.Ability) bool {
	return a != agent.CanRun && (a != agent.CanCustom || p.HasUI())
}

// HideStatus has nothing to hide.
func (*user) HideStatus(bool) {}

// SetTitle remembers the name of the window.
func (p *user) SetTitle(text string) { p.desk.change(func() { p.desk.title = text }) }

// SetWorking remembers what is shown while the agent works.
func (p *user) SetWorking(text string) { p.desk.change(func() { p.desk.working = text }) }

// HideWorking remembers that nothing is shown while the agent works.
func (p *user) HideWorking(hidden bool) {
	p.desk.change(func() { p.desk.hidden = hidden })
}

// Copy remembers a text as copied.
func (p *user) Copy(_ context.Context, text string) (way string, err error) {
	p.desk.change(func() { p.desk.copied = append(p.desk.copied, text) })
	return "pi test", nil
}

// NotifyDesktop remembers a notice.
func (p *user) NotifyDesktop(title, body string) (err error) {
	p.desk.change(func() {
		switch {
		case p.desk.quiet:
			err = errors.New("[ui] notify is off")
		case p.desk.inFront:
			err = errors.New("the terminal is in front")
		default:
			p.desk.told = append(p.desk.told, desktopNotice{title, body})
		}
	})
	return err
}

var (
	_ agent.Wide = (*user)(nil)
	_ agent.Desk = (*user)(nil)
)

// working is t.working() → text, false for nothing, or nil for the usual one.
func (f *file) working(L *lua.LState) (shown lua.LValue) {
	d := &f.current(L, "working").stage.user.desk
	d.change(func() {
		switch {
		case d.hidden:
			shown = lua.LFalse
		case d.working == "":
			shown = lua.LNil
		default:
			shown = lua.LString(d.working)
		}
	})
	return shown
}

// onDesk are the functions that tell what is around the line and beside the terminal.
func (f *file) onDesk() functions {
	text := func(function string, of func(d *desk) string) func(L *lua.LState) *string {
		return func(L *lua.LState) (text *string) {
			d := &f.current(L, function).stage.user.desk
			d.change(func() {
				if now := of(d); now != "" {
					text = &now
				}
			})
			return text
		}
	}
	return functions{
		"title":   text("title", func(d *desk) string { return d.title }),
		"working": f.working,
		"header":  func(L *lua.LState, width *int) []string { return f.drawn(L, "header", "", width, agent.Header) },
		"footer":  func(L *lua.LState, width *int) []string { return f.drawn(L, "footer", "", width, agent.Footer) },
		"widget": func(L *lua.LState, key string, width *int) lua.LValue {
			if lines := f.drawn(L, "widget", key, width, agent.Above, agent.Below); lines != nil {
				return luavm.NewList(L, len(lines), func(i int) lua.LValue { return lua.LString(lines[i]) })
			}
			return lua.LNil
		},
		"focus": f.focus,
		"copied": func(L *lua.LState) (copied []string) {
			d := &f.current(L, "copied").stage.user.desk
			d.change(func() { copied = slices.Clone(d.copied) })
			return copied
		},
		"desktop": func(L *lua.LState) lua.LValue {
			d := &f.current(L, "desktop").stage.user.desk
			var told []desktopNotice
			d.change(func() { told = slices.Clone(d.told) })
			return luavm.NewList(L, len(told), func(i int) lua.LValue {
				t := luavm.NewRecord(L, 2)
				luavm.Set(t, "title", lua.LString(told[i].title))
				luavm.Set(t, "body", lua.LString(told[i].body))
				return t
			})
		},
	}
}

// drawn is what is shown in places as it is drawn for a width, of one key unless that is "".
func (f *file) drawn(L *lua.LState, function, key string, width *int, places ...agent.Place) (lines []string) {
	columns := viewWidth
	if width != nil {
		columns = *width
	}
	if columns < 1 {
		luavm.Raise(L, "t.%s: the width is a positive number", function)
	}
	_ = f.wait(L, function, func(_ context.Context, s *scene) error {
		around := agent.Surroundings{Branch: githead.Branch(s.stage.project), Statuses: s.stage.witness.statuses()}
		for _, place := range places {
			for _, w := range s.stage.user.desk.at(place, key) {
				if w.drawer != nil {
					w.lines = drawnLines(w.drawer, columns, around)
				}
				lines = append(lines, w.lines...)
			}
		}
		return nil
	})
	return lines
}

// mostDrawings is how often something is drawn that asks for another drawing each time.
const mostDrawings = 3

// drawnLines are what a drawer draws, once more if it asks for that, as a terminal would soon.
func drawnLines(d agent.Drawer, columns int, around agent.Surroundings) (lines []string) {
	for range mostDrawings {
		lines = d.Draw(columns, around)
		select {
		case <-d.Asked():
		default:
			return lines
		}
	}
	return lines
}

// focus is t.focus(focused): the window of the terminal comes to the front, or another one does.
func (f *file) focus(L *lua.LState, focused bool) {
	f.open(L, "focus")
	_ = f.wait(L, "focus", func(ctx context.Context, s *scene) error {
		s.stage.user.desk.change(func() { s.stage.user.desk.inFront = focused })
		s.stage.run.Agent().TellFocus(ctx, focused)
		if !s.stage.run.Agent().IsIdle() { // the model is answering, and the test says when
			return nil
		}
		return s.stage.finish(ctx)
	})
}
