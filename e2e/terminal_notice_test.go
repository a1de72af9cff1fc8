//go:build unix

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// What a hook says while an answer comes splits no sentence: it stands between two
// blocks, once.
func TestANoticeDuringAStreamStandsBetweenBlocks(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		c := cols(n)
		c.hook = `local n = 0
pi.on("message_update", function(event, ctx)
  if event.delta.text:find("jumps") then n = n + 1; ctx.ui.notify("NOTICE " .. n) end
end)`
		s := newDesk(t, c)
		turn := s.ask("go")
		turn.Text("The quick brown fox ")
		s.See("quick brown")
		turn.Text("jumps ")
		s.See("NOTICE 1") // in the zone, after two seconds
		turn.Text("over the lazy dog.\n\nAnd another block")
		s.See("And another")
		turn.Text(" that jumps too.")
		turn.End()
		s.rests("")
		shown := s.Transcript()
		flat := strings.Join(strings.Fields(shown), " ")
		for _, whole := range []string{"The quick brown fox jumps over the lazy dog.", "And another block that jumps too."} {
			if !strings.Contains(flat, whole) {
				t.Errorf("%q is split:\n%s", whole, shown)
			}
		}
		for i := range 2 {
			if got := strings.Count(shown, fmt.Sprintf("NOTICE %d", i+1)); got != 1 {
				t.Errorf("notice %d is there %d times:\n%s", i+1, got, shown)
			}
		}
		s.quits()
	})
}

// Notices at rest go into the transcript above the zone, and only they.
func TestNoticesAtRestAddTheirOwnRows(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		w := newWorld(t)
		c := cols(n)
		c.world = w
		c.hook = `pi.on("session_start", function(event, ctx)
  ctx.ui.set_widget("w", { "a widget", "of two rows" })
  local said = 0
  require("pi.timer").every(20, function()
    if said < 10 and require("pi.fs").read("news") then said = said + 1; ctx.ui.notify("NOTICE " .. said) end
  end)
end)`
		s := newDesk(t, c)
		s.answered("hello", "Hello yourself.")
		s.Type("half a line")
		s.rests("half a line")
		s.See("of two rows")
		before := s.Transcript()
		w.write(filepath.Join(w.project, "news"), "x")
		s.See("NOTICE 10")
		s.Until("the widget and the line are below", func(now screentest.Screen) bool {
			notice, _ := now.Find("NOTICE 10")
			widget, _ := now.Find("a widget")
			return notice >= 0 && widget > notice && isLine(now, "> ", "half a line")
		})
		after := s.Transcript()
		if added := strings.Count(after, "\n") - strings.Count(before, "\n"); added != 10 {
			t.Errorf("%d rows were added, want 10:\n%s", added, after)
		}
		if strings.Count(after, "a widget") != 1 || strings.Count(after, "half a line") != 1 {
			t.Errorf("the zone is in the transcript:\n%s", after)
		}
		s.Press("ctrl+c")
		s.quits()
	})
}
