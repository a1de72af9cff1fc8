//go:build unix

package e2e

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
	"pi/internal/testing/slowmodel"
)

// interruptible are the kinds of work that Esc gives up: how each is brought about, and
// what the notice of its end names.
type interruptible struct {
	names string // a pattern
	retry string
	hook  string
	begin func(t *testing.T, s *desk, started func() string) (given func() bool)
}

// abandoned reports whether the program has given up a request.
func abandoned(turn *slowmodel.Turn) func() bool {
	return func() bool {
		select {
		case <-turn.Abandoned():
			return true
		default:
			return false
		}
	}
}

func interruptibles() map[string]interruptible {
	return map[string]interruptible{
		"the first token": {"", "", "", func(t *testing.T, s *desk, _ func() string) func() bool {
			turn := s.ask("go")
			s.matches(`\d+ s\b`)
			return abandoned(turn)
		}},
		"a stream": {"", "", "", func(t *testing.T, s *desk, _ func() string) func() bool {
			turn := s.ask("go")
			turn.Text("The beginning of ")
			s.See("The beginning of")
			return abandoned(turn)
		}},
		"a tool": {`bash.*sleep 60`, "", "", func(t *testing.T, s *desk, started func() string) func() bool {
			turn := s.ask("go")
			turn.Call("c1", "bash", "command", "sleep 60 & echo $! > started; wait")
			turn.End()
			pid := started()
			s.See("sleep 60")
			return func() bool { return !processExists(pid) }
		}},
		"a retry": {`retry`, "40s", "", func(t *testing.T, s *desk, _ func() string) func() bool {
			turn := s.ask("go")
			turn.Fail(503, "the server is overloaded today")
			s.matches(`retry`)
			return func() bool { return len(s.model.Asked()) == 1 }
		}},
		"a compaction": {`compact`, "", "", func(t *testing.T, s *desk, _ func() string) func() bool {
			s.answered("first", strings.Repeat("a long story, ", 400)+"the end.") // of less no summary is made
			s.answered("second", "Two.")
			s.Type("/compact\r")
			turn := s.turn()
			s.matches(`compacting`)
			return abandoned(turn)
		}},
		"a hook": {`(?i)scene`, "", `pi.on("tool_call", function() pi.exec("sh", { "-c", "sleep 60 & echo $! > started; wait" }) end)`,
			func(t *testing.T, s *desk, started func() string) func() bool {
				turn := s.ask("go")
				turn.Call("c1", "bash", "command", "true")
				turn.End()
				pid := started()
				s.matches(`scene`)
				return func() bool { return !processExists(pid) }
			}},
	}
}

var interruptedRow = regexp.MustCompile(`interrupted \(Esc\) · .*\d+(\.\d+)? m?s`)

// Esc gives up whatever the agent does, says what that was and how long it ran, and
// keeps what is being typed.
func TestEscGivesUpTheWorkAndKeepsTheLine(t *testing.T) {
	t.Parallel()
	for name, c := range interruptibles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			started := w.mailbox("started")
			s := newDesk(t, scenery{world: w, retry: c.retry, hook: c.hook})
			isGivenUp := c.begin(t, s, started)
			s.Type("half a line")
			s.Until("it is in the line", func(now screentest.Screen) bool {
				return isLine(now, "steer> ", "half a line") || isLine(now, "> ", "half a line") // a compaction is not steered
			})
			s.Press("esc")
			s.SeeAnywhere("interrupted (Esc)")
			s.rests("half a line")
			waitUntil(t, isGivenUp)
			said := interruptedRow.FindString(strings.Join(strings.Fields(s.Transcript()), " "))
			if said == "" || !regexp.MustCompile(c.names).MatchString(said) {
				t.Errorf("%q is said, want a notice of the interrupt that names %q; the screen:\n%s", said, c.names, s.Screen())
			}
			if name == "a retry" && !strings.Contains(s.Transcript(), "the server is overloaded today") {
				t.Errorf("the reason of the failure is gone; the screen:\n%s", s.Screen())
			}
			s.Press("ctrl+c")
			s.quits()
		})
	}
}

// spinner are the characters that move in front of what runs.
const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// Within a second of silence a row says what is waited for, with seconds; afterwards it
// is nowhere.
func TestARowSaysWhatIsWaitedFor(t *testing.T) {
	atWidths(t, []int{40, 80, 200}, func(t *testing.T, n int) {
		w := newWorld(t)
		w.mailbox("go")
		started := w.mailbox("started")
		c := cols(n)
		c.world, c.retry = w, "3s"
		c.hook = `pi.on("tool_call", function(e) if e.input.command:find("gate") then pi.exec("sh", { "-c", "echo on > started; read line < go" }) end end)`
		s := newDesk(t, c)
		waits := func(pattern string) {
			t.Helper()
			s.matches(pattern + `.*\b\d+ s\b`)
		}
		turn := s.ask("first")
		waits(``) // for the first token
		turn.Fail(503, "overloaded")
		waits(`retry`)
		turn = s.turn()
		turn.Begin("c1", "bash")
		turn.Arguments(`{"command":"`)
		for range 20 {
			turn.Arguments(strings.Repeat("true; ", 20))
		}
		waits(`bash.*(2\.4 ?kB|2,?41\d)`)
		turn.Arguments(`echo on > started; read line < go"}`)
		turn.End()
		started()
		waits(`bash.*`)
		s.projectPipe("go", "on\n")
		turn = s.turn()
		turn.Call("c2", "bash", "command", "echo the gate is open")
		turn.End()
		started()
		waits(`scene`)
		s.projectPipe("go", "on\n")
		s.turn().Answer("Done.")
		s.rests("")
		s.Type("/compact\r")
		turn = s.turn()
		waits(`compacting`)
		turn.Answer("It was about nothing.")
		s.Until("nothing is waited for", func(now screentest.Screen) bool { return !strings.ContainsAny(now.Text(), spinner) })
		s.rests("")
		for _, row := range append(s.Scrollback(), s.Screen().Rows...) {
			if strings.Contains(row, "Esc interrupts") || strings.Contains(row, "retry 1/") || strings.ContainsAny(row, spinner) {
				t.Errorf("a row of what was waited for is still there: %q", row)
			}
		}
		s.quits()
	})
}

// Where nothing can be redrawn a line says it instead, at most every five seconds.
func TestInPlainModeALineSaysWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{args: []string{"--plain"}})
	s.Until("there is a prompt", func(now screentest.Screen) bool { return strings.HasPrefix(now.LastRow(), ">") })
	s.Type("go\r")
	turn := s.turn()
	began := time.Now()
	s.matches(`\b5 s\b`)
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("said after %v", took)
	}
	turn.Answer("Done.")
	s.See("Done.")
	if got := s.Output(); strings.ContainsAny(got, spinner) || strings.Contains(got, "\x1b[A") {
		t.Errorf("something is drawn: %q", got)
	}
}
