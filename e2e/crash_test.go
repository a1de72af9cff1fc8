//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pi/cli"
)

// report is the only crash report of a world, checked for what holds of each.
func (w *world) report() string {
	w.t.Helper()
	paths, err := filepath.Glob(w.agentFile("crashes/*"))
	if err != nil || len(paths) != 1 {
		w.t.Fatalf("reports %q, %v", paths, err)
	}
	for _, path := range []string{paths[0], filepath.Dir(paths[0])} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			w.t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	b, err := os.ReadFile(paths[0])
	if err != nil {
		w.t.Fatal(err)
	}
	for _, secret := range []string{testKey, "LOCAL_KEY", "the-words-of-the-person", w.home, "0xc0"} {
		if strings.Contains(string(b), secret) {
			w.t.Errorf("%q is in the report:\n%s", secret, b)
		}
	}
	return string(b)
}

func TestASignalThatAsksForAReportEndsTheRunInOrder(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGQUIT: 131, syscall.SIGABRT: 134} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.agentFile("hooks/bye.lua"), `pi.on("session_shutdown", function(event) assert(pi.exec("touch", { "said-goodbye" })) end)`)
			started := w.mailbox("started")
			r := w.background("-p", "run `echo $$ > started; : the-words-of-the-person; sleep 60`")
			pid := started()
			if got := r.end(sig); got != want {
				t.Errorf("exit status %d, want %d:\n%s", got, want, r.output.String())
			}
			if processExists(pid) {
				t.Error("the command is still there")
			}
			if _, err := os.Stat(filepath.Join(w.project, "said-goodbye")); err != nil {
				t.Errorf("the hook did not hear of the end: %v", err)
			}
			said := r.output.String()
			if strings.Contains(said, "goroutine ") || !strings.Contains(said, "where it was stands in ~/.pi/agent/crashes/") {
				t.Errorf("said:\n%s", said)
			}
			report := w.report()
			for _, part := range []string{"ended by SIG", "\nmain.main(…)\n", "pi/agent.(*Agent).Prompt(…)", "goroutine 1 ["} {
				if !strings.Contains(report, part) {
					t.Errorf("%q is not in the report:\n%s", part, report)
				}
			}
			if got := w.pi("--continue", "-p", "read a.txt"); got != "a.txt has 2 lines:\n\n    alpha\n    beta\n" {
				t.Errorf("afterwards the answer is %q", got)
			}
		})
	}
}

func TestQuitGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.inTerminal()
	s.enter("read a.txt")
	s.see(1, "beta")
	s.prompt()
	s.Signal(syscall.SIGQUIT)
	s.leave(131)
	s.see(1, "ended by SIGQUIT; where it was stands in ~/.pi/agent/crashes/")
	w.report()
}

func TestCtrlBackslashEndsARunInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := w.mailbox("started")
	s := w.inTerminal()
	s.enter("run `echo $$ > started; sleep 60`")
	pid := started()
	s.keys("\x1c")
	s.leave(131)
	if processExists(pid) {
		t.Error("the command is still there")
	}
	w.report()
}

// brokenWork is the program whose front end panics with what an environment
// variable holds, or by an index out of range; see TestMain.
func brokenWork() {
	os.Exit(cli.Run(os.Args[1:], cli.Options{BeforeFront: func() {
		if text := os.Getenv("PI_TEST_PANIC"); text != "" {
			panic(text)
		}
		_ = os.Args[len(os.Args)]
	}}))
}

func TestAPanicEndsTheRunInOrder(t *testing.T) {
	for name, c := range map[string]struct{ env, says string }{
		"of the runtime": {"", "the program broke: runtime error: index out of range ["},
		"with a text":    {"PI_TEST_PANIC=the-words-of-the-person", "the program broke: a string; "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env = append(w.env, c.env)
			w.write(w.agentFile("hooks/bye.lua"), `pi.on("session_shutdown", function(event) assert(pi.exec("touch", { "said-goodbye" })) end)`)
			s := w.inTerminalAs("broken-pi", "--model", "demo/tour")
			s.leave(statusFailed)
			s.see(1, c.says)
			if strings.Contains(s.output(), "goroutine ") || strings.Contains(s.output(), "the-words-of-the-person") {
				t.Errorf("written: %q", s.output())
			}
			if _, err := os.Stat(filepath.Join(w.project, "said-goodbye")); err != nil {
				t.Errorf("the hook did not hear of the end: %v", err)
			}
			if report := w.report(); !strings.Contains(report, "brokenWork.func1(…)") {
				t.Errorf("the report does not say where:\n%s", report)
			}
		})
	}
}
