package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/session"

	lua "github.com/yuin/gopher-lua"
)

// labUI is a user who says yes, and a screen.
type labUI struct {
	agent.NoUI
	shown   []string
	custom  agent.Component
	done    chan struct{}
	closing sync.Once
	eager   bool // draws a component before it says where that is shown
	notices []string
}

func (u *labUI) HasUI() bool { return true }
func (u *labUI) Confirm(context.Context, string, string, agent.DialogOptions) (agent.Answer, error) {
	return agent.Yes, nil
}
func (u *labUI) Notify(text string, _ agent.Level) { u.notices = append(u.notices, text) }
func (u *labUI) SetStatus(key, text string)        { u.shown = append(u.shown, key+"="+text) }
func (u *labUI) SetWidget(_ agent.Place, key string, l []string) {
	u.shown = append(u.shown, fmt.Sprint(key, l))
}
func (u *labUI) SetWorking(text string)                  { u.shown = append(u.shown, "working "+text) }
func (u *labUI) Background(name, text string) string     { return "[" + name + "]" + text }
func (u *labUI) RGB(r, g, b uint8, text string) string   { return fmt.Sprint(r, g, b, text) }
func (u *labUI) OnRGB(r, g, b uint8, text string) string { return fmt.Sprint("on", r, g, b, text) }
func (u *labUI) Theme() agent.Theme                      { return u }
func (u *labUI) Paint(style, text string) string         { return "<" + style + ">" + text }
func (u *labUI) RequestRender()                          {}
func (u *labUI) Done() <-chan struct{}                   { return u.done }
func (u *labUI) Close()                                  { u.closing.Do(func() { close(u.done) }) }
func (u *labUI) Can(agent.Ability) bool                  { return true }
func (u *labUI) Custom(c agent.Component, _ agent.SurfaceOptions) (agent.Surface, error) {
	u.custom = c
	if u.eager {
		c.Render(20, 5)
	}
	return u, nil
}

// labDialogs are asked at once.
type labDialogs struct{ open bool }

func (d labDialogs) IsOpen() bool { return d.open }
func (d labDialogs) Ask(ctx context.Context, _, _ string, f func(context.Context) error) error {
	return f(ctx)
}
func (d labDialogs) AskPrompt(ctx context.Context, _ Prompt, f func(context.Context) error) (*Reply, error) {
	return nil, f(ctx)
}

func TestDialogsNeedAUser(t *testing.T) {
	var ui agent.UI
	l := newLab(t, func(l *lab) part {
		l.UI, l.Dialogs = func() agent.UI { return ui }, labDialogs{}
		return (&dialogs{l.bridge}).part()
	})
	l.want("false", `return api.confirm("sure?")`)
	l.want("nil", `return api.input("name?")`)
	ui = &labUI{}
	l.want("true", `return api.confirm("sure?")`)
	l.want("error: option \"value\" is missing", `api.select("which?", { {} })`)
	l.want("error: must be a positive number", `api.confirm("sure?", "", { timeout = -1 })`)
	if !slices.Equal(l.program.did, []string{"a person true"}) {
		t.Errorf("the program did %q", l.program.did)
	}
}

func TestWhatIsShownEndsWithTheVM(t *testing.T) {
	ui := &labUI{}
	var d *display
	l := newLab(t, func(l *lab) part {
		l.UI, l.Places = func() agent.UI { return ui }, new(Places)
		d = newDisplay(l.bridge)
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

// mind is a user who answers with what the test says, and a program that ends as it says.
type mind struct {
	labUI
	choices []agent.Choice
	options agent.DialogOptions
	values  []string
	answer  agent.Answer
	wait    bool // for the end of the dialog
	ran     agent.Program
	exit    agent.Exit
	failure error
	asked   int
}

func (m *mind) Select(ctx context.Context, _ string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	m.choices, m.options = choices, o
	if m.wait {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	return m.values, m.values != nil, nil
}

func (m *mind) Confirm(_ context.Context, _, _ string, o agent.DialogOptions) (agent.Answer, error) {
	m.options, m.asked = o, m.asked+1
	return m.answer, nil
}

func (m *mind) Lend(_ context.Context, p agent.Program) (agent.Exit, error) {
	m.ran = p
	return m.exit, m.failure
}

// kept is a Memory.
type kept map[keptKey]bool

type keptKey struct {
	in       *session.Session
	question string
}

func (k kept) IsKept(s *session.Session, question string) bool { return k[keptKey{s, question}] }
func (k kept) Keep(s *session.Session, question string)        { k[keptKey{s, question}] = true }

// newMind is a lab with the dialogs, components and programs of a user.
func newMind(t *testing.T) (*lab, *mind, *signals) {
	m := &mind{labUI: labUI{done: make(chan struct{})}}
	var s *signals
	l := newLab(t, func(l *lab) part {
		l.UI, l.Dialogs, l.Always, l.Environ = func() agent.UI { return m }, labDialogs{}, kept{}, func() []string { return []string{"A=1"} }
		s = &signals{bridge: l.bridge}
		d := &dialogs{l.bridge}
		th := &theme{bridge: l.bridge}
		all := d.part()
		for name, fn := range (&components{l.bridge, d, th}).part() {
			all[name] = fn
		}
		all["run"] = (&terminalPrograms{l.bridge, d}).run
		all["signal"] = s.current
		all["theme"] = th.table
		return all
	})
	return l, m, s
}

func TestChoicesHaveValuesLabelsAndDescriptions(t *testing.T) {
	l, m, _ := newMind(t)
	m.values = []string{"2"}
	l.want("b", `return api.select("?", { "a", "b" })`)
	l.want("7", `return api.select("?", { { value = "x" }, { value = 7, label = "seven", description = "a number" } }, { default = 7 })`)
	if want := []agent.Choice{{Value: "1", Label: "x"}, {Value: "2", Label: "seven", Description: "a number"}}; !slices.Equal(m.choices, want) || !slices.Equal(m.options.Default, []string{"2"}) || m.options.From != "lab" {
		t.Errorf("offered %+v with %+v", m.choices, m.options)
	}
	l.want("true", `local v = {} return api.select("?", { "x", { value = v, label = "a table" } }) == v`)
	l.want(`["b"]`, `return api.select("?", { "a", "b" }, { multi = true, default = { "a", "b" } })`)
	if !m.options.Multi || !slices.Equal(m.options.Default, []string{"1", "2"}) {
		t.Errorf("asked with %+v", m.options)
	}
	m.values = []string{"2", "1"}
	l.want(`["a","b"]`, `return api.select("?", { "a", "b", "c" }, { multi = true })`)
	m.values = []string{}
	l.want(`[]`, `return api.select("?", { "a" }, { multi = true })`)
	m.values = nil
	l.want("nil", `return api.select("?", { "a" }, { multi = true })`)
}

func TestADialogEndsWithItsSignal(t *testing.T) {
	l, m, s := newMind(t)
	m.wait = true
	job, stop := context.WithCancelCause(context.Background())
	err := l.job(func(L *lua.LState) { l.vm.SetGlobal("theirs", l.vm.NewStub(&signal{job: job}, s.fill)) })
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Millisecond, func() { stop(context.DeadlineExceeded) })
	l.want("left", `return api.select("?", { "a" }, { signal = theirs }) or "left"`)
	m.answer = agent.Yes
	l.want("false", `return api.confirm("?", "", { signal = theirs })`) // it has ended before
	if m.asked != 0 {
		t.Error("asked although the signal had ended")
	}
	l.want("true", `return api.confirm("?", "", { signal = api.signal() })`)
}

func TestAQuestionThatIsAnsweredWithAlwaysIsNotAskedAgain(t *testing.T) {
	l, m, _ := newMind(t)
	m.answer = agent.Yes
	l.want("true", `return api.confirm("?", "", { always = "push" })`)
	m.answer = agent.Always
	l.want("true", `return api.confirm("?", "", { always = "push" })`)
	m.answer = agent.No
	l.want("true", `return api.confirm("?", "", { always = "push" })`)
	if m.asked != 2 || m.options.Always != "push" {
		t.Errorf("asked %d times, with %+v", m.asked, m.options)
	}
	l.want("false", `return api.confirm("?", "", { always = "other" })`)
	l.want("false", `return api.confirm("?")`)
	answers := len(l.program.did) // the brake is eased by a user only
	l.want("true", `return api.confirm("?", "", { always = "push" })`)
	if len(l.program.did) != answers {
		t.Errorf("a remembered answer counts as one of a person: %q", l.program.did)
	}
	l.program.session = session.New(session.Options{Cwd: "/project"})
	l.want("false", `return api.confirm("?", "", { always = "push" })`)
}

func TestAProgramGetsTheTerminal(t *testing.T) {
	l, m, _ := newMind(t)
	m.exit = agent.Exit{Code: 3}
	l.want(`{"code":3}`, `return api.run("vim", { "x" }, { cwd = "sub", env = { B = "2" } })`)
	want := agent.Program{Name: "vim", Args: []string{"x"}, Dir: "/project/sub", Env: []string{"A=1", "B=2"}}
	if m.ran.Name != want.Name || !slices.Equal(m.ran.Args, want.Args) || m.ran.Dir != want.Dir || !slices.Equal(m.ran.Env, want.Env) {
		t.Errorf("ran %+v, want %+v", m.ran, want)
	}
	m.exit = agent.Exit{Code: -1, Signal: "TERM"}
	l.want("-1TERM", `local r = api.run("vim") return r.code .. r.signal`)
	m.failure = agent.ErrNoTerminal
	l.want("no terminal", `local r, message = api.run("vim") return message`)
}

func TestAComponentSaysWhereItsCursorIsAndWhichKeysItUsed(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `keys = {}
		api.custom{ cursor = true,
			render = function(width, handle) return { "first", "日\tb  " .. handle.cursor .. "c" .. handle.cursor } end,
			handle_input = function(key, handle, opts)
				keys[#keys + 1] = key .. (opts.text and "=" .. opts.text or "") .. (opts.release and " up" or "")
				if key == "x" then return false elseif key == "f1" then error("broken") end
				return opts.text == "kept" or nil
			end }`)
	d := m.custom.Render(20, 5)
	if d.Cursor == nil || *d.Cursor != (agent.Position{Row: 1, Column: 6}) || !slices.Equal(d.Lines, []string{"first", "日\tb  c"}) {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	if d := m.custom.Render(20, 1); !slices.Equal(d.Lines, []string{"first"}) || d.Cursor != nil {
		t.Errorf("in one row %q with %+v", d.Lines, d.Cursor)
	}
	for _, c := range []struct {
		key  agent.Key
		used bool
	}{
		{agent.Key{Name: "a", Text: "A"}, true}, {agent.Key{Name: "shift+b", Text: "B"}, true}, {agent.Key{Name: "x", Text: "x"}, false},
		{agent.Key{Name: "space", Text: " "}, true}, {agent.Key{Name: "paste", Text: "two words"}, true}, {agent.Key{Name: "up", Release: true}, true},
		{agent.Key{Name: "esc"}, false}, {agent.Key{Name: "esc", Text: "kept"}, true}, {agent.Key{Name: "f1"}, true},
	} {
		if used := m.custom.HandleInput(c.key); used != c.used {
			t.Errorf("%+v: used %v", c.key, used)
		}
	}
	l.want(`["A=A","B=B","x=x","space= ","paste=two words","up up","esc","esc=kept","f1"]`, `return keys`)
}

func TestAComponentThatClosesItselfInItsFirstDrawingIsNeverShown(t *testing.T) {
	l, m, _ := newMind(t)
	m.eager = true
	l.want("early", `return api.custom{ wait = true, render = function(_, handle) handle.close("early") return "x" end }`)
	<-m.done
}

func TestAFieldIsEditedAsTheLineIs(t *testing.T) {
	l, m, _ := newMind(t)
	l.want("nil", `field = api.field{ text = "ab", placeholder = "a\27[2J name", on_submit = function(text, handle) sent = text .. tostring(handle ~= nil) end }
		handle = api.custom(field)`)
	type_ := func(keys ...agent.Key) (used []bool) {
		for _, k := range keys {
			used = append(used, m.custom.HandleInput(k))
		}
		return used
	}
	type_(agent.Key{Name: "left"}, agent.Key{Name: "x", Text: "X"}, agent.Key{Name: "paste", Text: "日\n\x1b[31m本"}, agent.Key{Name: "space"}, agent.Key{Name: "a", Release: true})
	d := m.custom.Render(20, 1)
	if d.Cursor == nil || d.Cursor.Column != 8 || !slices.Equal(d.Lines, []string{"aX日 本 b"}) {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	if used := type_(agent.Key{Name: "f7"}, agent.Key{Name: "up"}, agent.Key{Name: "esc"}, agent.Key{Name: "ctrl+w"}, agent.Key{Name: "enter"}); !slices.Equal(used, []bool{false, false, false, true, true}) {
		t.Errorf("used %v", used)
	}
	l.want("aX日 btrue", `return sent`)
	l.want("aX日 b", `return field.text()`)
	l.want("nil", `field.set_text("")`)
	if d := m.custom.Render(4, 1); !slices.Equal(d.Lines, []string{"<dim>a na"}) && !strings.HasPrefix(d.Lines[0], "<dim>a") || d.Cursor == nil || d.Cursor.Column != 0 {
		t.Errorf("drawn %q with %+v", d.Lines, d.Cursor)
	}
	l.want(`error: has no field "txt"`, `return field.txt()`)
	l.want("error: the handle of a component expected, got string", `api.field().handle_input("enter", "x")`)
	l.want("nil", `api.custom(api.field{ text = "as it is" })`)
	m.custom.HandleInput(agent.Key{Name: "enter"})
	<-m.done
}

func TestAThemeHasBackgroundsPartsAndMarkdown(t *testing.T) {
	l, _, _ := newMind(t)
	l.want("[error]x", `return api.theme().bg("error", "x")`)
	l.want("1 2 3x", `return api.theme().rgb(1, 2.7, 3, "x")`)
	l.want("accent", `return api.theme().names()[1]`)
	l.want(`["<bold>one two","three"]`, `return api.theme().markdown("**one two**  \nthree", 20)`)
	l.want(`0`, `return #api.theme().markdown("", 20)`)
	l.want("the text is larger than 1 MiB", `local rows, message = api.theme().markdown(("x"):rep(2^20 + 1), 20) return message`)
}

func TestWithoutAFrontEndNothingIsPainted(t *testing.T) {
	l := newLab(t, func(l *lab) part {
		l.UI = func() agent.UI { return nil }
		th := &theme{bridge: l.bridge}
		return part{"theme": th.table}
	})
	l.want("x", `return api.theme().bold("x")`)
}
