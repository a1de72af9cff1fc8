package repl

import (
	"testing"
	"time"

	"pi/repl/terminal"
)

// While the terminal takes nothing, what is said waits; but not when the program is to end.
func TestNobodyWaitsForATerminalWhenTheProgramIsToEnd(t *testing.T) {
	t.Parallel()
	s := newScreen(terminal.Palette{}, false, 80)
	s.change(func() { s.add(kindRows, string(make([]byte, pendingMost+1))) })
	changed := make(chan struct{})
	go func() {
		s.change(func() {})
		close(changed)
	}()
	s.stopWaiting()
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Fatal("it still waits")
	}
}
