//go:build unix

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// What hooks show, and what they ask, as a user meets it.

// rowsBelow are the rows of a screen from the one with this text on.
func rowsBelow(now screentest.Screen, text string) []string {
	row, _ := now.Find(text)
	if row < 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(strings.Join(now.Rows[row:], "\n"), "\n"), "\n")
}

// everywhere is a hook that shows something in every place that there is.
const everywhere = `pi.on("session_start", function(event, ctx)
  ctx.ui.set_header{ "THE HEADER" }
  ctx.ui.set_widget("a", { "ABOVE 1", "ABOVE 2" })
  ctx.ui.set_widget("b", { "BELOW" }, { place = "below" })
  ctx.ui.set_footer{ "THE FOOTER" }
  ctx.ui.set_status("s", "STATUS")
  ctx.ui.set_working_message("pondering")
  ctx.ui.set_working_indicator{ frames = { "<o>", "<O>" }, ms = 300 }
  ctx.ui.set_title("MY TITLE")
end)
`

// around checks that what hooks show stands around the line, from top to bottom.
func (s *desk) around(line string, want ...string) screentest.Screen {
	s.t.Helper()
	return s.Until(fmt.Sprintf("around %q stands %q", line, want), func(now screentest.Screen) bool {
		at := -1
		for _, text := range want {
			row, _ := now.Find(text)
			if row <= at {
				return false
			}
			at = row
		}
		return true
	})
}

func TestWhatAHookShowsStandsAroundTheLineAndGoesWithTheHook(t *testing.T) {
	t.Parallel()
	c := scenery{hook: everywhere}
	s := newDesk(t, c)
	places := []string{"THE HEADER", "ABOVE 1", "ABOVE 2", "STATUS", ">", "BELOW", "THE FOOTER"}
	s.rests("")
	s.around("at rest", places...)
	s.Until("the title is set", func(screentest.Screen) bool { return strings.Contains(s.Output(), "\x1b]2;MY TITLE\a") })
	turn := s.ask("go")
	s.around("at work", "THE HEADER", "pondering", "ABOVE 1", "ABOVE 2", "STATUS", "steer>", "BELOW", "THE FOOTER")
	s.matches(`^<[oO]> pondering`)
	turn.Answer("Done.")
	s.rests("")
	s.around("at rest again", places...)
	s.world.write(s.world.agentFile("hooks/scene.lua"), `pi.on("session_start", function(event, ctx) ctx.ui.set_footer{ "ANOTHER" } end)`)
	s.See("ANOTHER")
	now := s.rests("")
	for _, gone := range []string{"THE HEADER", "ABOVE", "BELOW", "STATUS", "THE FOOTER"} {
		if now.Shows(gone) {
			t.Errorf("%s is there after the hook was saved anew:\n%s", gone, now)
		}
	}
	turn = s.ask("again")
	s.matches(`^. working`)
	turn.Answer("Done again.")
	if strings.Contains(s.Transcript(), "pondering") {
		t.Errorf("the working message is in the transcript:\n%s", s.Transcript())
	}
	s.quits()
}

// In a small window widgets give way first, then the header and the footer; the line and the
// row of the work stay.
func TestWhatAHookShowsGivesWayInASmallWindow(t *testing.T) {
	t.Parallel()
	c := scenery{hook: everywhere, terminal: screentest.Options{Rows: 8}}
	s := newDesk(t, c)
	s.rests("")
	s.around("8 rows", "THE HEADER", "STATUS", ">", "THE FOOTER")
	turn := s.ask("go")
	now := s.around("8 rows at work", "THE HEADER", "pondering", "STATUS", "steer>", "THE FOOTER")
	if n := len(rowsBelow(now, "THE HEADER")); n > 6 {
		t.Errorf("the zone has %d rows of 8:\n%s", n, now)
	}
	s.Resize(80, 3)
	s.around("3 rows", "pondering", "steer>")
	s.Resize(80, 24)
	s.around("24 rows", "THE HEADER", "pondering", "ABOVE 1", "ABOVE 2", "STATUS", "steer>", "BELOW", "THE FOOTER")
	turn.Answer("Done.")
	s.quits()
}

// Notices at rest add their own rows and no others, whatever stands around the line, also
// where there is hardly room for it.
func TestNoticesBelowAllThatAHookShowsAddTheirOwnRows(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{5, 8, 24} {
		t.Run(fmt.Sprintf("%d rows", rows), func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{terminal: screentest.Options{Rows: rows}, hook: everywhere + `pi.shortcut("f6", { description = "d", handler = function(ctx)
  for i = 1, 10 do ctx.ui.notify("NOTICE " .. i) end
end })`})
			s.SeeAnywhere("1 hook") // the first line, which may come after what the hook shows
			s.rests("")
			s.Type("half a line")
			s.rests("half a line")
			before := s.Transcript()
			s.Press("f6")
			s.SeeAnywhere("NOTICE 10")
			s.rests("half a line")
			after := s.Transcript()
			if added := strings.Count(after, "\n") - strings.Count(before, "\n"); added != 10 {
				t.Errorf("%d rows were added, want 10:\n%s\nbefore:\n%s", added, after, before)
			}
			for _, once := range []string{"THE HEADER", "ABOVE 1", "half a line"} {
				if strings.Count(after, once) > 1 {
					t.Errorf("%q is in the transcript:\n%s", once, after)
				}
			}
			s.Press("ctrl+c")
			s.quits()
		})
	}
}

func TestTheEndOfOneHookGivesBackWhatAnotherShows(t *testing.T) {
	t.Parallel()
	shows := func(name string) string {
		return fmt.Sprintf(`pi.on("session_start", function(event, ctx)
  ctx.ui.set_title("title of %[1]s") ctx.ui.set_working_message("busy for %[1]s") ctx.ui.set_working_indicator{ frames = { "[%[1]s]" } }
  ctx.ui.set_status("same", "status of %[1]s")
end)`, name)
	}
	w := newWorld(t)
	w.write(w.agentFile("hooks/a.lua"), shows("a"))
	s := newDesk(t, scenery{world: w})
	s.rests("")
	s.See("status of a")
	w.write(w.agentFile("hooks/b.lua"), shows("b"))
	s.See("status of b")
	turn := s.ask("go")
	s.See("[b] busy for b")
	if err := os.Remove(w.agentFile("hooks/b.lua")); err != nil {
		t.Fatal(err)
	}
	turn.Answer("Done.")
	s.rests("")
	s.See("status of a")
	s.ask("again").Answer("Done.")
	s.rests("")
	if out := s.Output(); strings.LastIndex(out, "]2;title of a") < strings.LastIndex(out, "]2;title of b") {
		t.Errorf("the title of the hook that is left did not come back")
	}
	turn = s.ask("once more")
	s.See("[a] busy for a")
	turn.Answer("Done.")
	s.quits()
}

// box is a component that shows its keys, the room it has, and where the cursor is.
const box = `pi.command("box", { handler = function(ctx)
  local keys = {}
  local got = ctx.ui.custom{ wait = true, cursor = true, %s
    render = function(width, handle, height)
      return { "BOX " .. width .. "x" .. height, "keys " .. table.concat(keys, " ") .. handle.cursor, "row 3", "row 4", "row 5", "row 6" }
    end,
    handle_input = function(key, handle, opts)
      if key == "l" then return false end
      keys[#keys + 1] = (opts.release and "-" or "") .. key
      if key == "q" then handle.close("closed by q") end
    end }
  return { status = "box: " .. tostring(got) }
end })
`

func TestAComponentHasTheKeysAndTheLineThoseItLeaves(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: fmt.Sprintf(box, "")})
	s.rests("")
	s.Type("/box\r")
	s.See("BOX 80x")
	s.Type("abl")
	s.Until("the line has what the component left", func(now screentest.Screen) bool {
		row, col := now.Find("keys a b")
		return row >= 0 && now.Row == row && now.Col == col+len("keys a b") && now.LastRow() == "> l"
	})
	s.Type("日")
	s.See("keys a b 日")
	s.Resize(60, 20)
	now := s.See("BOX 60x")
	if now.Count("BOX") != 1 || now.Count("keys a b") != 1 {
		t.Errorf("stale rows are left of the component:\n%s", now)
	}
	s.Type("q")
	s.See("box: closed by q")
	now = s.rests("l")
	if now.Shows("row 3") {
		t.Errorf("the component is still there:\n%s", now)
	}
	s.Press("ctrl+c")
	s.rests("")
	for i, key := range []string{"esc", "ctrl+c"} {
		s.Type("/box\r")
		s.See("BOX 60x")
		s.Press(key)
		s.Until("the person has closed it", func(now screentest.Screen) bool { return now.Count("box: nil") == i+1 && !now.Shows("BOX") })
		s.rests("")
	}
	s.quits()
}

func TestAComponentGetsTheRowsThatItWantsOrCoversTheWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/small.lua"), fmt.Sprintf(box, "rows = 3,"))
	w.write(w.agentFile("hooks/large.lua"), strings.Replace(fmt.Sprintf(box, `place = "over",`), `"box"`, `"cover"`, 1))
	s := newDesk(t, scenery{world: w})
	s.rests("")
	s.Type("/box\r")
	s.See("BOX 80x3")
	now := s.See("row 3")
	if now.Shows("row 4") {
		t.Errorf("it has more rows than it wanted:\n%s", now)
	}
	s.Type("q")
	s.rests("")
	s.Type("/cover\r")
	s.See("BOX 80x22")
	now = s.See("row 6")
	if strings.HasPrefix(now.LastRow(), ">") {
		t.Errorf("the line is in view:\n%s", now)
	}
	s.Resize(80, 6)
	s.See("BOX 80x4")
	s.Resize(80, 24)
	s.See("BOX 80x22")
	s.Pause(400 * time.Millisecond) // by then a command that takes long has a row
	s.Type("a")
	now = s.See("keys a")
	if now.Shows("Esc cancels") || !now.Shows("BOX 80x22") {
		t.Errorf("Esc is the component's:\n%s", now)
	}
	s.Type("q")
	s.See("closed by q")
	s.quits()
}

// A component that hangs takes the terminal from nobody.
func TestAComponentThatHangsIsClosedByCtrlC(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"render": "render", "a key": "handle_input"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{hook: fmt.Sprintf(`pi.command("hang", { handler = function(ctx)
  local stuck = false
  local function wait(where) if stuck and where == %q then require("pi.timer").sleep(100000) end end
  local got = ctx.ui.custom{ wait = true, render = function() wait("render") return { "HANGS" } end,
    handle_input = function() stuck = true; ctx.ui.notify("it is stuck"); wait("handle_input") end }
  return { status = "out of it" }
end })
require("pi.timer")`, where)})
			s.rests("")
			s.Type("/hang\r")
			s.See("HANGS")
			s.Type("x")
			s.See("it is stuck")
			s.Resize(70, 20)
			s.Press("ctrl+c")
			s.See("out of it")
			s.answered("hello", "Hello.")
			s.quits()
		})
	}
}

func TestTwoComponentsAndADialogTakeTurns(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.command("two", { handler = function(ctx)
  for i, name in ipairs{ "FIRST", "SECOND" } do
    local keys = ""
    ctx.ui.custom{ render = function() return { name .. " has " .. keys } end,
      handle_input = function(key, handle)
        if key == "q" then handle.close() elseif key == "d" then
          require("pi.timer").after(1, function() ctx.ui.notify("sure: " .. tostring(ctx.ui.confirm("SURE?", "really"))) end)
        else keys = keys .. key end
      end }
  end
end })`})
	s.rests("")
	s.Type("/two\r")
	s.See("SECOND has")
	s.Pause(looks)
	s.Type("ab")
	s.See("SECOND has ab")
	s.Type("d")
	s.See("SURE?")
	s.quietly("SURE?")
	s.Type("y")
	s.See("sure: true")
	s.Type("cq")
	s.See("FIRST has")
	s.Type("z")
	now := s.See("FIRST has z")
	if now.Shows("SECOND") {
		t.Errorf("a component is there after its end:\n%s", now)
	}
	s.Press("ctrl+c")
	s.UntilGone("FIRST")
	s.quits()
}

// quietly waits until a dialog has the keys: then the line is not in view.
func (s *desk) quietly(question string) {
	s.t.Helper()
	s.Until("the dialog has the keys", func(now screentest.Screen) bool {
		return now.Shows(question) && !slices.ContainsFunc(rowsBelow(now, question), func(row string) bool { return strings.Contains(row, "> ") || strings.HasSuffix(row, ">") })
	})
}

// A component that nobody asked for takes nothing that is being typed, and Esc is its own
// once it has the keys.
func TestAComponentThatNobodyAskedForWaitsForQuiet(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.on("message_update", function(event, ctx)
  if not event.delta.text:find("show") then return end
  local keys = ""
  ctx.ui.custom{ place = "over", render = function() return { "COMPONENT has " .. keys } end, handle_input = function(key) keys = keys .. key return key ~= "esc" end }
end)`})
	turn := s.ask("go")
	s.Type("ye")
	s.steers("ye")
	turn.Text("show ")
	s.See("COMPONENT has")
	s.Type("s")
	s.Until("the key is in the line", func(now screentest.Screen) bool { return now.Shows("COMPONENT has") && now.Shows("steer> yes") })
	s.Until("the component covers the line", func(now screentest.Screen) bool { return now.Shows("COMPONENT has") && !now.Shows("steer>") })
	s.Type("ab")
	s.See("COMPONENT has ab")
	s.Press("esc")
	s.steers("yes")
	turn.Answer("and on.")
	s.rests("yes")
	if strings.Contains(s.Transcript(), "interrupted") {
		t.Errorf("Esc was not the component's:\n%s", s.Transcript())
	}
	s.Press("ctrl+c")
	s.quits()
}

func TestAComponentKnowsOfReleasesWhereTheTerminalTells(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: fmt.Sprintf(box, "releases = true,"), terminal: screentest.Options{Profile: screentest.Profile{Keyboard: true}}})
	s.rests("")
	s.Type("/box\r")
	s.See("BOX 80x")
	s.Type("\x1b[97;1:1u\x1b[97;1:3u")
	s.See("keys a -a")
	s.Type("q")
	s.rests("")
	s.quits()
}

func TestAComponentIsGoneAtTheEndOfTheProgram(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: fmt.Sprintf(box, "")})
	s.rests("")
	s.Type("/box\r")
	s.See("BOX 80x")
	s.Signal(syscall.SIGTERM)
	s.ended(statusTerminated)
	if strings.Contains(s.Transcript(), "BOX") {
		t.Errorf("the component is left behind:\n%s", s.Transcript())
	}
}
