//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pi/internal/testing/screentest"
)

// Who resumes a session sees the last exchange: the first row of the prompt and the last
// rows of the answer, in a third of the window.
func TestAResumedSessionShowsItsLastExchange(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		w := newWorld(t)
		var answer []string
		for i := range 30 {
			answer = append(answer, fmt.Sprintf("Line %d of it.", i))
		}
		w.keepsTalk("talked", talked{prompts: []string{"the title", "an old prompt", "the last prompt\nand its second row"}, last: strings.Join(answer, "\n\n")})
		c := cols(n)
		c.world, c.args = w, []string{"--continue"}
		s := newDesk(t, c)
		s.rests("")
		s.See("the last prompt")
		now := s.See("Line 29 of it.")
		for _, text := range []string{"an old prompt", "and its second row", "Line 0 of it."} {
			if strings.Contains(s.Transcript(), text) {
				t.Errorf("%q is shown; the screen:\n%s", text, now)
			}
		}
		first := slices.IndexFunc(now.Rows, func(row string) bool { return strings.Contains(row, "the last prompt") })
		last := slices.IndexFunc(now.Rows, func(row string) bool { return strings.Contains(row, "Line 29 of it.") })
		if last-first+1 > 24/3 {
			t.Errorf("the exchange takes %d rows of 24; the screen:\n%s", last-first+1, now)
		}
		s.quits()
	})
}

// What was cut off is named when the session is resumed.
func TestAfterAKillTheCutOffCallIsNamed(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		w := newWorld(t)
		started := w.mailbox("started")
		c := cols(n)
		c.world = w
		s := newDesk(t, c)
		turn := s.ask("begin the long thing")
		turn.Text("I begin it.")
		turn.Call("c1", "bash", "command", "echo $$ > started; exec sleep 60")
		turn.End()
		pid := started()
		s.Signal(syscall.SIGKILL)
		s.Wait()
		var number int
		fmt.Sscan(pid, &number)
		t.Cleanup(func() { _ = syscall.Kill(number, syscall.SIGKILL) })
		c.args, c.model = []string{"--continue"}, s.model
		again := newDesk(t, c)
		again.rests("")
		again.See("begin the long thing")
		again.See("bash")
		again.matches(`cut off|interrupted`)
		again.quits()
	})
}

// A session whose choice is left with Esc is a new one.
func TestEscInTheListAtTheStartBeginsANewSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepsTalk("talked", talked{prompts: []string{"an old prompt"}})
	s := newDesk(t, scenery{world: w, args: []string{"--resume"}})
	s.Until("the list is there", func(now screentest.Screen) bool { return now.Shows("▸ an old prompt") })
	s.Press("esc")
	if got := s.ask("hello").Request.Prompts(); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("the model was told %q", got)
	}
}
