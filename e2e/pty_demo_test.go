//go:build unix

package e2e

import (
	"os"
	"testing"
)

// In a terminal the person sees who answers, so without any settings or key the
// demo does, and says how to get a model.
func TestInATerminalTheDemoStandsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, settings, says string }{
		{"without settings", "", "demo/tour is a script, no model"},
		{"with settings that cannot be read", "model = \"local\n", "toml:1: syntax error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := os.Remove(w.agentFile("config.toml")); err != nil {
				t.Fatal(err)
			}
			if c.settings != "" {
				w.write(w.agentFile("config.toml"), c.settings)
			}
			s := w.inTerminal()
			s.see(1, c.says)
			s.enter("list")
			s.see(1, "This directory has 1 entry")
			s.enter("/quit")
			s.leave(statusDone)
		})
	}
}
