//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// lists waits until the line is this one, and a menu below it that has a row with this text.
func (s *desk) lists(line, row string, chosen bool) {
	s.t.Helper()
	s.Until("below "+line+" is "+row, func(now screentest.Screen) bool {
		for i, x := range now.Rows {
			if at := strings.Index(x, row); i > now.Row && at >= 0 {
				return isLine(now, "> ", line) && (strings.TrimSpace(x[:at]) == "▸") == chosen
			}
		}
		return false
	})
}

// A list opens by itself, and changes nothing of what keys do, until Tab goes into it.
func TestListsOpenAsOneTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(filepath.Join(w.project, "notes.md"), "hello\n")
	s := newDesk(t, scenery{world: w})
	s.answered("said before", "Yes.")
	s.Type("/sessi")
	s.lists("/sessi", "/session", false)
	s.Press("up") // the history
	s.rests("said before")
	s.Press("down")
	s.rests("/sessi")
	s.Type("o")
	s.lists("/sessio", "/session", false)
	s.Press("enter") // what is typed
	s.See("unknown command /sessio")
	s.rests("/sessio")
	s.Press("ctrl+c")
	s.rests("")
	s.Type("/se")
	s.lists("/se", "/session", false)
	s.Press("tab")
	s.Until("a row is chosen", func(now screentest.Screen) bool { return now.Shows("▸ /se") })
	s.Press("down", "up", "enter")
	s.Until("it is taken, and nothing is sent", func(now screentest.Screen) bool {
		return !now.Shows("▸") && (isLine(now, "> ", "/session") || isLine(now, "> ", "/settings"))
	})
	s.Press("ctrl+c")
	s.rests("")
	s.Type("look at @no")
	s.lists("look at @no", "notes.md", false)
	s.Press("esc")
	s.Until("the list is gone", func(now screentest.Screen) bool { return !now.Shows("notes.md") })
	s.Type("t")
	s.Quiet(500 * time.Millisecond)
	if now := s.Screen(); now.Shows("notes.md") {
		t.Errorf("the list that was left is back:\n%s", now)
	}
	s.Type(" @no")
	s.lists("look at @not @no", "notes.md", false)
	s.Press("tab")
	s.rests("look at @not @notes.md ")
	s.Press("ctrl+c")
	s.quits()
}

func TestEscInterruptsAlthoughAListIsOpen(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.ask("go")
	s.Type("/sessi")
	s.Until("the list is open", func(now screentest.Screen) bool { return now.Shows("steer> /sessi") && now.Shows("  /session") })
	s.Press("esc")
	s.See("interrupted (Esc)")
	s.rests("/sessi")
	s.Press("ctrl+c")
	s.quits()
}

func TestListsOpenWithTabAlone(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{settings: `ui.menu = "tab"`})
	s.rests("")
	s.Type("/se")
	s.rests("/se")
	s.Quiet(500 * time.Millisecond)
	if now := s.Screen(); now.Shows("/session") {
		t.Errorf("a list is open:\n%s", now)
	}
	s.Press("tab")
	s.Until("a row is chosen", func(now screentest.Screen) bool { return now.Shows("▸ /se") })
	s.Press("esc")
	s.rests("/se")
	s.Press("ctrl+c")
	s.quits()
}
