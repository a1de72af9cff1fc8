//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hookSays is a hook that says a word when a session starts or it is loaded
// anew.
func hookSays(word string) string {
	return fmt.Sprintf("pi.on(\"session_start\", function(_, ctx) ctx.ui.notify(\"hook says %s\") end)\n", word)
}

func (w *world) projectFile(name string) string {
	return filepath.Join(w.project, ".pi", filepath.FromSlash(name))
}

const trustQuestion = "Run them?"

// broughtHooks is said before that question, and stays.
const broughtHooks = "This project brings hooks that you have not approved."

func TestWhatIsTypedBeforeAQuestionAtTheStartDoesNotAnswerIt(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"\r", "y\ry\r", "read a.txt\r"} {
		w := newWorld(t)
		w.write(w.projectFile("hooks/a.lua"), hookSays("ran"))
		w.write(w.projectFile("hooks/b.lua"), `pi.on("input", function(e, ctx) ctx.ui.notify("it got " .. e.text) end)`)
		s := w.inTerminal()
		s.keys(typed)
		s.answer(trustQuestion, "once\r")
		s.until("the hook has run", func() bool { return strings.Contains(s.Transcript(), "hook says ran") })
		for line := range strings.SplitSeq(strings.TrimRight(typed, "\r"), "\r") {
			if line != "" {
				s.until("the line was sent", func() bool { return strings.Contains(s.Transcript(), "it got "+line) })
			}
		}
		s.prompt()
		s.enter("/quit")
		s.leave(statusDone)
	}
}

func TestTheAnswersToTheQuestion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer     string
		runs, asks bool // now; at the next start
		runsThen   bool
	}{
		{"", false, true, false},
		{"no", false, true, false},
		{"once", true, true, false},
		{"always", true, false, true},
		{"never", false, false, false},
		{"y\r\x1b", false, true, false}, // no row is left by a letter of its word
		{"a\r\x1b", false, true, false},
		{"o\r\x1b", false, true, false},
		{"\x1b[B\x1b[B", true, true, false},       // once, by the arrows
		{"\x1b[B\x1b[B\x1b[B", true, false, true}, // always
	}
	for _, tt := range tests {
		t.Run(tt.answer, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(w.projectFile("hooks/a.lua"), hookSays("ran"))
			s := w.inTerminal()
			answer, leave, wrong := strings.Cut(tt.answer, "\r")
			s.answer(trustQuestion, answer+"\r")
			if wrong {
				s.see(1, "nothing matches")
				s.keys(leave)
			}
			s.see(1, "demo/tour is a script")
			s.prompt()
			if got := strings.Contains(s.text(), "hook says ran"); got != tt.runs {
				t.Errorf("it runs: %v\n%s", got, s.text())
			}
			s.enter("/quit")
			s.leave(statusDone)

			s = w.inTerminal()
			if tt.asks {
				s.answer(trustQuestion, "\r")
			}
			s.see(1, "demo/tour is a script")
			s.prompt()
			if got := strings.Contains(s.text(), "hook says ran"); got != tt.runsThen || strings.Contains(s.text(), broughtHooks) != tt.asks {
				t.Errorf("at the next start\n%s", s.text())
			}
			s.enter("/quit")
			s.leave(statusDone)
		})
	}
}

func TestAHookOfOnesOwnMayAnswerTheQuestion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer      string
		asked, runs bool
	}{
		{`{ trusted = { [e.files[1].sha256] = true } }`, false, true},
		{`{ trusted = { [("0"):rep(64)] = true } }`, false, false},
		{`{ trusted = false }`, false, false},
		{`nil`, true, false},
	} {
		w := newWorld(t)
		w.write(w.projectFile("hooks/a.lua"), hookSays("ran")+`pi.on("project_trust", function() error("asked itself") end)`)
		w.write(w.agentFile("hooks/judge.lua"), `pi.on("project_trust", function(e, ctx) return `+tt.answer+` end)`)
		s := w.inTerminal()
		if tt.asked {
			s.answer(trustQuestion, "\r")
		}
		s.prompt()
		if got := strings.Contains(s.text(), "hook says ran"); got != tt.runs || strings.Contains(s.text(), broughtHooks) != tt.asked || strings.Contains(s.text(), "error") {
			t.Errorf("%s:\n%s", tt.answer, s.text())
		}
		s.enter("/quit")
		s.leave(statusDone)
	}
}

const blockingGate = `pi.on("tool_call", function(e)
  if e.tool_name == "read" then return { block = true, reason = "the gate holds" } end
end)
`

// attack is a command whose process waits for a line in go, then overwrites the
// gate and says so in done.
func attack(gate string) string {
	return "run `mkfifo go; (read x < go; echo 'error(1)' > " + gate + "; echo x > done; read x < end) > attack.log 2>&1 & echo x > ready`"
}

func TestAProcessThatAToolLeftBehindCannotReplaceTheGate(t *testing.T) {
	t.Parallel()
	for _, restart := range []string{"none", "before", "between"} {
		t.Run(restart, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			gate := w.agentFile("hooks/gate.lua")
			w.write(gate, blockingGate)
			done := w.mailbox("done")
			ready := w.mailbox("ready")
			w.mailbox("end")
			t.Cleanup(func() { w.line("end") })
			s := w.inTerminal()
			s.prompt()
			s.enter(attack(gate))
			ready()
			s.see(1, "printed nothing")
			s.prompt()
			if restart != "none" {
				s.enter("/quit")
				s.leave(statusDone)
			}
			if restart == "before" { // the next program is there when it happens
				s = w.inTerminal()
				s.prompt()
			}
			w.line("go")
			done()
			switch restart {
			case "between": // nobody was there
				s = w.inTerminal()
				s.asked("Approve this?")
				s.keys("\r")
				s.prompt()
			default:
				s.see(1, "was changed while the agent was at work")
				s.prompt()
			}
			s.enter("read a.txt")
			s.see(1, "the gate holds")
			if restart != "between" {
				s.answer("[y/N]", "\r")
			}
			s.prompt()
			s.enter("/quit")
			s.leave(statusDone)
			cmd := w.command("-p", "read a.txt")
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != statusUntrusted || !strings.Contains(string(out), "gate.lua was changed") {
				t.Errorf("exit status %d:\n%s", code, out)
			}
		})
	}
}

// line writes a line into a named pipe that somebody reads, or will.
func (w *world) line(name string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.project, name), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() }) // a pipe that nobody holds forgets
	if _, err := f.WriteString("x\n"); err != nil {
		w.t.Fatal(err)
	}
}
