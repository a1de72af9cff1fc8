package luahooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/luahooks/api"
	"pi/session"
)

// screen is a front end that keeps what it is shown.
type screen struct {
	agent.NoUI
	here bool

	mu        sync.Mutex
	shown     []string
	component agent.Component
	closed    chan struct{}
	closing   sync.Once
}

func (s *screen) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, fmt.Sprintf(format, args...))
}

func (s *screen) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.shown, "; ")
	s.shown = nil
	return text
}

func (s *screen) HasUI() bool                { return s.here }
func (s *screen) SetStatus(key, text string) { s.note("status %s=%s", key, text) }
func (s *screen) SetWidget(p agent.Place, key string, lines []string) {
	s.note("widget %s %s=%v", p, key, lines)
}
func (s *screen) SetIndicator(frames []string, every time.Duration) {
	s.note("indicator %v %v", frames, every)
}
func (s *screen) SetPlan(items []agent.PlanItem)          { s.note("plan %v", items) }
func (s *screen) SetTitle(text string)                    { s.note("title %s", text) }
func (s *screen) SetWorking(text string)                  { s.note("working %s", text) }
func (s *screen) SetEditorText(text string)               { s.note("editor %s", text) }
func (s *screen) EditorText() string                      { return "typed" }
func (s *screen) Background(name, text string) string     { return "[" + name + "]" + text }
func (s *screen) RGB(r, g, b uint8, text string) string   { return fmt.Sprint(r, g, b, text) }
func (s *screen) OnRGB(r, g, b uint8, text string) string { return fmt.Sprint("on", r, g, b, text) }
func (s *screen) HideWorking(hidden bool)                 { s.note("hides working %v", hidden) }
func (s *screen) Theme() agent.Theme                      { return s }
func (s *screen) Paint(style, text string) string         { return "<" + style + ">" + text }
func (s *screen) RequestRender()                          { s.note("render") }
func (s *screen) Done() <-chan struct{}                   { return s.closed }
func (s *screen) Close()                                  { s.closing.Do(func() { close(s.closed) }) }
func (s *screen) Can(agent.Ability) bool                  { return true }
func (s *screen) Custom(c agent.Component, _ agent.SurfaceOptions) (agent.Surface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.component = c
	return s, nil
}

func (s *screen) shownComponent() agent.Component {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.component
}

func (s *screen) Editor(_ context.Context, title, prefill string, _ agent.DialogOptions) (string, bool, error) {
	return title + prefill, true, nil
}

func (s *screen) Confirm(_ context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	s.note("confirm %s %s %d", title, message, o.TimeoutMS)
	return agent.Yes, nil
}

// onScreen is a rig with a screen.
func onScreen(t *testing.T, files map[string]string) (*rig, *screen) {
	t.Helper()
	r := newRig(t, files)
	s := &screen{here: true, closed: make(chan struct{})}
	r.chain.Attach(r.host, s)
	return r, s
}

func TestWhatHooksShow(t *testing.T) {
	r, s := onScreen(t, nil)
	for _, c := range []struct{ body, want string }{
		{`ctx.ui.set_status("k", "v")`, "status k=v"},
		{`ctx.ui.set_status("k")`, "status k="},
		{`ctx.ui.set_widget("w", { "one", "two" })`, "widget above w=[one two]"},
		{`ctx.ui.set_widget("w", { "one" }) ctx.ui.set_widget("w", { "one" }, { place = "below" })`, "widget above w=[one]; widget above w=[]; widget below w=[one]"},
		{`ctx.ui.set_widget("w", { "one" }, { place = "below" }) ctx.ui.set_widget("w")`, "widget below w=[one]; widget below w=[]"},
		{`ctx.ui.set_widget("w", { "two" }, { place = "below" })`, "widget below w=[two]"},
		{`ctx.ui.set_header{ "h" }`, "widget header lua=[h]"},
		{`ctx.ui.set_footer{ "f" }`, "widget footer lua=[f]"},
		{`ctx.ui.set_footer()`, "widget footer lua=[]"},
		{`ctx.ui.set_working_indicator{ frames = { "-", "+" }, ms = 500 }`, "indicator [- +] 500ms"},
		{`ctx.ui.set_working_indicator{ frames = { "-" }, ms = 1 }`, "indicator [-] 80ms"},
		{`ctx.ui.set_working_indicator()`, "indicator [] 0s"},
		{`ctx.ui.set_title()`, "title "},
		{`ctx.ui.set_title(("x"):rep(5000) .. "ä")`, "title " + strings.Repeat("x", 4096)},
		{`ctx.ui.set_widget("w")`, "widget above w=[]"},
		{`ctx.ui.set_title("t")`, "title t"},
		{`ctx.ui.set_working_message("w")`, "working w"},
		{`ctx.ui.set_working_message()`, "working "},
		{`ctx.ui.set_editor_text(ctx.ui.get_editor_text() .. "!")`, "editor typed!"},
		{`ctx.ui.confirm("a", "b", { timeout = 1500 })`, "confirm a b 1500"},
		{`ctx.ui.set_title(ctx.ui.editor("t", "p"))`, "title tp"},
		{`local t = ctx.ui.theme; ctx.ui.set_title(t.fg("accent", "a") .. t.bold("b") .. t.italic("i") .. t.underline("u") .. t.strikethrough("s"))`,
			"title <accent>a<bold>b<italic>i<underline>u<strikethrough>s"},
	} {
		s.said()
		r.lua(c.body)
		if got := s.said(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s showed %q, want %q; notices %q", c.body, got, c.want, r.host.notices())
		}
	}
}

func TestMisuseOfTheUI(t *testing.T) {
	r, _ := onScreen(t, nil)
	for body, want := range map[string]string{
		`ctx.ui.set_status("", "v")`:                               "the key is empty",
		`ctx.ui.set_status("k", {})`:                               "string expected, got table",
		`ctx.ui.set_widget("w", "line")`:                           "list of lines or a function that draws them expected, got string",
		`ctx.ui.set_widget("", {})`:                                "the key is empty",
		`ctx.ui.set_title({})`:                                     "string expected",
		`ctx.ui.set_header("line")`:                                "list of lines or a function that draws them expected, got string",
		`ctx.ui.set_widget("w", {}, { place = "abov" })`:           `option "place" must be one of above, below, not "abov", did you mean "above"?`,
		`ctx.ui.set_working_indicator{ frames = {} }`:              "1 to 60 texts",
		`ctx.ui.set_working_indicator{ ms = 100 }`:                 `option "frames" is missing`,
		`ctx.ui.set_working_indicator{ frames = { "x" }, ms = 0 }`: "positive number of milliseconds",
		`ctx.ui.select("t", "a")`:                                  "list of strings or of {value, label, description} expected, got string",
		`ctx.ui.select("t", { a = 1 })`:                            "list expected, got a table without one",
		`ctx.ui.select("t", { { value = {} } })`:                   "option 1 needs a label, for its value is a table",
		`ctx.ui.select("t", { { value = 1, lable = "x" } })`:       `unknown option "lable", did you mean "label"?`,
		`ctx.ui.select("t", { "one" }, { default = "on" })`:        `no option has the value "on", did you mean "one"?`,
		`ctx.ui.select("t", { "one" }, { signal = 1 })`:            `option "signal" must be a signal such as ctx.signal`,
		`ctx.ui.theme.bg("acent", "x")`:                            `unknown colour "acent", did you mean "accent"?`,
		`ctx.ui.theme.rgb(256, 0, 0, "x")`:                         "numbers from 0 to 255, not 256",
		`ctx.ui.theme.markdown("x", 0)`:                            "the width is a number from 1 to 1000, not 0",
		`ctx.ui.run("")`:                                           "the name of a program expected",
		`ctx.ui.run("vim", "x")`:                                   "list of strings expected, got string",
		`ctx.ui.run("vim", {}, { dir = "/" })`:                     `unknown option "dir"`,
		`ctx.ui.custom({ render = print, place = "ovr" })`:         `option "place" must be one of below, over, not "ovr", did you mean "over"?`,
		`ctx.ui.custom({ render = print, rows = -1 })`:             `option "rows" must be a positive number`,
		`ctx.ui.field({ placehold = "x" })`:                        `unknown option "placehold", did you mean "placeholder"?`,
		`ctx.ui.set_working_message({})`:                           "string, false or nil expected, got table",
		`ctx.ui.set_editor_text(nil)`:                              "string expected",
		`ctx.ui.get_editor_text(1)`:                                "takes at most 0 arguments",
		`ctx.ui.editor()`:                                          "string expected",
		`ctx.ui.input({})`:                                         "string expected",
		`ctx.ui.confirm("t", "m", { timeuot = 1 })`:                `did you mean "timeout"`,
		`ctx.ui.confirm("t", "m", { timeout = -1 })`:               "positive number",
		`ctx.ui.theme.fg("acent", "x")`:                            `unknown colour "acent", did you mean "accent"?`,
		`ctx.ui.theme.fg("qqqqqqqq", "x")`:                         "colours are accent, success",
		`ctx.ui.theme.bold()`:                                      "string expected",
		`ctx.ui.custom()`:                                          "table expected",
		`ctx.ui.custom({})`:                                        `option "render" is missing`,
		`ctx.ui.custom({ render = print, on_key = print })`:        `unknown option "on_key"`,
	} {
		if r.lua(body); !r.said("lua.lua:1: ", want) {
			t.Errorf("%s: %q", body, r.host.notices())
		}
	}
}

func TestWithoutAUserNothingIsAskedAndStylesWork(t *testing.T) {
	r, s := onScreen(t, nil)
	s.here = false
	got := r.lua(`local u = ctx.ui
		local function say(...) local l = {} for i = 1, select("#", ...) do l[i] = tostring((select(i, ...))) end return table.concat(l, " ") end
		return { text = say(u.select("t", { "a" }), u.confirm("t"), u.input("t"), u.editor("t"), u.custom({ render = function() end, wait = true }), u.theme.bold("x")) }`)
	if got != "nil false nil nil nil <bold>x" {
		t.Errorf("without a person: %q", got)
	}
}

func TestWhatAHookShowsGoesWithIt(t *testing.T) {
	r, s := onScreen(t, nil)
	r.lua(`ctx.ui.set_status("k", "v") ctx.ui.set_status("gone", "v") ctx.ui.set_status("gone") ctx.ui.set_widget("w", { "x" }) ctx.ui.set_working_message("m")
		ctx.ui.set_footer{ "f" } ctx.ui.set_working_indicator{ frames = { "x" } } ctx.ui.set_title("t") ctx.ui.set_widget("v", { "x" }, { place = "below" }) ctx.ui.set_widget("v")
		ctx.ui.set_widget("w", { "x" }, { place = "below" }) ctx.ui.set_widget("w", { "x" }, { place = "above" })`)
	s.said()
	r.write("lua.lua", "-- empty")
	r.chain.Reload(context.Background(), false)
	if got := s.said(); got != "indicator [] 0s; status k=; title ; widget footer lua=[]; widget above w=[]; working " {
		t.Errorf("taken back: %q", got)
	}
}

func TestDialogsAreToldAndComeOneAfterTheOther(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("tool_call", function(e, ctx) ctx.ui.confirm("a") end)
			pi.command("b", { handler = function(ctx) ctx.ui.input("b") end })`,
		"z.lua": `pi.on("ui_prompt_start", function(e) pi.send("start:" .. e.kind .. ":" .. e.title) end)
			pi.on("ui_prompt_end", function(e) pi.send("end:" .. e.kind .. ":" .. e.title) end)`,
	})
	asked, answer := r.ui.dialogs()
	var work sync.WaitGroup
	work.Go(func() { r.bash("x") })
	if got := <-asked; got != "a" {
		t.Errorf("asked %q", got)
	}
	work.Go(func() { _, _ = r.chain.Commands()[0].Run(context.Background(), "") })
	answer <- true
	if got := <-asked; got != "b" {
		t.Errorf("asked %q", got)
	}
	answer <- true
	work.Wait()
	until(t, func() bool { return strings.Contains(r.host.texts(), "end:input:b") })
	if got := r.host.texts(); got != "start:confirm:a end:confirm:a start:input:b end:input:b" {
		t.Errorf("told %q", got)
	}
}

func TestAComponentIsDrawnGetsKeysAndCloses(t *testing.T) {
	r, s := onScreen(t, map[string]string{"a.lua": `
		local keys = ""
		pi.command("show", { handler = function(ctx)
			local value = ctx.ui.custom{ wait = true,
				render = function(width, handle, height) return { "width " .. width, keys, "row " .. height } end,
				handle_input = function(key, handle)
					keys = keys .. key
					if key == "ask" then ctx.ui.confirm("?") end
					if key == "q" then handle.close("the value") handle.close("another") else handle.request_render() end
				end }
			return { status = value .. " after " .. keys }
		end })`})
	var out string
	var work sync.WaitGroup
	work.Go(func() { out = said(r.chain.Commands()[0].Run(context.Background(), "")) })
	until(t, func() bool { return s.shownComponent() != nil })
	c := s.shownComponent()
	until(t, func() bool { c.HandleInput(agent.Key{Name: "up"}); return strings.Contains(s.said(), "render") })
	if got := c.Render(20, 9).Lines; len(got) != 3 || got[0] != "width 20" || !strings.HasPrefix(got[1], "up") || got[2] != "row 9" {
		t.Errorf("drawn %q", got)
	}
	c.HandleInput(agent.Key{Name: "ask"})
	r.mustSay("a component cannot open a dialog while one is open")
	c.HandleInput(agent.Key{Name: "q"})
	work.Wait()
	if !strings.HasPrefix(out, "the value after up") || !strings.HasSuffix(out, "askq") {
		t.Errorf("the command says %q", out)
	}
}

func TestAComponentThatCannotDrawItselfIsClosed(t *testing.T) {
	r, s := onScreen(t, map[string]string{"a.lua": `pi.on("input", function(e, ctx)
		ctx.ui.custom{ render = function() error("cannot draw") end } return { text = "goes on" } end)`})
	if got := r.input(""); got != "goes on" {
		t.Errorf("got %q", got)
	}
	if got := s.shownComponent().Render(9, 9).Lines; got != nil {
		t.Errorf("drawn %q", got)
	}
	r.mustSay("hook a: render of a component", "a.lua:2: cannot draw")
	<-s.Done()
}

func TestAComponentEndsWithItsHook(t *testing.T) {
	r, s := onScreen(t, map[string]string{"a.lua": `pi.on("input", function(e, ctx)
		ctx.ui.custom{ render = function() return {} end } return { text = "goes on" } end)`})
	if got := r.input(""); got != "goes on" {
		t.Errorf("got %q", got)
	}
	r.write("a.lua", "-- empty")
	r.chain.Reload(context.Background(), false)
	<-s.Done()
}

func TestShortcuts(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.shortcut("F8", { description = "A", handler = function(ctx) return { status = "a" .. #ctx.args } end })
			pi.shortcut("ctrl+c", { handler = print })
			pi.shortcut("shift+a", { handler = print })
			pi.shortcut("alt+ctrl+k", { handler = function(ctx) return ctx.wait_for_idle and "say" end })`,
		"b.lua": `pi.shortcut("f8", { description = "B", handler = function(ctx) error("broken") end })`,
		"c.lua": `pi.shortcut("hyper+x", { handler = print })`,
		"d.lua": `pi.shortcut("f99", { handler = print })`,
		"e.lua": `pi.shortcut("Esc esc", { handler = print }) pi.shortcut("f8 K", { handler = print })`,
	})
	for _, key := range []string{"ctrl+c", "shift+a"} {
		r.mustSay("warning: hook a: the key " + key + " is reserved")
	}
	r.mustSay("hook c did not load", `there is no key "hyper+x"`)
	r.mustSay("hook d did not load", `there is no key "f99"`)
	all := r.chain.Shortcuts()
	if len(all) != 4 || all[2].Key != "esc esc" || all[3].Key != "f8 k" || all[0].Key != "ctrl+alt+k" || all[1].Key != "f8" || all[1].Description != "B" || all[1].Hook != "b" {
		t.Fatalf("shortcuts are %+v", all)
	}
	if out, err := all[0].Run(context.Background()); err != nil || out.Prompt == nil || out.Prompt.Text != "say" {
		t.Errorf("ctrl+alt+k gives %+v, %v", out, err)
	}
	if _, err := all[1].Run(context.Background()); err == nil || !strings.Contains(err.Error(), "b.lua:1: broken") {
		t.Errorf("f8 gives %v", err)
	}
	r.write("b.lua", "-- empty")
	r.chain.Reload(context.Background(), false)
	all = r.chain.Shortcuts()
	i := slices.IndexFunc(all, func(s api.Shortcut) bool { return s.Key == "f8" })
	if i < 0 || all[i].Hook != "a" {
		t.Fatalf("without b: %+v", all)
	}
	if out, err := all[i].Run(context.Background()); err != nil || out.Status != "a0" {
		t.Errorf("f8 of a gives %+v, %v", out, err)
	}
}

func TestAnAnswerForAlwaysEndsWithItsSession(t *testing.T) {
	var a answeredAlways
	one, other := session.New(session.Options{Cwd: "/p"}), session.New(session.Options{Cwd: "/p"})
	a.Keep(one, "push")
	if !a.IsKept(one, "push") || a.IsKept(one, "pull") {
		t.Error("it is not remembered")
	}
	if a.IsKept(other, "push") {
		t.Error("it counts in another session")
	}
	if a.IsKept(one, "push") {
		t.Error("it counts when the session is current again")
	}
}

func TestHooksOfOneNameDoNotShareAnAnswerForAlways(t *testing.T) {
	ask := `pi.command("%s", { handler = function(ctx) return { status = tostring(ctx.ui.confirm("?", "", { always = "push" })) } end })`
	r := newRig(t, map[string]string{"same.lua": fmt.Sprintf(ask, "a"), "same/init.lua": fmt.Sprintf(ask, "b")})
	user := &alwaysUser{}
	r.chain.Attach(r.host, user)
	for _, c := range slices.Concat(r.chain.Commands(), r.chain.Commands()) {
		if out, err := c.Run(t.Context(), ""); err != nil || out.Status != "true" {
			t.Errorf("%q, %v", out.Status, err)
		}
	}
	if user.asked != 2 {
		t.Errorf("asked %d times, want once for each hook", user.asked)
	}
}

// alwaysUser answers every question with always.
type alwaysUser struct {
	fakeUI
	asked int
}

func (p *alwaysUser) Confirm(context.Context, string, string, agent.DialogOptions) (agent.Answer, error) {
	p.asked++
	return agent.Always, nil
}
