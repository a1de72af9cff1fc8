package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// The limits of functions that draw: they are called while a user looks at the screen.
const (
	drawTime   = 50 * time.Millisecond // of one drawing
	mostLate   = 3                     // drawings one after the other that may take longer; then it is taken away
	edgeRows   = 8                     // of a header or a footer
	widgetRows = 10
)

// drawer is a function of a hook that draws lines at a place, for the width that there is; it
// is an [agent.Drawer]. The function is called in jobs of the hook's VM.
type drawer struct {
	home    *display
	place   agent.Place
	key     string
	fn      *lua.LFunction
	surface *lua.LTable // what fn gets beside the width and the data
	asked   chan struct{}

	// Only Draw uses what follows, which is called once at a time.
	drawn []string
	late  int // drawings up to now, one after the other
}

// drawerKey is in the Go context of a function that draws.
type drawerKey struct{}

// newDrawer makes a drawer of the function of a hook.
func (d *display) newDrawer(L *lua.LState, place agent.Place, key string, fn *lua.LFunction) *drawer {
	x := &drawer{home: d, place: place, key: key, fn: fn, asked: make(chan struct{}, 1)}
	surface := luavm.NewRecord(L, 1)
	d.add(surface, part{"request_render": proc{x.requestRender}})
	x.surface = d.vm.StrictTable("surface", surface)
	return x
}

// requestRender is surface.request_render(), which has the lines drawn anew soon, and once for
// many calls.
func (x *drawer) requestRender() {
	select {
	case x.asked <- struct{}{}:
	default:
	}
}

// Asked is that of [agent.Drawer].
func (x *drawer) Asked() <-chan struct{} { return x.asked }

// show shows the drawer or takes it away. A front end without a width has nothing in its place.
func (x *drawer) show(ui agent.UI, on bool) {
	if wide, ok := ui.(agent.Wide); ok && on {
		wide.SetDrawer(x.place, x.key, x)
		return
	}
	ui.SetWidget(x.place, x.key, nil)
}

// Draw calls the function and returns its lines. Of one that takes too long they are those from
// before, and it is tried again soon. The third time in a row, and where it raises, it is taken
// away, for it would fail again each time.
func (x *drawer) Draw(width int, s agent.Surroundings) []string {
	ctx := context.WithValue(x.home.Life, drawerKey{}, true)
	lines, err := x.home.jobs.drawWithin(ctx, drawTime, x.name(), func(L *lua.LState) lua.LValue {
		return callLua(L, x.fn, lua.LNumber(width), x.surface, x.home.surroundings(L, s))
	})
	failed, _ := errors.AsType[*luavm.Error](err)
	isLate := failed != nil && failed.Kind == luavm.Timeout
	switch {
	case err == nil:
		x.late, x.drawn = 0, cutLines(lines[:min(len(lines), x.rows())])
	case IsReplaced(err) || ctx.Err() != nil:
	case isLate && x.late+1 < mostLate:
		x.late++
		x.requestRender()
	default:
		if isLate {
			err = fmt.Errorf("%d drawings in a row took longer than %v, so it is taken away until it is set again; draw what handlers have worked out before", mostLate, drawTime)
		}
		x.drawn = nil
		x.home.takeAway(x)
		x.home.Owner.Failed(ctx, x.name(), x.fn, placedIn(x.fn, err), Everybody)
	}
	return x.drawn
}

// placedIn is an error of a function with the place of that, unless Lua raised it at a line.
func placedIn(fn *lua.LFunction, err error) error {
	raised, _ := errors.AsType[*luavm.Error](err)
	source := luavm.SourceOf(fn)
	if raised != nil && raised.Where != "" || source.IsG {
		return err
	}
	return fmt.Errorf("%s:%d: %w", source.Proto.SourceName, source.Proto.LineDefined, err)
}

// name is what messages call it.
func (x *drawer) name() string {
	if x.place == agent.Header || x.place == agent.Footer {
		return string(x.place)
	}
	return "widget " + x.key
}

// rows is how many rows it has at most.
func (x *drawer) rows() int {
	if x.place == agent.Header || x.place == agent.Footer {
		return edgeRows
	}
	return widgetRows
}

// surroundings is what a function that draws is told of what else is there: {branch?, statuses,
// providers}.
func (d *display) surroundings(L *lua.LState, s agent.Surroundings) *lua.LTable {
	statuses := luavm.NewRecord(L, len(s.Statuses))
	for key, text := range s.Statuses {
		luavm.Set(statuses, key, lua.LString(text))
	}
	t := luavm.NewRecord(L, 2)
	luavm.SetText(t, "branch", s.Branch)
	luavm.Set(t, "statuses", statuses)
	t.Metatable = d.data
	return t
}

// liveData reads what is not stored in the table of surroundings: the number of providers is
// counted only where it is shown, since whether each has a key is looked up in a file.
func (d *display) liveData(_ *lua.LState, name string) (v lua.LValue, ok bool, err error) {
	if name != "providers" {
		return nil, false, nil
	}
	return lua.LNumber(d.Host().Models().CountUsable()), true, nil // there is a host where something is shown
}
