package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/agent"

	lua "github.com/yuin/gopher-lua"
)

// labUI is a person who says yes, and a screen.
type labUI struct {
	agent.NoUI
	shown   []string
	custom  agent.Component
	done    chan struct{}
	closing sync.Once
}

func (u *labUI) HasUI() bool { return true }
func (u *labUI) Confirm(context.Context, string, string, agent.DialogOptions) (agent.Answer, error) {
	return agent.Yes, nil
}
func (u *labUI) SetStatus(key, text string) { u.shown = append(u.shown, key+"="+text) }
func (u *labUI) SetWidget(_ agent.Place, key string, l []string) {
	u.shown = append(u.shown, fmt.Sprint(key, l))
}
func (u *labUI) SetWorking(text string)                { u.shown = append(u.shown, "working "+text) }
func (u *labUI) Background(name, text string) string   { return "[" + name + "]" + text }
func (u *labUI) RGB(r, g, b uint8, text string) string { return fmt.Sprint(r, g, b, text) }
func (u *labUI) Theme() agent.Theme                    { return u }
func (u *labUI) Paint(style, text string) string       { return "<" + style + ">" + text }
func (u *labUI) RequestRender()                        {}
func (u *labUI) Done() <-chan struct{}                 { return u.done }
func (u *labUI) Close()                                { u.closing.Do(func() { close(u.done) }) }
func (u *labUI) Custom(c agent.Component, _ agent.SurfaceOptions) (agent.Surface, error) {
	u.custom = c
	return u, nil
}

// labDialogs are asked at once.
type labDialogs struct{ open bool }

func (d labDialogs) IsOpen() bool { return d.open }
func (d labDialogs) Ask(ctx context.Context, _, _ string, f func(context.Context) error) error {
	return f(ctx)
}

func TestDialogsNeedAPerson(t *testing.T) {
	var ui agent.UI
	l := newLab(t, func(l *lab) part {
		return (&dialogs{bridge: l.bridge, ui: func() agent.UI { return ui }, open: labDialogs{}}).part()
	})
	l.want("false", `return api.confirm("sure?")`)
	l.want("nil", `return api.input("name?")`)
	ui = &labUI{}
	l.want("true", `return api.confirm("sure?")`)
	l.want("error: a list of values such as a table", `api.select("which?", { {} })`)
	l.want("error: must be a positive number", `api.confirm("sure?", "", { timeout = -1 })`)
	if !slices.Equal(l.program.did, []string{"a person true"}) {
		t.Errorf("the program did %q", l.program.did)
	}
}

func TestWhatIsShownEndsWithTheVM(t *testing.T) {
	ui := &labUI{}
	var d *display
	l := newLab(t, func(l *lab) part {
		d = &display{bridge: l.bridge, ui: func() agent.UI { return ui }, life: l.jobs.life}
		return d.part()
	})
	l.want("nil", `api.set_status("a", "on") api.set_status("b", "on") api.set_status("b") api.set_widget("w", { "1" }) api.set_working_message("busy")`)
	l.want("error: the key is empty", `api.set_status("", "x")`)
	ui.shown = nil
	l.end()
	d.clear()
	l.want("nil", `api.set_status("late", "x")`)
	if want := []string{"a=", "w[]", "working "}; !slices.Equal(ui.shown, want) {
		t.Errorf("taken back %q, want %q", ui.shown, want)
	}
}

func TestAComponentDrawsAndEndsWhenItFails(t *testing.T) {
	ui := &labUI{done: make(chan struct{})}
	l := newLab(t, func(l *lab) part {
		d := &dialogs{bridge: l.bridge, ui: func() agent.UI { return ui }, open: labDialogs{}}
		return (&components{bridge: l.bridge, dialogs: d, jobs: l.jobs}).part()
	})
	l.want("nil", `local key = "none"
		api.custom{ render = function(width) if key == "x" then error("broken") end return key .. width end, handle_input = function(k) key = k end }`)
	if got := ui.custom.Render(9, 9).Lines; !slices.Equal(got, []string{"none9"}) {
		t.Errorf("drawn %q", got)
	}
	ui.custom.HandleInput(agent.Key{Name: "x"})
	if got := ui.custom.Render(9, 9).Lines; got != nil {
		t.Errorf("drawn %q", got)
	}
	<-ui.done
	if got := l.owner.reports(); !strings.Contains(got, "render of a component failed for 2") {
		t.Errorf("the owner heard %q", got)
	}
}

func TestTheThemePaintsForTheFrontEndThatIsThere(t *testing.T) {
	var ui agent.UI
	l := newLab(t, func(l *lab) part {
		th := &theme{bridge: l.bridge, ui: func() agent.UI { return ui }}
		_ = l.job(func(L *lua.LState) { th.open(L) })
		return part{"theme": func() *lua.LTable { return th.table }}
	})
	l.want("x", `return api.theme().bold("x")`)
	ui = &labUI{}
	l.want("<error>x", `return api.theme().fg("error", "x")`)
	l.want("error: unknown colour", `api.theme().fg("erorr", "x")`)
}
