//go:build unix

package e2e

import (
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// asked waits until a dialog with this text has the keys: the cursor is in it, and no
// longer in the line. Before that, keys are the line's.
func (s *screen) asked(text string) {
	s.t.Helper()
	s.Until("it is asked: "+text, func(now screentest.Screen) bool { return now.Shows(text) && inDialog(now) })
}

// answer waits for a dialog with this text, and gives it keys.
func (s *screen) answer(text, keys string) {
	s.t.Helper()
	s.asked(text)
	s.keys(keys)
}

// answered waits until no dialog has the keys.
func (s *screen) answered() {
	s.t.Helper()
	s.Until("no dialog is open", func(now screentest.Screen) bool { return !inDialog(now) })
}

// inDialog reports whether the cursor is in a question, an input or a picker.
func inDialog(now screentest.Screen) bool {
	before := strings.TrimLeft(now.Before(), " ")
	for _, sign := range []string{"[y/N", "filter: ", "answer: ", "? "} {
		if strings.HasPrefix(before, sign) {
			return true
		}
	}
	return false
}

// esc presses Esc and waits until it cannot be the beginning of another key.
func (s *screen) esc() {
	s.keys("\x1b")
	s.Pause(100 * time.Millisecond)
}

func TestWhatIsTypedWhenAQuestionOpensDoesNotAnswerIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/ask.lua"), `pi.on("session_start", function(_, ctx)
  require("pi.timer").after(1, function()
    ctx.ui.notify("sure: " .. tostring(ctx.ui.confirm("Really?", "")))
  end)
end)`)
	s := w.inTerminal()
	s.see(1, "Really?")
	s.keys("y\x15yes") // at once: for the line, which has it when the question is answered
	s.asked("Really?")
	s.keys("n")
	s.see(1, "sure: false")
	s.stands("yes")
	s.keys(clearLine)
	s.enter("/quit")
	s.leave(statusDone)
}
