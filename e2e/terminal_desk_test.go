//go:build unix

package e2e

import (
	"context"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
	"pi/internal/testing/slowmodel"
)

// deskPatience is for a user who works at what fails; a test that passes never waits
// as long.
var deskPatience = flag.Duration("patience", patience, "how long the checks of the terminal wait for what does not happen")

// desk is the program in a terminal with a model that the test plays.
type desk struct {
	*screentest.Terminal
	t     testing.TB
	world *world
	model *slowmodel.Server
}

// scenery is what a desk is built from. The zero value is a terminal of 80 columns and
// 24 rows with colours, and the program without hooks.
type scenery struct {
	world    *world // nil: a new one
	terminal screentest.Options
	args     []string
	env      []string
	settings string // of config.toml, in front of those of the model
	retry    string // the pause before the first retry, "50ms" if empty
	hook     string // the text of a hook
	program  string // of TestMain, "pi" if empty
	command  []string
	model    *slowmodel.Server // of a desk before, with the settings that name it
}

// cols is a scenery with a window of this width.
func cols(n int) scenery { return scenery{terminal: screentest.Options{Cols: n}} }

// newDesk starts the program.
func newDesk(t testing.TB, c scenery) *desk {
	t.Helper()
	if c.world == nil {
		c.world = newWorld(t)
	}
	if c.retry == "" {
		c.retry = "50ms"
	}
	if c.program == "" {
		c.program = "pi"
	}
	if c.terminal.Patience == 0 {
		c.terminal.Patience = *deskPatience
	}
	w := c.world
	if c.model == nil {
		c.model = newModel(t)
		w.write(w.agentFile("config.toml"), c.settings+"\n"+c.model.Settings(c.retry))
	}
	if c.hook != "" {
		w.write(w.agentFile("hooks/scene.lua"), c.hook)
	}
	cmd := w.command(c.args...)
	cmd.Args[0] = c.program
	if c.command != nil {
		cmd.Path, cmd.Args = c.command[0], c.command
	}
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8"), c.env...)
	return &desk{screentest.Start(t, cmd, c.terminal), t, w, c.model}
}

func newModel(t testing.TB) *slowmodel.Server {
	t.Helper()
	model, err := slowmodel.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	return model
}

// turn waits until the model is asked.
func (s *desk) turn() *slowmodel.Turn {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), *deskPatience)
	defer cancel()
	turn, err := s.model.Next(ctx)
	if err != nil {
		s.t.Fatalf("the model is not asked: %v; the screen:\n%s", err, s.Screen())
	}
	return turn
}

// ask types a line at rest, sends it, and waits until the model is asked and the screen
// shows that the agent works.
func (s *desk) ask(line string) *slowmodel.Turn {
	s.t.Helper()
	s.rests("")
	s.Type(line)
	s.rests(line)
	s.Press("enter")
	turn := s.turn()
	s.works()
	return turn
}

// works waits until the line that is shown is that of a working agent.
func (s *desk) works() {
	s.t.Helper()
	s.Until("the agent is shown at work", func(now screentest.Screen) bool { return strings.HasPrefix(now.CursorRow(), "steer>") })
}

// answered is a prompt and an answer, to their end.
func (s *desk) answered(prompt, answer string) {
	s.t.Helper()
	s.ask(prompt).Answer(answer)
	s.rests("")
}

// rests waits until the agent is idle and the line, which is read, is this one. The
// cursor is at its end.
func (s *desk) rests(line string) screentest.Screen {
	s.t.Helper()
	return s.Until(fmt.Sprintf("the line at rest is %q", line), func(now screentest.Screen) bool { return isLine(now, "> ", line) })
}

// steers waits until the line that is typed while the agent works is this one.
func (s *desk) steers(line string) screentest.Screen {
	s.t.Helper()
	return s.Until(fmt.Sprintf("the line while it works is %q", line), func(now screentest.Screen) bool { return isLine(now, "steer> ", line) })
}

// isLine reports whether the line behind a prompt is this one and is being read.
func isLine(now screentest.Screen, prompt, line string) bool {
	typed, ok := typedLine(now, prompt)
	return ok && now.Modes.BracketedPaste && unspaced(typed) == unspaced(line)
}

// typedLine is what is shown behind the prompt up to the cursor, its rows joined.
func typedLine(now screentest.Screen, prompt string) (string, bool) {
	for row := now.Row; row >= 0; row-- {
		if rest, ok := strings.CutPrefix(now.Rows[row]+" ", prompt); ok {
			if row == now.Row {
				return strings.TrimPrefix(now.Before(), prompt), true
			}
			return rest + strings.Join(now.Rows[row+1:now.Row], "") + now.Before(), true
		}
	}
	return "", false
}

// unspaced is a text without blanks: where a row breaks, and with what indent, is not
// what is looked for.
func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

// quits leaves in order.
func (s *desk) quits() {
	s.t.Helper()
	s.rests("")
	s.Type("/quit\r")
	s.ended(statusDone)
}

// ended waits for the end, and checks that the terminal is as it was.
func (s *desk) ended(status int) {
	s.t.Helper()
	if got := s.Wait(); got != status {
		s.t.Errorf("exit status %d, want %d; the screen:\n%s", got, status, s.Screen())
	}
	s.CheckRestored()
}

// matches waits until some row of the screen matches.
func (s *desk) matches(pattern string) screentest.Screen {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	return s.Until("a row matches "+pattern, func(now screentest.Screen) bool { return slices.ContainsFunc(now.Rows, re.MatchString) })
}

// rowsWith are the rows of a screen with a text.
func rowsWith(now screentest.Screen, text string) (rows []string) {
	for _, row := range now.Rows {
		if strings.Contains(row, text) {
			rows = append(rows, row)
		}
	}
	return rows
}

// atWidths runs a test at each width, all at a time.
func atWidths(t *testing.T, widths []int, test func(t *testing.T, cols int)) {
	t.Parallel()
	for _, n := range widths {
		t.Run(fmt.Sprintf("%d columns", n), func(t *testing.T) {
			t.Parallel()
			test(t, n)
		})
	}
}

// usualWidths are those of the checks.
var usualWidths = []int{20, 40, 80, 200}

// within waits for a channel to be closed.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(*deskPatience):
		t.Fatal("it did not happen: " + what)
	}
}
