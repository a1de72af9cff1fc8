//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pi/internal/testing/screentest"
)

// While pi -p works for longer, one row says what goes on; at the end it is gone, and
// answer and progress stand there as they would without.
func TestAPromptThatTakesLongHasARowMeanwhile(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{args: []string{"--model", "slow/large", "-p", "go"}, terminal: screentest.Options{Cols: 60}})
	row := func(pattern string) {
		t.Helper()
		re := regexp.MustCompile(pattern)
		s.Until("the last row matches "+pattern, func(now screentest.Screen) bool { return re.MatchString(now.LastRow()) })
	}
	if err := syscall.Mkfifo(s.world.project+"/hold", 0o600); err != nil {
		t.Fatal(err)
	}
	turn := s.turn()
	row(`^answering [0-9]+s$`)
	turn.Text(strings.Repeat("I look around. ", 20))
	row(`^answering [0-9]+s · [0-9]+ tokens$`)
	turn.Call("c1", "bash", "command", "read x <hold; echo $x")
	turn.End()
	row(`^bash [0-9]+s · [0-9]+ tokens$`)
	s.projectPipe("hold", "on\n")
	turn = s.turn()
	row(`^answering [0-9]+s · [0-9]+ tokens$`)
	turn.Answer("all seen")
	s.ended(statusDone)
	if rows := strings.Split(s.Screen().Text(), "\n"); len(rows) != 2 || !strings.HasPrefix(rows[0], "bash {") || rows[1] != "all seen" {
		t.Errorf("in the end the screen shows\n%s", s.Screen())
	}
}

// Where nothing that was written can be taken back there is none.
func TestAPlainTerminalHasNoRow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]scenery{
		"--plain":    {args: []string{"--plain"}},
		"[ui] plain": {settings: "[ui]\nplain = true\n"},
		"TERM=dumb":  {env: []string{"TERM=dumb"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.args = append(c.args, "--model", "slow/large", "-p", "go")
			s := newDesk(t, c)
			turn := s.turn()
			turn.Call("c1", "bash", "command", "sleep 3") // longer than a row waits
			turn.End()
			s.turn().Answer("done")
			s.ended(statusDone)
			if out := s.Output(); strings.Contains(out, "\x1b") || !strings.Contains(out, "done") {
				t.Errorf("it wrote %q", out)
			}
		})
	}
}
