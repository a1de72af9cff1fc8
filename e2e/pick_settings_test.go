//go:build unix

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

func TestSettingsAreChangedAndWrittenFromTheirList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const before = "# mine\nmodel = \"demo/tour\" # the tour\n\n[compaction]\nreserve_tokens = 2000 # enough\n"
	file := w.agentFile("config.toml")
	w.write(file, before)
	s := w.inTerminal()
	written := func(what, want string) {
		t.Helper()
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("%s config.toml is\n%s(%v), want\n%s", what, b, err, want)
		}
	}
	s.enter("/settings")
	s.see(1, "▸ model")
	s.see(1, "onfig.toml:2")

	// a flag, for this run
	s.keys("compaction.enabled")
	s.see(1, "▸ compaction.enabled")
	s.keys("\r")
	s.see(1, "compaction.enabled = false, for this run; Ctrl+S writes it to config.toml")
	s.see(1, "this run")
	written("after a change for the run", before)

	// a text, which is not allowed at first
	s.Press("ctrl+u")
	s.keys("reserve")
	s.see(1, "▸ compaction.reserve_tokens")
	s.keys("\r")
	s.asked("compaction.reserve_tokens · ")
	s.Press("ctrl+u")
	s.keys("many\r")
	s.asked("expected integer")
	s.Press("ctrl+u")
	s.keys("3000\r")
	s.see(1, "compaction.reserve_tokens = 3000, for this run")
	s.Press("ctrl+s")
	s.see(1, "compaction.reserve_tokens = 3000, written to ~/.pi/agent/config.toml")
	now := strings.Replace(before, "2000", "3000", 1)
	written("after Ctrl+S", now)

	// one of several words
	s.Press("ctrl+u")
	s.keys("ui.notify")
	s.see(1, "▸ ui.notify")
	s.Press("ctrl+s")
	s.see(1, "ui.notify has its default; Enter changes it")
	s.keys("\r")
	s.asked("▸ off")
	s.keys("bell\r")
	s.see(1, "ui.notify = bell, for this run")

	// one that cannot hold for this run
	s.Press("ctrl+u")
	s.keys("ui.plain")
	s.see(1, "▸ ui.plain")
	s.keys("\r")
	s.answer("ui.plain counts from the next start only. Write it to config.toml?", "n")
	s.see(1, "▸ ui.plain")
	written("after a refusal", now)
	s.keys("\r")
	s.answer("Write it to config.toml?", "y")
	s.see(1, "ui.plain = true, written to ~/.pi/agent/config.toml; it counts from the next start")
	s.see(1, "false (next start: true)")
	written("at the end", now+"\n[ui]\nplain = true\n")
	s.keys("\x1b")
	s.see(1, "compaction.enabled = false, for this run")
	s.enter("/settings ui.notify")
	s.see(1, `ui.notify = "bell"  (this run)`)
	s.enter("/quit")
	s.leave(statusDone)
}

// The colours of the status and of the list that is open are of the background that counts.
func TestTheBackgroundChangesWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{settings: `ui.background = "dark"`, terminal: screentest.Options{Rows: 24, Profile: screentest.Profile{Background: "rgb:ffff/ffff/ffff"}}})
	const dark, light, accent = "38;5;245", "38;5;241", "38;5;23"
	status := func(want string) {
		t.Helper()
		s.Until("the status has the colour of the background", func(now screentest.Screen) bool {
			row := slices.Index(now.Rows, "slow/small:off")
			return row >= 0 && now.Cells[row][0].Style == want
		})
	}
	s.rests("")
	status(dark)
	s.Type("/settings ui.background light\r")
	s.See(`ui.background = "light"  (this run)`)
	status(light)
	s.Type("/settings ui.background dark\r")
	status(dark)

	s.Type("/settings\r")
	s.See("Settings · ")
	s.Type("ui.background")
	s.See("▸ ui.background")
	s.Press("enter")
	s.quietly("▸ dark")
	s.Type("auto\r") // which is light
	s.Until("the list that is open has the colours", func(now screentest.Screen) bool {
		row, col := now.Find("▸ ui.background")
		return row >= 0 && now.Cells[row][col].Style == accent
	})
	s.Press("esc")
	status(light)
	s.quits()
}
