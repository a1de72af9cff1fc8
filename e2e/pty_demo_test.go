//go:build unix

package e2e

import (
	"os"
	"strings"
	"testing"
)

// In a terminal the user sees who answers, so without any settings or key the
// demo does, and says how to get a model.
func TestInATerminalTheDemoStandsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.Remove(w.agentFile("config.toml")); err != nil {
		t.Fatal(err)
	}
	s := w.inTerminal()
	s.see(1, "demo/tour is a script, no model")
	s.enter("list")
	s.see(1, "This directory has 1 entry")
	s.enter("/quit")
	s.leave(statusDone)
}

// Who has settings that cannot be read meant another model than the demo.
func TestTheDemoDoesNotStandInForSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("config.toml"), "model = \"local\n")
	s := w.inTerminal()
	s.leave(2)
	if out := s.output(); !strings.Contains(out, "error: "+w.agentFile("config.toml")+":1: syntax error") || strings.Count(out, "nothing of this file is used") != 1 ||
		!strings.Contains(out, "there is no model to ask without") || strings.Contains(out, "is a script, no model") {
		t.Errorf("it says\n%s", out)
	}
}
