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

// An arrow whose sequence is cut on its way is an arrow, or nothing; it is no Esc over a
// slow line, and its tail is never text.
func TestAnArrowThatIsCutInterruptsNothing(t *testing.T) {
	t.Parallel()
	for range 5 {
		if cutArrows(t) {
			return
		}
	}
	t.Skip("this machine is too busy to cut a sequence for 60 ms")
}

// cutArrows types three arrows, each cut for 60 ms. It reports false, and has checked
// nothing, if a cut took much longer.
func cutArrows(t *testing.T) bool {
	s := newDesk(t, scenery{env: []string{"SSH_CONNECTION=10.0.0.1 1 10.0.0.2 22"}})
	turn := s.ask("go")
	turn.Text("I begin")
	s.See("I begin")
	s.Type("ab")
	s.steers("ab")
	for range 3 {
		began := time.Now()
		s.Type("\x1b")
		time.Sleep(60 * time.Millisecond) // the slow line
		s.Type("[D")
		if time.Since(began) > 75*time.Millisecond {
			return false
		}
		time.Sleep(60 * time.Millisecond)
		s.Type("c")
	}
	s.Until("the keys behind it are there", func(now screentest.Screen) bool { return strings.Count(now.CursorRow(), "c") == 3 })
	if now := s.Screen(); strings.Contains(now.CursorRow(), "[") || !strings.HasPrefix(now.CursorRow(), "steer> ") {
		t.Errorf("the line is %q", now.CursorRow())
	}
	select {
	case <-turn.Abandoned():
		t.Error("the work was interrupted")
	default:
	}
	turn.Text(" and end.")
	turn.End()
	s.Until("the answer is whole", func(screentest.Screen) bool { return strings.Contains(s.Transcript(), "I begin and end.") })
	return true
}

// Where Esc counts after a shorter time, the tail that comes later is swallowed.
func TestTheTailOfACutSequenceIsNoText(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.rests("")
	s.Type("ab\x1b")
	s.Pause(60 * time.Millisecond)
	s.Type("[D")
	s.Pause(60 * time.Millisecond)
	s.Type("c")
	s.Until("the key behind it is there", func(now screentest.Screen) bool { return strings.Contains(now.CursorRow(), "c") })
	if row := s.Screen().CursorRow(); row != "> abc" && row != "> acb" {
		t.Errorf("the line is %q", row)
	}
}

// A dialog that opens while one types takes no key of what is being typed. Who pauses for long
// answers it, which a test does that does not run for so long: then it types once more.
func TestADialogTakesNoKeyOfALineBeingTyped(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]bool{"at rest": false, "at work": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pause = 200 * time.Millisecond // half of what the program waits for
			for try := 1; ; try++ {
				longest, answered := typedIntoADialog(t, work)
				if answered == "" {
					return
				}
				if longest < pause || try == 5 {
					t.Fatalf("the dialog was answered, with at most %v between two keys; the screen:\n%s", longest, answered)
				}
			}
		})
	}
}

// typedIntoADialog types without a pause until a dialog has opened, and then cancels it. It returns
// the longest time between two keys, and the screen if the dialog got one of them.
func typedIntoADialog(t *testing.T, work bool) (longest time.Duration, answered string) {
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, hook: `pi.on("session_start", function(event, ctx)
  local asked = false
  require("pi.timer").every(20, function()
    if asked or not require("pi.fs").read("news") then return end
    asked = true
    ctx.ui.notify("answer " .. tostring(ctx.ui.confirm("Delete all?", "It cannot be undone.")))
  end)
end)`})
	if work {
		turn := s.ask("go")
		turn.Text("I begin")
		s.See("I begin")
	} else {
		s.rests("")
	}
	typed, open, last := 0, false, time.Now()
	for ; !open || typed%5 != 0; typed++ {
		if typed == 10 {
			w.write(filepath.Join(w.project, "news"), "x")
		}
		longest, last = max(longest, time.Since(last)), time.Now()
		s.Type("y")
		time.Sleep(20 * time.Millisecond) // as fast as a user types
		if s.Screen().Shows("answer") {
			return longest, s.Screen().String()
		}
		open = open || s.Screen().Shows("Delete all?")
		if typed > 3000 {
			t.Fatalf("the dialog never opens; the screen:\n%s", s.Screen())
		}
	}
	s.Pause(time.Second)
	s.Press("esc")
	s.See("answer")
	if s.Screen().Shows("answer true") {
		return longest, s.Screen().String()
	}
	line := strings.Repeat("y", typed)
	if work {
		s.steers(line)
	} else {
		s.rests(line)
	}
	return longest, ""
}

// What is typed before the prompt is there is answered, however Enter comes, and answers
// no question that had not been asked.
func TestEnterAsALineFeedSendsWhatWasTypedEarly(t *testing.T) {
	t.Parallel()
	for i := range *starts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			if i%2 == 1 {
				s.Until("anything is shown", func(screentest.Screen) bool { return s.Written() > 0 })
			}
			s.Type("hello\n")
			turn := s.turn()
			if got := turn.Request.Last(); got != "hello" {
				t.Errorf("the model was told %q", got)
			}
			s.works()
			turn.Answer("Yes.")
			s.rests("")
			if strings.Contains(s.Transcript(), "⏎") {
				t.Errorf("the screen:\n%s", s.Screen())
			}
			s.quits()
		})
	}
}
