//go:build unix

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// A terminal may be as narrow as it likes, or have no width: what is typed is sent, and
// Ctrl+C and Ctrl+D do what they do.
func TestAnyWidthIsUsable(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 5, 8, 11} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			o := screentest.Options{Cols: n, Rows: 20}
			if n == 0 {
				o = screentest.Options{NoSize: true}
			}
			s := newDesk(t, scenery{terminal: o})
			s.Until("there is a prompt", func(now screentest.Screen) bool { return strings.HasPrefix(now.LastRow(), ">") })
			s.Type("hello\r")
			turn := s.turn()
			if got := turn.Request.Last(); got != "hello" {
				t.Errorf("the model was told %q", got)
			}
			turn.Answer("Yes.")
			s.SeeAnywhere("Yes.")
			s.Type("again\r")
			turn = s.turn()
			s.Press("ctrl+c")
			within(t, "the request is given up", turn.Abandoned())
			s.Until("there is a prompt again", func(now screentest.Screen) bool { return strings.HasPrefix(now.LastRow(), ">") })
			s.Pause(100 * time.Millisecond)
			s.Press("ctrl+d")
			s.ended(statusDone)
		})
	}
}

// A line that is open keeps its text while the window is squeezed.
func TestASqueezedLineIsKept(t *testing.T) {
	t.Parallel()
	for _, narrow := range [][2]int{{5, 24}, {1, 1}, {0, 0}} {
		t.Run(fmt.Sprint(narrow), func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			s.rests("")
			s.Type("half a line")
			s.rests("half a line")
			if narrow[0] == 0 {
				s.SetSize(0, 0)
			} else {
				s.Resize(narrow[0], narrow[1])
			}
			s.Type(", and the rest")
			s.Resize(80, 24)
			s.rests("half a line, and the rest")
			s.Press("enter")
			turn := s.turn()
			if got := turn.Request.Last(); got != "half a line, and the rest" {
				t.Errorf("the model was told %q", got)
			}
			s.works()
			turn.Answer("Yes.")
			s.rests("")
			s.Press("ctrl+d")
			s.ended(statusDone)
		})
	}
}

// jobs is a shell with job control in which the program runs, in a terminal.
func jobs(t *testing.T, c scenery) *desk {
	t.Helper()
	c.world = newWorld(t)
	bin := shortTempDir(t)
	link(t, piCommand(t), filepath.Join(bin, "pi"))
	c.command = []string{"/bin/sh", "-i"}
	c.env = append(c.env, "ENV=", "PS1=shell$ ", "PATH="+bin+":/usr/bin:/bin")
	return newDesk(t, c)
}

// inShell waits for the shell's prompt as the last row.
func (s *desk) inShell() screentest.Screen {
	s.t.Helper()
	return s.Until("the shell has the terminal", func(now screentest.Screen) bool { return now.CursorRow() == "shell$" })
}

// Ctrl+Z gives the terminal back as it was, whatever is open, and fg redraws it.
func TestCtrlZAndFgKeepWhatIsOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin func(s *desk)
		shown string
		end   func(s *desk)
	}{
		"at the prompt": {func(s *desk) { s.Type("half a line"); s.rests("half a line") }, "> half a line", func(s *desk) { s.rests("half a line"); s.Press("ctrl+c") }},
		"in a stream": {func(s *desk) {
			turn := s.ask("go")
			turn.Text("The beginning of a sentence ")
			s.See("The beginning of a sentence")
			s.Type("half a line")
			s.steers("half a line")
			t.Cleanup(turn.End)
		}, "steer> half a line", func(s *desk) { s.steers("half a line"); s.Press("esc"); s.rests("half a line"); s.Press("ctrl+c") }},
		"in a picker": {func(s *desk) { s.Type("/model\r"); s.See("▸") }, "▸", func(s *desk) { s.Press("esc") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := jobs(t, scenery{terminal: screentest.Options{Profile: screentest.Profile{Keyboard: true}}})
			s.inShell()
			before := s.Stty()
			s.Type("pi\r")
			s.rests("")
			c.begin(s)
			for range 2 {
				s.Press("ctrl+z")
				s.inShell()
				if got := s.Stty(); got != before {
					t.Errorf("stty -a says\n%s\nbefore it said\n%s", got, before)
				}
				if modes := s.Screen().Modes; modes != (screentest.Modes{}) {
					t.Errorf("still switched on: %+v", modes)
				}
				if got := len(rowsWith(s.Screen(), c.shown)); got > 0 {
					t.Errorf("the live zone is still there; the screen:\n%s", s.Screen())
				}
				s.Type("fg\r")
				s.See(c.shown)
			}
			c.end(s)
			s.rests("")
			s.Type("/quit\r")
			s.inShell()
			s.Type("exit\r")
			s.ended(0)
		})
	}
}
