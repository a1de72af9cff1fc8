//go:build unix

package e2e

import (
	"slices"
	"testing"

	"pi/internal/testing/screentest"
)

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
