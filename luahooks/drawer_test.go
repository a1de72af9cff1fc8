package luahooks

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/agent"
)

// wideScreen is a screen with a width.
type wideScreen struct {
	*screen

	drawing sync.Mutex // guards drawers
	drawers map[string]agent.Drawer
}

func (s *wideScreen) SetDrawer(place agent.Place, key string, d agent.Drawer) {
	s.drawing.Lock()
	defer s.drawing.Unlock()
	s.drawers[string(place)+" "+key] = d
	s.note("drawer %s %s", place, key)
}

func (s *wideScreen) HideStatus(hidden bool) { s.note("hidden %v", hidden) }

// draw draws what is shown in a place.
func (s *wideScreen) draw(place string, width int, around agent.Surroundings) string {
	s.drawing.Lock()
	d := s.drawers[place]
	s.drawing.Unlock()
	if d == nil {
		return "none"
	}
	return strings.Join(d.Draw(width, around), "|")
}

// onWideScreen is a rig with a screen that has a width.
func onWideScreen(t *testing.T, files map[string]string) (*rig, *wideScreen) {
	t.Helper()
	r := newRig(t, files)
	s := &wideScreen{screen: &screen{here: true, closed: make(chan struct{})}, drawers: map[string]agent.Drawer{}}
	r.chain.Attach(r.host, s)
	return r, s
}

func TestWhatIsDrawnByWidthTakesThePlaceOfLines(t *testing.T) {
	r, s := onWideScreen(t, nil)
	for _, c := range []struct{ body, want string }{
		{`ctx.ui.set_footer(function() end)`, "drawer footer lua"},
		{`ctx.ui.set_footer(function() end, { status = false })`, "drawer footer lua; hidden true"},
		{`ctx.ui.set_footer({ "f" }, { status = false })`, "widget footer lua=[f]; hidden true"},
		{`ctx.ui.set_footer({ "f" }, { status = false }) ctx.ui.set_footer()`, "widget footer lua=[f]; hidden true; widget footer lua=[]; hidden false"},
		{`ctx.ui.set_footer(nil, { status = false })`, "widget footer lua=[]"},
		{`ctx.ui.set_header(function() end)`, "drawer header lua"},
		{`ctx.ui.set_widget("w", function() end) ctx.ui.set_widget("w", function() end, { place = "below" })`, "drawer above w; widget above w=[]; drawer below w"},
		{`ctx.ui.set_widget("w", { "l" }) ctx.ui.set_widget("w", function() end) ctx.ui.set_widget("w", { "l" })`, "widget above w=[l]; drawer above w; widget above w=[l]"},
	} {
		s.said()
		r.lua(c.body)
		if got := s.said(); !strings.HasSuffix(got, c.want) { // what the version before showed has gone first
			t.Errorf("%s shows %q, want %q; notices %q", c.body, got, c.want, r.host.notices())
		}
	}
	for body, want := range map[string]string{
		`ctx.ui.set_footer(1)`:                                "list of lines or a function that draws them expected, got number",
		`ctx.ui.set_footer(function() end, { state = true })`: `unknown option "state"; it has status`,
		`ctx.ui.set_widget("", function() end)`:               "the key is empty",
		`ctx.ui.copy("")`:                                     "the text is empty",
		`ctx.ui.notify_desktop(" ")`:                          "the title is empty",
	} {
		if r.lua(body); !r.said("lua.lua:1: ", want) {
			t.Errorf("%s: %q, want %q", body, r.host.notices(), want)
		}
	}
}

// A hook that draws for too long now and then keeps what it drew before; three times in a row
// are its end, and what it has hidden is back.
func TestDrawingsThatTakeTooLongAreTheEndOfADrawer(t *testing.T) {
	r, s := onWideScreen(t, map[string]string{"a.lua": `pi.on("session_start", function(_, ctx)
		ctx.ui.set_footer(function(width)
			while width > 1 do end
			return "in time"
		end, { status = false })
	end)`})
	r.emit(&agent.SessionStart{Reason: "startup"})
	s.said()
	for _, c := range []struct {
		width     int
		want, now string
	}{
		{1, "in time", ""}, {2, "in time", ""}, {2, "in time", ""}, {1, "in time", ""}, // and it begins anew
		{2, "in time", ""}, {2, "in time", ""}, {2, "", "widget footer a=[]; hidden false"},
	} {
		if got := s.draw("footer a", c.width, agent.Surroundings{}); got != c.want {
			t.Errorf("at %d: %q, want %q", c.width, got, c.want)
		}
		if got := s.said(); got != c.now {
			t.Errorf("at %d the screen is told %q, want %q", c.width, got, c.now)
		}
		if late := c.width > 1 && c.now == ""; late != asks(s.drawers["footer a"]) {
			t.Errorf("at %d another drawing is asked for: %v", c.width, !late)
		}
	}
	r.mustSay("error: hook a: footer: ", "a.lua:2: 3 drawings in a row took longer than 50ms, so it is taken away until it is set again")
}

// What a function returns has no line of its own: the function has.
func TestADrawerThatReturnsSomethingElseIsNamed(t *testing.T) {
	r, s := onWideScreen(t, map[string]string{"a.lua": `pi.on("session_start", function(_, ctx)
		ctx.ui.set_widget("n", function() return 5 end)
		ctx.ui.set_widget("t", function() return { "a", {} } end)
	end)`})
	r.emit(&agent.SessionStart{Reason: "startup"})
	s.draw("above n", 80, agent.Surroundings{})
	s.draw("above t", 80, agent.Surroundings{})
	r.mustSay("error: hook a: widget n: ", "a.lua:2: a renderer returns a string or a list of strings, not a number")
	r.mustSay("error: hook a: widget t: ", "a.lua:3: a renderer returns a string or a list of strings, and element 2 of the list is a table")
}

func asks(d agent.Drawer) bool {
	select {
	case <-d.Asked():
		return true
	default:
		return false
	}
}

// A program at the other end, as over RPC, has no width: its widget goes, and nothing is drawn.
func TestWithoutAWidthNothingIsDrawn(t *testing.T) {
	r, s := onScreen(t, map[string]string{"a.lua": `pi.on("session_start", function(_, ctx)
		ctx.ui.set_widget("w", { "one" })
		ctx.ui.set_widget("w", function() error("called") end)
		ctx.ui.set_footer(function() error("called") end, { status = false })
		print(ctx.ui.copy("x"))
		print(ctx.ui.notify_desktop("x"))
	end)`})
	r.emit(&agent.SessionStart{Reason: "startup"})
	if got := s.said(); got != "widget above w=[one]; widget above w=[]; widget footer a=[]" {
		t.Errorf("shown is %q", got)
	}
	if said := strings.Join(r.host.notices(), ", "); !strings.Contains(said, "nil\tthere is no clipboard here") || !strings.Contains(said, "nil\tthere is no desktop here") {
		t.Errorf("said %s", said)
	}
}

func TestAPortedWidgetIsDrawnForTheWidth(t *testing.T) {
	r, s := onWideScreen(t, map[string]string{"a.lua": ported + `
		pi.on("session_start", function(_, ctx)
			local redraws
			ctx.ui.set_footer(function(tui, theme, data)
				redraws = tui
				data.on_branch_change(function() print("branch " .. tostring(data.get_git_branch())) end)
				return { render = function(width)
					return { theme.fg("toolTitle", tostring(width)) .. data.get_extension_statuses().k .. (data.get_available_provider_count() > -1 and "+" or "") }
				end }
			end)
			ctx.ui.set_widget("w", function(tui, theme) return pi.tui.Text(theme.fg("text", "some words of text"), 0, 0) end)
			ctx.ui.set_header({ "lines" })
			ctx.ui.set_widget("c", { render = function(width) return { "component " .. width } end })
			redraws.request_render() -- it is not shown yet
		end)`})
	r.emit(&agent.SessionStart{Reason: "startup"})
	around := agent.Surroundings{Branch: "main", Statuses: map[string]string{"k": "word"}}
	for _, width := range []int{7, 40} {
		want := map[string]string{"footer a": fmt.Sprintf("<tool_title>%dword+", width), "above w": "some words of text", "above c": fmt.Sprintf("component %d", width), "header a": "none"}
		if width == 7 {
			want["above w"] = "some|words|of text"
		}
		for place, want := range want {
			if got := s.draw(place, width, around); got != want {
				t.Errorf("%s at %d: %q, want %q; notices %q", place, width, got, want, r.host.notices())
			}
		}
	}
	if got := strings.Count(strings.Join(r.host.notices(), ", "), "branch main"); got != 1 {
		t.Errorf("the branch is told %d times", got)
	}
}

func TestPortedColoursHaveOurNames(t *testing.T) {
	var calls strings.Builder
	want := []string{}
	for _, c := range [][2]string{
		{"accent", "<accent>"}, {"tool_title", "<tool_title>"}, {"toolTitle", "<tool_title>"}, {"text", ""}, {"mdHeading", "<accent>"}, {"toolDiffAdded", "<success>"},
		{"thinkingText", "<thinking>"}, {"borderMuted", "<border>"}, {"syntaxString", "<success>"}, {"thinking_text", "<thinking>"},
		{"acent", "<accent>"}, {"mdHeader", "<accent>"}, {"xyz", ""},
	} {
		fmt.Fprintf(&calls, "print('painted ' .. ctx.ui.theme.fg(%q, 'x'))\n", c[0])
		if c[0] != "xyz" { // any will do
			want = append(want, "painted "+c[1]+"x")
		}
	}
	r, _ := onWideScreen(t, map[string]string{"a.lua": ported + `
		pi.on("session_start", function(_, ctx) ` + calls.String() + `
			print("painted " .. ctx.ui.theme.bg("toolErrorBg", "x"))
			print("painted " .. ctx.ui.theme.bold("x"))
			print(pcall(ctx.ui.theme.fg, nil, "x"))
			for _ = 1, 3 do ctx.ui.theme.fg("acent", "x") end
		end)`})
	r.emit(&agent.SessionStart{Reason: "startup"})
	said := strings.Join(r.host.notices(), ", ")
	for _, w := range append(want, "painted [error]x", "painted <bold>x", "false") {
		if !strings.Contains(said, w) {
			t.Errorf("%s is not in %s", w, said)
		}
	}
	written, err := os.ReadFile(r.chain.opts.LogPath)
	mustDo(t, err)
	log := string(written)
	for _, w := range []string{`there is no colour "acent"; it is painted as "accent"`, `there is no colour "mdHeader"; it is painted as "mdHeading"`, `there is no colour "xyz"; it is painted as `} {
		if strings.Count(log, w) != 1 {
			t.Errorf("%s is not in the log once:\n%s", w, log)
		}
	}
	if slices.ContainsFunc(strings.Split(log, "\n"), func(line string) bool { return strings.Contains(line, "toolTitle") }) {
		t.Error("a colour that is known is in the log")
	}
}

// Who listens to the window has it tell, and nobody else does.
func TestTheWindowTellsWhileAHookListens(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.command("listen", { handler = function() off = pi.on("focus", function(e) print("focus", e.focused) end) end })
		pi.command("stop", { handler = function() off() end })
		function off() end`})
	s := &focusScreen{screen: &screen{here: true, closed: make(chan struct{})}}
	r.chain.Attach(r.host, s)
	for _, c := range []struct {
		command string
		want    string
	}{{"", "wanted false"}, {"listen", "wanted true"}, {"stop", "wanted false"}, {"listen", "wanted true"}} {
		if c.command != "" {
			_, err := r.command(c.command).Run(context.Background(), "")
			mustDo(t, err)
		}
		if got := s.said(); got != c.want {
			t.Errorf("after %q: %s, want %s", c.command, got, c.want)
		}
	}
	if err := r.chain.Handle(context.Background(), &agent.Focus{Focused: true}); err != nil {
		t.Fatal(err)
	}
	r.mustSay("focus\ttrue")
	r.write("a.lua", "-- it listens no more")
	r.chain.Reload(context.Background(), false)
	if got := s.said(); got != "wanted false" {
		t.Errorf("after the hook listens no more: %s", got)
	}
}

type focusScreen struct{ *screen }

func (s *focusScreen) ReportFocus(wanted bool) { s.note("wanted %v", wanted) }
