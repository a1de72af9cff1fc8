//go:build unix

package e2e

import (
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// /help begins with the ten things one needs, with the keys as they are bound, and then names
// the commands; in plain mode it names the keys that there are. In a window of 80 by 24 all of
// it is seen at once.
func TestHelpBeginsWithWhatOneNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		columns int
		rows    int
		args    []string
		typed   []string
	}{
		"40 columns": {columns: 40, rows: 60},
		"80 columns": {columns: 80, rows: 24},
		"plain mode": {columns: 80, rows: 24, args: []string{"--plain"}, typed: []string{"!command", "!!command", "@file", "/name", "Enter", `\ Enter`, "Ctrl+C", "Ctrl+D"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("config.toml"), "[keys]\neditor = \"f5\"\n")
			s := w.inTerminalOf(screentest.Options{Cols: c.columns, Rows: c.rows}, "pi", c.args...)
			s.enter("/help")
			s.see(1, "/help all says")
			typed := c.typed
			if typed == nil {
				typed = []string{"!command", "!!command", "@file", "/name", "Tab", "Esc", "Ctrl+O", "Ctrl+R", "Alt+Enter, Alt+Up", "F5"}
			}
			_, help, _ := strings.Cut(s.text(), "/help\n")
			for _, want := range append(typed, "The model", "Templates") {
				_, behind, found := strings.Cut("\n"+help, "\n"+want)
				if !found {
					t.Fatalf("%q is not at the beginning of a row behind the others:\n%s", want, s.text())
				}
				help = behind
			}
			s.enter("/quit")
			s.leave(statusDone)
		})
	}
}
