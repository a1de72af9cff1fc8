//go:build unix

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// screen is the program in a terminal, and what the terminal shows. All waiting is
// for something that the screen has to show.
type screen struct {
	*screentest.Terminal
	t testing.TB
}

const (
	screenLines   = 50
	screenColumns = 100
	patience      = time.Minute // only a failing test waits as long
)

// inTerminal starts the program of a world in a terminal.
func (w *world) inTerminal(args ...string) *screen {
	w.t.Helper()
	return w.inTerminalAs("pi", args...)
}

// inTerminalAs is inTerminal for another of the programs of TestMain.
func (w *world) inTerminalAs(program string, args ...string) *screen {
	w.t.Helper()
	return w.inTerminalOf(screentest.Options{Cols: screenColumns, Rows: screenLines, NoSize: w.narrow}, program, args...)
}

// inTerminalOf is inTerminalAs in a terminal of another kind.
func (w *world) inTerminalOf(o screentest.Options, program string, args ...string) *screen {
	w.t.Helper()
	cmd := w.command(args...)
	cmd.Args[0] = program
	cmd.Env = append(append(cmd.Env, "TERM=xterm", "NO_COLOR=1", "VISUAL="+filepath.Join(w.home, "editor")), w.env...)
	o.Patience = patience
	return &screen{screentest.Start(w.t, cmd, o), w.t}
}

// text is the screen without the blanks at the ends of its lines.
func (s *screen) text() string { return s.Text() }

// output is all that the program has written.
func (s *screen) output() string { return s.Output() }

func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	s.Until(what, func(screentest.Screen) bool { return ok() })
}

// see waits until the screen shows a text this many times, be it in one row or
// broken at the screen's edge or between words: where a row with a path of this
// machine breaks, no test knows.
func (s *screen) see(times int, text string) {
	s.t.Helper()
	s.Until("the screen shows "+text, func(now screentest.Screen) bool { return now.Count(text) >= times })
}

// prompt waits until the last line of the screen is an empty prompt that is read.
func (s *screen) prompt() {
	s.t.Helper()
	s.Until("the prompt is open", func(now screentest.Screen) bool {
		return now.LastRow() == ">" && now.Modes.BracketedPaste
	})
}

// reading tells from bracketed paste, which is on while the prompt is open.
func (s *screen) reading() bool { return s.Screen().Modes.BracketedPaste }

func (s *screen) keys(keys string) { s.Type(keys) }

// enter types a line at the open prompt, and waits until it is seen there: what is
// typed next is not to be taken for input at the same prompt.
func (s *screen) enter(line string) {
	s.t.Helper()
	s.prompt()
	before := s.Written()
	s.keys(line + "\r")
	s.until("the line is echoed, and its Enter", func() bool { return strings.Contains(s.output()[before:], "\n") })
}

// leave waits for the end of the program and checks its exit status and that the
// terminal is as it was found.
func (s *screen) leave(status int) {
	s.t.Helper()
	if got := s.Wait(); got != status {
		s.t.Errorf("the program ended with exit status %d, want %d; screen:\n%s", got, status, s.Screen())
	}
	s.CheckRestored()
}

// harmless checks that none of these sequences has reached the terminal.
func (s *screen) harmless(sequences ...string) {
	s.t.Helper()
	for _, bad := range sequences {
		if strings.Contains(s.output(), bad) {
			s.t.Errorf("%q reached the terminal", bad)
		}
	}
}

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

const clearLine = "\x15"

// stands waits until the prompt is open and this stands in it.
func (s *screen) stands(line string) {
	s.t.Helper()
	s.until("the prompt holds "+line, func() bool {
		text := s.text()
		return text[strings.LastIndexByte(text, '\n')+1:] == "> "+line && s.reading()
	})
}

// talk starts the program in a terminal with a model that gives these answers.
func talk(t *testing.T, w *world, answers string) (*screen, *modelServer) {
	t.Helper()
	m := newModelServer("openai-completions", answers, "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), m.settings())
	return w.inTerminal(), m
}
