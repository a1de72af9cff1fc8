//go:build unix

package e2e

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"pi/internal/testing/screentest"
)

// ways are those out of the program.
var ways = map[string]struct {
	status int
	crash  bool // a report is written
	unseen bool // the terminal is gone, or may be
	atRest bool // it is a way out only while nothing runs
	leave  func(s *desk)
}{
	"quit":         {status: statusDone, atRest: true, leave: func(s *desk) { s.Type("/quit\r") }},
	"ctrl+d":       {status: statusDone, atRest: true, leave: func(s *desk) { s.Press("ctrl+d") }},
	"ctrl+c twice": {status: statusDone, atRest: true, leave: func(s *desk) { s.Press("ctrl+c"); s.See("Ctrl+C"); s.Press("ctrl+c") }},
	"TERM":         {status: statusTerminated, leave: func(s *desk) { s.Signal(syscall.SIGTERM) }},
	"HUP":          {status: statusHungUp, unseen: true, leave: func(s *desk) { s.Signal(syscall.SIGHUP) }},
	"QUIT":         {status: 131, crash: true, leave: func(s *desk) { s.Signal(syscall.SIGQUIT) }},
	"ABRT":         {status: 134, crash: true, leave: func(s *desk) { s.Signal(syscall.SIGABRT) }},
}

// resumes is the row that says how to go on.
var resumes = regexp.MustCompile(`\bpi\b.* --(resume|continue|session)\b`)

// After every way out the terminal is as it was, nothing that the program started is
// left, and the last row says how to go on.
func TestEveryWayOutGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		for _, state := range []string{"at rest", "at work"} {
			if state == "at work" && way.atRest {
				continue
			}
			t.Run(name+" "+state, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				started := w.mailbox("started")
				c := scenery{world: w, terminal: screentest.Options{Profile: screentest.Profile{Keyboard: true}}}
				s := newDesk(t, c)
				s.answered("hello", "Hello yourself.")
				pid := ""
				if state == "at work" {
					turn := s.ask("go")
					turn.Call("c1", "bash", "command", "sleep 60 & echo $! > started; wait")
					turn.End()
					pid = started()
				}
				way.leave(s)
				s.ended(way.status)
				if pid != "" {
					waitUntil(t, func() bool { return !processExists(pid) })
				}
				rows := strings.Split(s.Text(), "\n")
				if last := rows[len(rows)-1]; !way.unseen && !resumes.MatchString(last) {
					t.Errorf("the last row is %q; the screen:\n%s", last, s.Screen())
				}
				if way.crash {
					if !strings.Contains(strings.Join(rows[max(len(rows)-3, 0):], ""), "crashes/") {
						t.Errorf("the report is not named above the last row; the screen:\n%s", s.Screen())
					}
					w.report()
				}
				if strings.Contains(s.Output(), "goroutine ") {
					t.Errorf("a dump is shown; the screen:\n%s", s.Screen())
				}
			})
		}
	}
}

// A panic of the front end is a crash with a report, too.
func TestAPanicGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keepsTalk("talked", talked{prompts: []string{"hello"}})
	s := newDesk(t, scenery{world: w, program: "broken-pi", args: []string{"--continue"}, terminal: screentest.Options{Cols: 200}})
	s.ended(statusFailed)
	rows := strings.Split(s.Text(), "\n")
	if last := rows[len(rows)-1]; !resumes.MatchString(last) || !strings.Contains(strings.Join(rows, ""), "crashes/") {
		t.Errorf("the last row is %q; the screen:\n%s", last, s.Screen())
	}
	w.report()
}

// A program without a session file has nothing to resume.
func TestWhereNothingWasSaidNothingIsResumed(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.quits()
	if resumes.MatchString(s.Text()) {
		t.Errorf("the screen:\n%s", s.Screen())
	}
}

// Ctrl+D while the agent works says so and stays.
func TestCtrlDWhileWorkingStays(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	turn := s.ask("go")
	turn.Text("I work. ")
	s.See("I work.")
	before := s.Written()
	s.Press("ctrl+d")
	s.Until("something is said", func(now screentest.Screen) bool { return s.Written() > before && now.Shows("work") })
	turn.Text("And still do.")
	turn.End()
	s.rests("")
	s.SeeAnywhere("And still do.")
	s.quits()
}

// link makes a symbolic link.
func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
