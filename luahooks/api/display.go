package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/suggest"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// display is what a hook shows outside of the transcript. It is removed with the
// hook's VM.
type display struct {
	*bridge
	data *lua.LTable // the metatable of what functions that draw are told

	mu      sync.Mutex // guards what follows
	shown   map[string]func(ui agent.UI, on bool)
	drawers map[string]*drawer // of those that draw themselves, by the same names
}

// newDisplay makes one for a VM, inside of no job.
func newDisplay(b *bridge) *display {
	names := []string{"branch", "statuses", "providers"}
	d := &display{bridge: b}
	d.data = b.vm.Strict(&luavm.Fields{Of: "data", Names: func() []string { return names }, Live: d.liveData})
	return d
}

// Places is what all hooks show, by place. Where several show something in the same one,
// such as the title, the last is seen, and when that is taken away the one before. The zero
// value is ready.
type Places struct {
	mu      sync.Mutex // guards all
	all     map[string][]placed
	desktop desktop
}

// placed is what a hook shows in a place; show shows it, or takes it away.
type placed struct {
	by   *display
	show func(ui agent.UI, on bool)
}

// put has a hook show something in a place, or without on take it away.
func (p *Places) put(ui agent.UI, place string, x placed, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all[place]
	seen := len(all) > 0 && all[len(all)-1].by == x.by
	all = slices.DeleteFunc(all, func(other placed) bool { return other.by == x.by })
	switch {
	case on:
		all = append(all, x)
		x.show(ui, true)
	case len(all) == 0:
		x.show(ui, false)
	case seen:
		all[len(all)-1].show(ui, true)
	}
	if p.all == nil {
		p.all = map[string][]placed{}
	}
	p.all[place] = all
	if len(all) == 0 {
		delete(p.all, place)
	}
}

// The most that a hook can show at one place; the front end shows as much of it as there
// is room for.
const (
	mostLines  = 200
	mostFrames = 60
	mostText   = 4096 // bytes of a line, a status or a title

	// usualFrame is how long a frame of an indicator stays, and shortestFrame how long at least.
	usualFrame    = 250 * time.Millisecond
	shortestFrame = 80 * time.Millisecond
)

func (d *display) part() part {
	return part{"notify": d.notice, "set_widget": d.setWidget, "set_status": proc{d.setStatus}, "set_plan": d.setPlan,
		"set_header": d.setHeader, "set_footer": d.setFooter, "copy": d.copy, "notify_desktop": d.notifyDesktop,
		"set_title": d.text("set_title", "title", agent.UI.SetTitle), "set_working_indicator": d.setIndicator,
		"set_working_message": proc{d.setWorking},
		"get_editor_text":     func(L *lua.LState) string { return d.front(L, "get_editor_text").EditorText() },
		"set_editor_text":     proc{func(L *lua.LState, text string) { d.front(L, "set_editor_text").SetEditorText(text) }}}
}

// front returns the front end. It raises before there is a session, which brings the front
// end with it.
func (d *display) front(L *lua.LState, function string) agent.UI {
	d.mustHost(L, function)
	return d.UI()
}

// notice is ctx.ui.notify(text, level?): it shows a text to the user; level is info,
// warning or error.
func (d *display) notice(L *lua.LState) int {
	text, level := L.CheckString(1), agent.Level(L.OptString(2, string(agent.LevelInfo)))
	switch level {
	case agent.LevelInfo, agent.LevelWarning, agent.LevelError:
	default:
		luavm.RaiseArg(L, 2, "notify", "info, warning or error expected, got %q", string(level))
	}
	_ = d.wait(L, "notify", func(ctx context.Context) error {
		d.tell(ctx, level, text)
		return nil
	})
	return 0
}

// tell shows a text where the hook's user is; without one it is a notice like any other.
func (d *display) tell(ctx context.Context, level agent.Level, text string) {
	if ui := d.UI(); ui != nil && ui.HasUI() {
		ui.Notify(text, level)
		return
	}
	d.Notify(ctx, level, text)
}

// setStatus is ctx.ui.set_status(key, text?): it shows a short text under a key, in place of
// the one that the key had; nil removes that.
func (d *display) setStatus(L *lua.LState, key string, text *string) error {
	d.front(L, "set_status")
	if key == "" {
		return luavm.Misusef("the key is empty")
	}
	d.show("status "+key, textOf(text) != "", func(ui agent.UI, on bool) {
		ui.SetStatus(key, only(on, cutText(textOf(text))))
	})
	return nil
}

// setWidget is ctx.ui.set_widget(key, lines or fn?, {place?}): it shows lines under a key, or
// what a function draws, in place of what the key had; nil removes that.
func (d *display) setWidget(L *lua.LState) int {
	d.front(L, "set_widget")
	key, place := L.CheckString(1), string(agent.Above)
	luavm.Unpack(L, 3, "set_widget", luavm.Opt("place", &place))
	if key == "" {
		luavm.RaiseArg(L, 1, "set_widget", "the key is empty")
	}
	checkOneOf(L, "set_widget", "place", place, []string{string(agent.Above), string(agent.Below)})
	other := agent.Above
	if place == string(agent.Above) {
		other = agent.Below
	}
	elsewhere := d.isShown(widgetName(other, key))
	if elsewhere {
		d.showLines(other, key, nil)
	}
	if L.Get(2) != lua.LNil || !elsewhere {
		d.showContent(L, 2, "set_widget", agent.Place(place), key)
	}
	return 0
}

// setHeader is ctx.ui.set_header(lines or fn?). Each hook has a header of its own; those of
// several are shown together.
func (d *display) setHeader(L *lua.LState) int {
	d.front(L, "set_header")
	d.showContent(L, 1, "set_header", agent.Header, d.Hook.Name)
	return 0
}

// setFooter is ctx.ui.set_footer(lines or fn?, {status?}), likewise. With status = false the
// footer stands in the place of the status line, which goes.
func (d *display) setFooter(L *lua.LState) int {
	d.front(L, "set_footer")
	status := true
	luavm.Unpack(L, 2, "set_footer", luavm.Opt("status", &status))
	d.showContent(L, 1, "set_footer", agent.Footer, d.Hook.Name)
	d.hideStatus(!status && L.Get(1) != lua.LNil)
	return 0
}

// hideStatus has the status line go, or no longer.
func (d *display) hideStatus(hidden bool) {
	if !hidden && !d.isShown(noStatus) {
		return
	}
	d.show(noStatus, hidden, func(ui agent.UI, on bool) {
		if wide, ok := ui.(agent.Wide); ok {
			wide.HideStatus(on)
		}
	})
}

const noStatus = "no status"

func widgetName(place agent.Place, key string) string { return "widget " + key + " " + string(place) }

// showContent shows the n-th argument of a function at a place under a key: lines, or what a
// function draws; nil removes what is there.
func (d *display) showContent(L *lua.LState, n int, function string, place agent.Place, key string) {
	fn, draws := L.Get(n).(*lua.LFunction)
	if !draws {
		d.showLines(place, key, linesArgument(L, n, function))
		return
	}
	x := d.newDrawer(L, place, key, fn)
	d.mu.Lock()
	defer d.mu.Unlock()
	name := widgetName(place, key)
	d.showLocked(name, true, x.show)
	if d.shown[name] != nil {
		d.drawers[name] = x
	}
}

// takeAway removes a drawer, unless something else is shown in its place by now.
func (d *display) takeAway(x *drawer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name := widgetName(x.place, x.key); d.drawers[name] == x {
		d.showLocked(name, false, x.show)
		if hides := d.shown[noStatus]; hides != nil && x.place == agent.Footer {
			d.showLocked(noStatus, false, hides)
		}
	}
}

// showLines shows lines at a place under a key; nil removes them.
func (d *display) showLines(place agent.Place, key string, lines []string) {
	d.show(widgetName(place, key), lines != nil, func(ui agent.UI, on bool) {
		if on {
			ui.SetWidget(place, key, lines)
		} else {
			ui.SetWidget(place, key, nil)
		}
	})
}

// mostSteps is how many steps a plan has at most, and mostStep how long one is, in bytes.
const (
	mostSteps = 200
	mostStep  = 500
)

// setPlan is ctx.ui.set_plan{ {content, status, priority?} … }: it shows a plan in place of
// the one before; an empty list, or nil, takes it away.
func (d *display) setPlan(L *lua.LState) int {
	d.front(L, "set_plan")
	plan := planArgument(L)
	d.show("plan", len(plan) > 0, func(ui agent.UI, on bool) {
		if on {
			ui.SetPlan(plan)
		} else {
			ui.SetPlan(nil)
		}
	})
	return 0
}

// planArgument reads the steps of set_plan. It raises for one that is not right, by its
// number.
func planArgument(L *lua.LState) (plan []agent.PlanItem) {
	list, ok := L.Get(1).(*lua.LTable)
	if !ok && L.Get(1) != lua.LNil {
		luavm.RaiseArg(L, 1, "set_plan", "list of {content, status, priority} expected, got %s", L.Get(1).Type())
	}
	if list == nil {
		return nil
	}
	n, err := luavm.ListLen(L, list)
	must(L, "set_plan", err)
	if k, _ := list.Next(lua.LNil); n == 0 && k != lua.LNil {
		luavm.RaiseArg(L, 1, "set_plan", "list of steps expected, got one step or a table without a list")
	}
	if n > mostSteps {
		luavm.Raise(L, "set_plan: a plan has at most %d steps, not %d", mostSteps, n)
	}
	for i := 1; i <= n; i++ {
		step, ok := list.RawGetInt(i).(*lua.LTable)
		if !ok {
			luavm.Raise(L, "set_plan: step %d must be {content, status, priority}, not a %s", i, list.RawGetInt(i).Type())
		}
		plan = append(plan, planItem(L, fmt.Sprintf("set_plan: step %d", i), step))
	}
	return plan
}

// planItem reads one step; name is how messages call it.
func planItem(L *lua.LState, name string, t *lua.LTable) (item agent.PlanItem) {
	item.Status = agent.PlanStatuses()[0]
	luavm.UnpackTable(L, t, name, luavm.Opt("content", &item.Content).Required(), luavm.Opt("status", &item.Status),
		luavm.Opt("priority", &item.Priority))
	checkOneOf(L, name, "status", item.Status, agent.PlanStatuses())
	if item.Priority != "" {
		checkOneOf(L, name, "priority", item.Priority, agent.PlanPriorities())
	}
	if strings.TrimSpace(item.Content) == "" {
		luavm.Raise(L, "%s: the content is empty", name)
	}
	if len(item.Content) > mostStep {
		item.Content = strings.ToValidUTF8(item.Content[:mostStep], "") + "…"
	}
	return item
}

// text makes ctx.ui.set_title(text?) or set_working_message(text?); nil is the usual one.
func (d *display) text(function, name string, set func(ui agent.UI, text string)) proc {
	return proc{func(L *lua.LState, text *string) {
		d.front(L, function)
		d.show(name, textOf(text) != "", func(ui agent.UI, on bool) { set(ui, only(on, cutText(textOf(text)))) })
	}}
}

// setWorking is ctx.ui.set_working_message(text?): nil is the usual one, and with false nothing is
// shown while the agent works.
func (d *display) setWorking(L *lua.LState, text lua.LValue) error {
	d.front(L, "set_working_message")
	shown, isText := text.(lua.LString)
	if !isText && text != lua.LNil && text != lua.LFalse {
		return luavm.Misusef("bad argument #1 (string, false or nil expected, got %s)", text.Type())
	}
	d.show("working", shown != "", func(ui agent.UI, on bool) { ui.SetWorking(only(on, cutText(string(shown)))) })
	if text != lua.LFalse && !d.isShown(noWorking) {
		return nil
	}
	d.show(noWorking, text == lua.LFalse, func(ui agent.UI, on bool) {
		if hider, ok := ui.(agent.Hider); ok {
			hider.HideWorking(on)
		}
	})
	return nil
}

const noWorking = "no working"

// setIndicator is ctx.ui.set_working_indicator({frames, ms?}?); nil is the usual one.
func (d *display) setIndicator(L *lua.LState) int {
	d.front(L, "set_working_indicator")
	var frames []string
	every := usualFrame
	if L.Get(1) != lua.LNil {
		luavm.Unpack(L, 1, "set_working_indicator", luavm.Opt("frames", &frames).Required(), luavm.Opt("ms", &every))
		if len(frames) == 0 || len(frames) > mostFrames {
			luavm.Raise(L, "set_working_indicator: option \"frames\" must have 1 to %d texts", mostFrames)
		}
		if every <= 0 {
			luavm.Raise(L, "set_working_indicator: option \"ms\" must be a positive number of milliseconds")
		}
	}
	d.show("indicator", frames != nil, func(ui agent.UI, on bool) {
		if on {
			ui.SetIndicator(cutLines(frames), max(every, shortestFrame))
		} else {
			ui.SetIndicator(nil, 0)
		}
	})
	return 0
}

// show calls set, which shows something or, without on, takes it away, and records under its
// name that clear has to take it away. After the end of the VM it does nothing.
func (d *display) show(name string, on bool, set func(ui agent.UI, on bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.showLocked(name, on, set)
}

// showLocked is show for a caller who has the lock.
func (d *display) showLocked(name string, on bool, set func(ui agent.UI, on bool)) {
	if d.Life.Err() != nil {
		return
	}
	if d.shown == nil {
		d.shown, d.drawers = map[string]func(agent.UI, bool){}, map[string]*drawer{}
	}
	delete(d.shown, name)
	delete(d.drawers, name)
	if on {
		d.shown[name] = set
	}
	d.Places.put(d.UI(), name, placed{d, set}, on)
}

func (d *display) isShown(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown[name] != nil
}

// clear takes away everything that the hook shows.
func (d *display) clear() {
	ui := d.UI()
	d.mu.Lock()
	shown := d.shown
	d.shown = nil
	d.mu.Unlock()
	if ui == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		d.Places.put(ui, name, placed{d, shown[name]}, false)
	}
}

// linesArgument reads the n-th argument of a function, a list of lines; nil for nil. What
// is beyond the limits is cut off.
func linesArgument(L *lua.LState, n int, function string) []string {
	v := L.Get(n)
	if v == lua.LNil {
		return nil
	}
	list, ok := luavm.Strings(L, v)
	if !ok {
		luavm.RaiseArg(L, n, function, "list of lines or a function that draws them expected, got %s", v.Type())
	}
	return cutLines(list)
}

// cutLines cuts lines to mostLines, each to mostText.
func cutLines(lines []string) []string {
	cut := make([]string, 0, min(len(lines), mostLines))
	for _, line := range lines[:min(len(lines), mostLines)] {
		cut = append(cut, cutText(line))
	}
	return cut
}

func cutText(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "")
}

// only is text if on is set, else "".
func only(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

// checkOneOf raises unless the value of an option is one of those that it can have.
func checkOneOf(L *lua.LState, function, option, value string, values []string) {
	if !slices.Contains(values, value) {
		luavm.Raise(L, "%s: option %q must be one of %s, not %q%s", function, option, strings.Join(values, ", "), value, suggest.Hint(value, values))
	}
}
