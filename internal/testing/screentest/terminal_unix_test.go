//go:build unix

package screentest

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t *testing.T, script string, o Options) *Terminal {
	t.Helper()
	return Start(t, exec.Command("sh", "-c", script), o)
}

func TestAProgramIsTypedAtAndSeen(t *testing.T) {
	t.Parallel()
	s := shell(t, `read line; echo "got $line"; stty size; exit 3`, Options{Cols: 40, Rows: 8})
	s.Type("日本\r")
	s.See("got 日本")
	if status := s.Wait(); status != 3 {
		t.Errorf("exit status %d", status)
	}
	s.CheckRestored()
	if got := s.Transcript(); got != "日本\ngot 日本\n8 40" {
		t.Errorf("the transcript is %q", got)
	}
}

func TestWhatAProgramChangesAndDoesNotRestoreIsReported(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"stty -echo", `printf '\033[?2004h'`, `printf '\033[?25l'`, `printf '\033[1m'`} {
		var fake failures
		s := shell(t, script, Options{})
		s.Wait()
		s.t = &fake
		s.CheckRestored()
		if s.t = t; fake.failed == 0 {
			t.Errorf("after %q nothing is reported", script)
		}
	}
}

// failures counts those of a test instead of failing it.
type failures struct {
	testing.TB
	failed int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.failed++ }

func TestTheProgramIsToldOfAnotherSize(t *testing.T) {
	t.Parallel()
	s := shell(t, `trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done`, Options{})
	s.See("ready")
	s.Resize(50, 10)
	s.See("10 50")
	if screen := s.Screen(); len(screen.Rows) != 10 {
		t.Errorf("the screen has %d rows", len(screen.Rows))
	}
}

func TestQuestionsAreAnsweredWhileOneTypes(t *testing.T) {
	t.Parallel()
	s := shell(t, `was=$(stty -g); stty raw -echo; printf '\033[6n'; head -c 6 | tr '\033' E; stty "$was"`, Options{})
	s.See("E[1;1R")
	s.Wait()
	s.CheckRestored()
}

func TestSignalsAndStopsAreSeen(t *testing.T) {
	t.Parallel()
	s := shell(t, `echo ready; while :; do sleep 0.01; done`, Options{})
	s.See("ready")
	s.Signal(syscall.SIGSTOP)
	for end := time.Now().Add(10 * time.Second); !s.Stopped(); {
		if time.Now().After(end) {
			t.Fatal("the program does not stop")
		}
	}
	s.Signal(syscall.SIGCONT)
	s.Signal(syscall.SIGTERM)
	if status := s.Wait(); status != -1 || s.ExitedBy() != syscall.SIGTERM {
		t.Errorf("status %d, signal %v", status, s.ExitedBy())
	}
}

func TestEveryScreenIsWatched(t *testing.T) {
	t.Parallel()
	s := shell(t, `read line; printf 'a moment'; read line; printf '\033[A\r\033[J'; read line`, Options{})
	seen := false
	s.Watch(func(screen Screen) { seen = seen || screen.Shows("a moment") })
	s.Type("\r")
	s.See("a moment")
	s.Type("\r")
	s.UntilGone("a moment")
	s.Type("\r")
	if s.Wait(); !seen {
		t.Error("it was not seen")
	}
}

func TestASlowLineDeliversEverything(t *testing.T) {
	t.Parallel()
	s := shell(t, `seq 1 1000`, Options{Delay: time.Millisecond})
	s.Wait()
	if got := s.Transcript(); strings.Count(got, "\n") != 999 || !strings.HasSuffix(got, "\n1000") {
		t.Errorf("%d rows, the last %q", strings.Count(got, "\n")+1, s.Screen().LastRow())
	}
}
