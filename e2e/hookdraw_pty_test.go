//go:build unix

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// What hooks draw and complete, the keys they bind, and what they send.

func TestAHookCompletesWordsInTheMenu(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.completion("#", { description = "issues", complete = function(word, ctx)
  return { { value = "#17", label = "#17", description = "crash at start" }, { value = "#23", label = "#23", description = "slow search" } }
end })`})
	s.rests("")
	s.Type("see #")
	s.Press("tab")
	now := s.See("crash at start")
	if !now.Shows("slow search") {
		t.Errorf("the menu has not all:\n%s", now)
	}
	s.Type("23")
	s.UntilGone("crash at start")
	s.Press("enter")
	s.rests("see #23 ")
	s.Press("enter")
	turn := s.turn()
	turn.Answer("Seen.")
	s.See("> see #23")
	s.quits()
}

// The call of a tool and its result are drawn by a hook, in full too.
func TestAHookDrawsACallInFullForCtrlO(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `pi.renderer{ tool = "read",
  call = function(input, opts, theme)
    if opts.expanded then return { "looking at " .. input.path, "with both eyes" } end
    return { "looking at " .. input.path }
  end,
  result = function(result, opts, theme)
    if opts.expanded then return { "ALL OF IT", "to the end" } end
    return { "a glimpse" }
  end }`})
	turn := s.ask("go")
	turn.Call("c1", "read", "path", "a.txt")
	turn.End()
	turn = s.turn()
	s.See("• looking at a.txt ✓")
	now := s.See("a glimpse")
	if now.Shows("with both eyes") || now.Shows("ALL OF IT") {
		t.Errorf("it is drawn in full at once:\n%s", now)
	}
	turn.Answer("Done.")
	s.rests("")
	s.Press("ctrl+o")
	s.around("in full", "a glimpse", "• looking at a.txt", "with both eyes", "ALL OF IT", "to the end")
	s.quits()
}

// A message that a hook draws otherwise in full can be seen so.
func TestAHookDrawsAMessageInFullForCtrlO(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `pi.renderer{ entry = "card", result = function(message, opts)
  if opts.expanded then return { "ALL OF THE CARD", "to its end" } end
  return { "a card" }
end }
pi.command("card", { handler = function() pi.send_message{ custom_type = "card", content = "x", display = true } end })`})
	s.rests("")
	s.Type("/card\r")
	s.See("a card")
	s.See("#1 · Ctrl+O")
	s.rests("")
	s.Press("ctrl+o")
	s.around("in full", "a card", "ALL OF THE CARD", "to its end")
	s.quits()
}

// styleOf is the style of the first cell of a text.
func styleOf(t *testing.T, now screentest.Screen, text string) string {
	t.Helper()
	row, col := now.Find(text)
	if row < 0 {
		t.Fatalf("%q is not shown:\n%s", text, now)
	}
	return now.Cells[row][col].Style
}

func TestAHookPaintsWithTheColoursOfTheTerminal(t *testing.T) {
	t.Parallel()
	const hook = `pi.on("session_start", function(event, ctx)
  local t = ctx.ui.theme
  local rows = { t.bg("error", "GROUND"), t.rgb(255, 128, 1, "ORANGE"), t.inverse("TURNED"), t.bold(t.fg("accent", "LOUD")) }
  for _, row in ipairs(t.markdown("# Head\n\nsome **strong** words", 40)) do rows[#rows + 1] = row end
  ctx.ui.set_widget("colours", rows)
end)`
	for _, x := range []struct {
		name, colorterm, background string
		ground, orange, accent      string
	}{
		{"256 colours", "", "", "48;5;52", "38;5;208", "80"},
		{"all colours", "truecolor", "", "48;5;52", "38;2;255;128;1", "80"},
		{"24bit", "24bit", "", "48;5;52", "38;2;255;128;1", "80"},
		{"light", "truecolor", "rgb:ffff/ffff/ffff", "48;5;224", "38;2;255;128;1", "23"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			want := []string{x.ground, x.orange, "7", "1;38;5;" + x.accent, "1"}
			// A terminal that takes longer to say what its background is than a start waits
			// for, as on a busy machine, counts as dark: then it is started again.
			for start := 1; ; start++ {
				s := newDesk(t, scenery{hook: hook, env: []string{"COLORTERM=" + x.colorterm},
					terminal: screentest.Options{Rows: 40, Profile: screentest.Profile{Background: x.background}}})
				s.rests("")
				now := s.See("strong words")
				got := []string{styleOf(t, now, "GROUND"), styleOf(t, now, "ORANGE"), styleOf(t, now, "TURNED"), styleOf(t, now, "LOUD"), styleOf(t, now, "strong")}
				s.quits()
				if slices.Equal(got, want) {
					return
				}
				if start == 5 || x.background == "" {
					t.Fatalf("the styles are %q, want %q", got, want)
				}
			}
		})
	}
}

func TestHooksHaveKeysAndChordsButNotThoseThatAreReserved(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{hook: `local function key(chord)
  local ok, err = pi.shortcut(chord, { description = "d", handler = function(ctx) ctx.ui.notify("KEY " .. chord) end })
  if not ok then pi.state.refused = (pi.state.refused or "") .. chord .. " " end
end
for _, chord in ipairs{ "f6", "ctrl+x t", "esc esc", "ctrl+c", "ctrl+o" } do key(chord) end
pi.command("refused", { handler = function() return { status = "refused: " .. tostring(pi.state.refused) } end })`})
	s.rests("")
	s.Type("/refused\r")
	s.See("refused: ctrl+c ctrl+o")
	s.rests("")
	s.Press("f6")
	s.See("KEY f6")
	s.Press("ctrl+x")
	s.Type("t")
	s.See("KEY ctrl+x t")
	s.Press("esc")
	s.Pause(60 * time.Millisecond)
	s.Press("esc")
	s.See("KEY esc esc")
	s.rests("")
	turn := s.ask("go")
	s.Press("f6")
	s.Until("it is there while the agent works", func(now screentest.Screen) bool { return now.Count("KEY f6") == 2 })
	turn.Answer("Done.")
	s.quits()
}

// What a hook queues while the agent works is seen in the rows of the queue, and then as a
// prompt is.
func TestWhatAHookQueuesIsSeenAsWhatIsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `pi.on("turn_start", function(event, ctx)
  if event.turn_index > 0 then return end
  local off
  off = require("pi.timer").every(20, function()
    if not require("pi.fs").read("now") then return end
    off()
    pi.send_user_message("STEER BY HOOK", { deliver_as = "steer" })
    pi.send_user_message("LATER BY HOOK", { deliver_as = "follow_up" })
    pi.send_message({ custom_type = "memo", content = "MEMO BY HOOK", display = true }, { deliver_as = "steer" })
  end)
end)`})
	turn := s.ask("go")
	w.write(filepath.Join(w.project, "now"), "x")
	s.matches(`↳ after this tool: STEER BY HOOK`)
	s.matches(`↳ at the end: LATER BY HOOK`)
	s.Type("typed too\r")
	s.matches(`↳ after this tool: typed too`)
	for _, row := range []string{`^> STEER BY HOOK`, `^\[memo\] MEMO BY HOOK`, `^> typed too`, `^> LATER BY HOOK`} {
		turn.Answer("Seen.")
		turn = s.turn()
		s.matches(row)
	}
	turn.Answer("All seen.")
	now := s.rests("")
	for _, text := range []string{"STEER BY HOOK", "LATER BY HOOK", "MEMO BY HOOK", "typed too"} {
		if n := strings.Count(s.Transcript(), text); n != 1 {
			t.Errorf("%q is there %d times:\n%s", text, n, now)
		}
	}
	s.quits()
}

func TestTheUpdatesOfAHooksToolAreSeenAsTheyCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `pi.tool{ name = "dig", description = "digs", parameters = { type = "object", properties = {} },
  execute = function(params, ctx, call)
    for i = 1, 3 do
      call.update("depth " .. i)
      while not require("pi.fs").read("go" .. i) do require("pi.timer").sleep(10) end
    end
    return "deep enough"
  end }`})
	turn := s.ask("go")
	turn.Call("c1", "dig")
	turn.End()
	for i := range 3 {
		s.See(fmt.Sprintf("depth %d", i+1))
		w.write(filepath.Join(w.project, fmt.Sprintf("go%d", i+1)), "x")
	}
	turn = s.turn()
	s.See("deep enough")
	turn.Answer("Done.")
	now := s.rests("")
	if now.Shows("depth") {
		t.Errorf("the updates are left behind:\n%s", now)
	}
	s.quits()
}
