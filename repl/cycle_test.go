//go:build unix

package repl

import (
	"strings"
	"testing"
)

func TestKeysGoThroughModelsAndLevelsAndLeaveTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("half\x10")
	s.see("model: test/two:off")
	s.see("test/two:off\n> half")
	s.prompt("half")
	s.typeKeys("\x10")
	s.see("test/one:off\n> half")
	s.prompt("half")
	s.typeKeys("\x1b[Z")
	s.see("thinking: off [minimal] low medium high xhigh max")
	s.see("test/one:minimal\n> half")
	s.prompt("half")
	s.typeKeys(" \x1b[Zmore\r")
	s.see("thinking: off minimal [low] medium high xhigh max")
	s.see(`you said "half more"`)
	s.prompt("")
	s.enter("/hotkeys")
	for _, row := range []string{"Ctrl+P               the next model", "Shift+Tab            the next mode; without modes the next thinking level"} {
		s.until("it is listed: "+row, func() bool { return strings.Contains(s.Transcript(), row) })
	}
}

func TestModelsAreNotGoneThroughWhileTheAgentWorks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("slow")
	s.see("working on it")
	s.typeKeys("\x10\r")
	s.see("model: still test/one; there is no going through models while the agent works")
	s.enter("go on")
	s.see("and heard you")
	s.prompt("")
	if strings.Contains(s.text(), "test/two") {
		t.Errorf("another model was chosen:\n%s", s.text())
	}
}
