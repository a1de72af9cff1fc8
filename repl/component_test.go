//go:build unix

package repl

import (
	"strings"
	"testing"
)

func TestComponentIsDrawnInPlaceAndGetsKeysByName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/panel wait")
	s.see("panel of 80\nkeys:")
	s.typeKeys("aü \x1b[A\x1b[1;5C\r\t\x7f\x1bOP\x1b[Z\x01\x1bx")
	s.see("panel of 80\nkeys: a ü space up ctrl+right enter tab backspace f1 shift+tab ctrl+a alt+x")
	s.typeKeys("\x1b")
	s.see(" alt+x esc")
	s.typeKeys("qnext")
	s.see("closed after a ü space up")
	s.prompt("next")
	if strings.Contains(s.text(), "panel of") {
		t.Errorf("the panel is still there:\n%s", s.text())
	}
	if strings.Contains(s.output(), "\x1b[2J") {
		t.Error("a control sequence of the component reached the terminal")
	}
}

func TestCtrlCGetsOutOfAComponentThatIsStuck(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/panel wait")
	s.see("keys:")
	s.typeKeys("a")
	s.see("keys: a")
	s.typeKeys("sb")
	s.see("it is stuck")
	s.typeKeys("\x03")
	s.see("closed after a s")
	s.prompt("")
	s.typeKeys("rest")
	s.prompt("rest")
}

func TestTranscriptGoesOnAboveAComponent(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=tool")
	s.prompt("")
	s.enter("/panel")
	s.see("keys:")
	s.tell()
	s.see("the tool said it")
	s.see("panel of 80\nkeys:")
	s.typeKeys("q")
	s.until("the panel is gone", func() bool { return !strings.Contains(s.text(), "panel of") })
	s.prompt("")
}

func TestComponentOnADumbTerminalIsFedWithLines(t *testing.T) {
	t.Parallel()
	s := start(t, "TERM=dumb")
	s.prompt("")
	s.enter("/panel wait")
	s.see("keys:")
	s.enter("ab")
	s.see("keys: a b enter")
	s.enter("q")
	s.see("closed after a b enter q")
	s.prompt("")
	s.enter("/panel wait")
	s.until("it is shown anew", func() bool { return strings.HasSuffix(s.text(), "keys:\n?") })
	s.typeKeys("\x03")
	s.until("Ctrl+C gets out", func() bool { return strings.Count(s.text(), "closed after") == 2 })
	s.prompt("")
}
