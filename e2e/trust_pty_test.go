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

func TestTheQuestionShowsWhatWouldRunAndWhatIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("one\u202e"))
	w.write(w.projectFile("hooks/b\u200b.lua"), "pi.on(\"tool_call\", function() end)\n")
	s := w.inTerminal()
	s.see(1, trustQuestion)
	s.see(1, ".pi/hooks/a.lua")
	s.see(1, "session_start")
	s.see(1, `.pi/hooks/b\u{200b}.lua`)
	s.see(1, "tool_call")
	s.answer(trustQuestion, "view\r")
	s.see(1, `hook says one\u{202e}`)
	s.answer(trustQuestion, "maybe\r")
	s.see(1, "nothing matches")
	s.keys("\x1b")
	s.prompt()
	s.see(1, "2 hooks of this project not run")
	s.enter("/quit")
	s.leave(statusDone)
	if strings.Contains(s.output(), "hook says one\u202e") || strings.Contains(s.output(), "\u200b") {
		t.Error("hidden characters were written to the terminal")
	}
}

func TestAHookThatDecidesAboutAProjectAsksInTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("one"))
	w.write(w.agentFile("hooks/decides.lua"), `pi.on("project_trust", function(event, ctx)
  if not ctx.has_ui then error("nobody is there") end
  local how = ctx.ui.select("How much of \27[2J" .. #event.files .. " file?", { "nothing", "all of it" })
  local why = ctx.ui.input("Why?", "a word")
  if how == "all of it" and ctx.ui.confirm("Sure?", why) then return { trusted = { [event.files[1].sha256] = true } } end
  return { trusted = false }
end)`)
	s := w.inTerminal()
	s.answer("1 file?", "all\r")
	s.answer("Why?", "it is mine\r")
	s.answer("Sure?", "y")
	s.see(1, "hook says one")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	s.harmless("\x1b[2J")
}

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

func TestADraftTypedBeforeAQuestionAtTheStartIsInTheLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("ran"))
	s := w.inTerminal()
	s.keys("half a line")
	s.answer(trustQuestion, "once\r")
	s.see(1, "hook says ran")
	s.stands("half a line")
	s.keys(clearLine)
	s.enter("/quit")
	s.leave(statusDone)
	s.CheckRestored()
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

func TestNobodyIsAskedWhereFlagsDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("ran"))
	for flag, runs := range map[string]bool{"-a": true, "-na": false, "--no-approve": false, "--approve": true} {
		s := w.inTerminal(flag)
		s.prompt()
		if got := strings.Contains(s.text(), "hook says ran"); got != runs || strings.Contains(s.text(), broughtHooks) {
			t.Errorf("%s:\n%s", flag, s.text())
		}
		s.enter("/quit")
		s.leave(statusDone)
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

func TestAGateThatAToolRemovedHoldsThroughARestartUntilApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := w.agentFile("hooks/gate.lua")
	w.write(gate, blockingGate)
	s := w.inTerminal()
	s.prompt()
	s.enter("run `rm " + gate + "`")
	s.see(1, "was removed while the agent was at work")
	s.see(1, "gate.lua was removed. Run it like this from now on?")
	s.see(1, `-  if e.tool_name == "read"`)
	s.answer("gate.lua was removed", "\r")
	s.see(1, "/hooks approve gate asks again")
	s.enter("read a.txt")
	s.see(1, "the gate holds")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)

	s = w.inTerminal()
	s.asked("Approve this?")
	s.see(1, `-  if e.tool_name == "read"`)
	s.keys("\r")
	s.prompt()
	s.enter("read a.txt")
	s.see(1, "the gate holds")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)

	s = w.inTerminal()
	s.asked("Approve this?")
	s.keys("y")
	s.prompt()
	s.enter("read a.txt")
	s.see(1, "a.txt has 2 lines")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAnEditOfAUserWhileAToolRunsIsPendingAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.agentFile("hooks/a.lua")
	w.write(hook, hookSays("one"))
	started := w.mailbox("started")
	s := w.inTerminal()
	s.see(1, "hook says one")
	s.prompt()
	s.enter("run `mkfifo go; echo x > started; read x < go`")
	started()
	w.write(hook, hookSays("two"))
	s.see(1, "was changed while the agent was at work")
	w.line("go")
	s.see(1, "a.lua was changed. Run it like this from now on?")
	if strings.Contains(s.text(), "hook a loaded") {
		t.Errorf("it runs:\n%s", s.text())
	}
	s.answer("a.lua was changed", "y")
	s.see(1, "hook a loaded")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
}

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

func TestTheFirstEditOfAProjectHookIsAskedAboutWithItsDifference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.projectFile("hooks/a.lua")
	w.write(hook, hookSays("one"))
	s := w.inTerminal()
	s.answer(trustQuestion, "always\r")
	s.see(1, "hook says one")
	s.prompt()
	w.write(hook, hookSays("two"))
	s.see(1, ".pi/hooks/a.lua was changed. Run it like this from now on?")
	s.see(1, `+pi.on("session_start", function(_, ctx) ctx.ui.notify("hook says two") end)`)
	s.answer("a.lua was changed", "y")
	s.see(1, "hook a loaded")
	s.prompt()
	w.write(hook, hookSays("three"))
	s.see(1, "hook says three")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	if _, notices := w.piTells("-p", "list"); !strings.Contains(notices, "hook says three") {
		t.Errorf("the last edit is not approved: %s", notices)
	}
}

func TestWhatWaitsIsApprovedWithItsDifferenceInView(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := w.agentFile("hooks/a.lua")
	w.write(hook, hookSays("one"))
	w.write(filepath.Join(w.project, "next.lua"), hookSays("two\u202e"))
	s := w.inTerminal()
	s.enter("run `cp next.lua " + hook + "`")
	s.see(1, "/hooks approve a shows")
	s.answer("a.lua was changed", "\r")
	s.prompt()
	s.enter("/hooks")
	s.see(2, "pending")
	s.keys("was changed\r")
	s.answer("look at what was changed", "\r")
	s.asked("Approve a?")
	s.see(1, `hook says two\u{202e}`)
	s.keys("\r")
	s.see(1, "not approved")
	s.esc()
	s.prompt()
	s.enter("/hooks approve a")
	s.answer("Approve a?", "y")
	s.see(1, "approved: a")
	s.see(1, "hook a loaded")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	if _, notices := w.piTells("-p", "list"); !strings.Contains(notices, "hook says two") {
		t.Errorf("not in force: %s", notices)
	}
}

func TestSettingsThatAToolWroteDoNotTurnTheGateOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.agentFile("hooks/gate.lua"), blockingGate)
	w.write(w.agentFile("config.toml"), "[ui]\nplain = true\n")
	s := w.inTerminal()
	s.enter("run `echo 'disable = [\"gate\"]' > " + w.agentFile("config.toml") + "`")
	s.see(1, "config.toml was")
	s.see(1, "[y/N]")
	s.keys("\r")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	for _, answer := range []struct{ key, want string }{{"\n", "the gate holds"}, {"y\n", "a.txt has 2 lines"}} {
		s = w.inTerminal()
		s.see(1, "Approve this? y, or Enter for No:") // in plain mode
		s.see(1, `+disable = ["gate"]`)
		s.keys(answer.key)
		s.enter("read a.txt")
		s.see(1, answer.want)
		s.prompt()
		s.enter("/quit")
		s.leave(statusDone)
	}
}

func TestPiTrustAsksInATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.projectFile("hooks/a.lua"), hookSays("ran"))
	s := w.inTerminal("trust")
	s.see(1, trustQuestion)
	s.keys("always\n")
	s.see(1, "approved")
	s.leave(statusDone)
	s = w.inTerminal("trust")
	s.see(1, "approved")
	s.leave(statusDone)
	if strings.Contains(s.text(), broughtHooks) {
		t.Errorf("it asks again:\n%s", s.text())
	}
	if _, notices := w.piTells("-p", "list"); !strings.Contains(notices, "hook says ran") {
		t.Errorf("it does not run: %s", notices)
	}
}
