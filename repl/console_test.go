//go:build unix

package repl

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// console is the test program in a terminal, and what its screen shows.
type console struct {
	*screentest.Terminal
	t   *testing.T
	cmd *exec.Cmd
}

// start runs the test program in a terminal of 40 lines and 80 columns.
func start(t *testing.T, env ...string) *console {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{programEnv + "=1", "TERM=xterm", "NO_COLOR=1", "GOCOVERDIR=" + t.TempDir()}, env...)
	return &console{screentest.Start(t, cmd, screentest.Options{Cols: 80, Rows: 40}), t, cmd}
}

// text is the screen without the blanks at the ends of its lines.
func (s *console) text() string { return s.Text() }

// see waits until the screen shows text.
func (s *console) see(text string) {
	s.t.Helper()
	s.until("the screen shows "+text, func() bool { return strings.Contains(s.text(), text) })
}

// prompt waits until the last line of the screen is an open prompt with text.
func (s *console) prompt(text string) {
	s.t.Helper()
	s.Until("the prompt holds "+text, func(now screentest.Screen) bool {
		return now.LastRow() == strings.TrimRight("> "+text, " ") && (now.Modes.BracketedPaste || s.dumb())
	})
}

// asked waits until a question or picker with a text has the keys: the cursor is in it.
func (s *console) asked(text string) {
	s.t.Helper()
	s.Until("it is asked: "+text, func(now screentest.Screen) bool {
		before := strings.TrimLeft(now.Before(), " ")
		return now.Shows(text) && (strings.HasPrefix(before, "[y/N") || strings.HasPrefix(before, "filter: ") || strings.HasPrefix(before, "? "))
	})
}

// steer waits until the line is open while the agent works, and holds text.
func (s *console) steer(text string) {
	s.t.Helper()
	s.until("the line that steers holds "+text, func() bool { return s.Screen().LastRow() == strings.TrimRight("steer> "+text, " ") })
}

// esc presses Esc and waits until it cannot be the beginning of another key.
func (s *console) esc() {
	s.typeKeys("\x1b")
	s.Pause(100 * time.Millisecond)
}

// dumb reports whether the terminal has not been told to mark pastes yet, as a dumb
// one never is.
func (s *console) dumb() bool { return !strings.Contains(s.output(), "\x1b[?2004h") }

func (s *console) output() string { return s.Output() }

func (s *console) until(what string, ok func() bool) {
	s.t.Helper()
	s.Until(what, func(screentest.Screen) bool { return ok() })
}

func (s *console) typeKeys(keys string) { s.Type(keys) }

// enter types a line at the open prompt.
func (s *console) enter(line string) {
	s.t.Helper()
	s.typeKeys(line + "\r")
}

// leave waits for the end of the program and checks that the terminal is as it
// was found.
func (s *console) leave() error {
	s.t.Helper()
	status := s.Wait()
	s.CheckRestored()
	if status != 0 {
		return fmt.Errorf("exit status %d", status)
	}
	return nil
}
