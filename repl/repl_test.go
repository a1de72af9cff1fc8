//go:build unix

package repl

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPromptIsAnsweredAndTheNextPromptOpens(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("hello")
	s.see(`you said "hello" (1)`)
	s.prompt("")
	s.enter("/quit")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestLineTypedWhileTheAgentWorksSteersIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("slow")
	s.see("working on it")
	s.enter("look left")
	s.see("and heard you")
	s.see(`you said "look left"`)
	s.prompt("")
}

func TestCtrlCInterruptsAndGivesUnsentTextBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("stuck")
	s.see("working on it")
	s.enter("and then this")
	s.see("↳ after this tool: and then this")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("and then this")
}

func TestCtrlCOfACommandIsNoError(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/hang")
	s.see("it hangs")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("")
	if strings.Contains(s.text(), "hook x") {
		t.Errorf("the screen has\n%s", s.text())
	}
}

func TestHalfALineTypedWhileTheAgentWorksMovesToThePrompt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("slow")
	s.see("working on it")
	s.typeKeys("look left\rand th")
	s.see(`you said "look left"`)
	s.prompt("and th")
	s.enter("en")
	s.see(`you said "and then"`)
}

func TestInterruptFromOutsideClearsTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("something")
	s.prompt("something")
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.prompt("")
	s.enter("else")
	s.see(`you said "else"`)
}

func TestCommandRunsWhileTheAgentWorks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("stuck")
	s.see("working on it")
	s.enter("/sure")
	s.asked("Really?")
	s.typeKeys("y")
	s.see("sure: true")
	s.steer("")
	s.enter("/quit")
	s.asked("/quit ends what runs. Interrupt it?")
	s.typeKeys("y")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestPromptOfACommandThatOutlastsTheRunIsSentAfterIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("slow")
	s.see("working on it")
	s.enter("/instead /quit")
	s.see("interrupted")
	s.see(`you said "/quit"`)
	s.prompt("")
}

func TestConfirmIsNoUnlessTheUserSaysYes(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, c := range []struct{ typed, want string }{{"y", "true"}, {"Y", "true"}, {"n", "false"}, {"\r", "false"}, {"\x1b", "false"}, {" x\r", "false"}} {
		s.prompt("")
		s.enter("/sure")
		s.asked("It cannot be undone.")
		s.typeKeys(c.typed)
		s.until("the answer is told", func() bool {
			return strings.Count(s.text(), "sure: ") == i+1 && strings.Contains(s.text(), "sure: "+c.want+"\n")
		})
		s.prompt("")
	}
}

func TestDialogThatTimesOutTakesTheDefault(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/hasty")
	s.see("hasty: false <nil>")
	s.prompt("")
}

func TestCtrlCLeavesADialog(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/ask")
	s.asked("Your name?")
	s.typeKeys("Jo\x03")
	s.see("name: \"\" false")
	s.prompt("")
}

func TestModelIsPickedByPartsOfItsNameOrWithTheArrows(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/model")
	s.asked("Model · now test/one")
	s.typeKeys("test")
	s.see("2 of 2")
	s.typeKeys("\x15wo t")
	s.until("only what has all words is listed", func() bool {
		return strings.Contains(s.text(), "▸ test/two") && strings.Contains(s.text(), "1 of 2")
	})
	s.enter("")
	s.see("model: test/two:off")
	s.see("test/two:off\n>")
	s.prompt("")
	s.enter("/model")
	s.asked("Model · now test/two")
	s.typeKeys("\x1b[A\r")
	s.see("model: test/one:off")
}

func TestPastedLinesAreOnePrompt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("\x1b[200~one\rtwo\tthree\x1b[201~")
	s.see("\n> one\n  two")
	s.enter("")
	s.see(`you said "one\ntwo\tthree"`)
}

func TestLongPasteIsSentWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	text := strings.Repeat("a line of text\r", 2000)
	s.typeKeys("about \x1b[200~" + text + "\x1b[201~")
	s.prompt("about [paste #1: 2000 lines, 30.0 kB]")
	s.enter("")
	s.until("the whole text is answered", func() bool {
		answer := strings.Join(strings.Fields(s.Transcript()), " ")
		return strings.Contains(answer, `of text\n" (1)`) && strings.Count(answer, `line of text\n`) == 2000
	})
}

func TestLinesTypedAheadAreRunInOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("/thinking low\r/thinking high\r")
	s.see("thinking: low")
	s.see("thinking: high")
	s.see("test/one:high\n>")
}

func TestBackslashContinuesTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter(`one \`)
	s.see("\n> one")
	s.enter("two")
	s.see(`you said "one \ntwo"`)
}

func TestHistoryOutlivesTheProgramAndKeepsLinesTogether(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deep", "history")
	s := start(t, "REPL_TEST_HISTORY="+file)
	s.prompt("")
	s.typeKeys("\x1b[200~one\rtwo\x1b[201~\r")
	s.see("you said")
	s.prompt("")
	s.typeKeys("\x04")
	s.see("left: <nil>")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("history file: %v, %v", info, err)
	}
	s = start(t, "REPL_TEST_HISTORY="+file)
	s.prompt("")
	s.typeKeys("\x1b[A")
	s.see("\n> one\n  two")
	s.enter("")
	s.see(`you said "one\ntwo"`)
}

func TestTabCompletesCommandsArgumentsAndPaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	if err := os.WriteFile(filepath.Join(s.cmd.Dir, "notes.txt"), []byte("remember"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.prompt("")
	s.typeKeys("/thi\tmin\t")
	s.prompt("/thinking minimal")
	s.typeKeys("\x15/model test/t\t")
	s.prompt("/model test/two")
	s.typeKeys("\x15see @not\t")
	s.prompt("see @notes.txt")
	s.enter("")
	s.see(`remember`)
	s.see(`</file>" (2)`)
}

func TestWhatComesWhileALineIsTypedLeavesTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("half a li")
	s.prompt("half a li")
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.see("a late notice")
	s.see("> /thinking low\nthinking: low")
	s.prompt("half a li")
	s.enter("ne")
	s.see(`you said "half a line"`)
}

func TestShellCommandShowsOutputAndStatus(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("!ls -l")
	s.see("ran ls -l\nexit status 3")
	s.prompt("")
}

func TestCallIsOneLineWithAFoldedResult(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("tool")
	s.see("• show a.txt ✗ 9 lines · #1 · Ctrl+O\n  … 4 earlier\n  line 5\n  line 6\n  line 7\n  line 8\n")
	s.see("  line 9 is missing\n\nthe tool said it")
	s.typeKeys("\x0f")
	s.see("#1 show a.txt\n• show a.txt\n  line 1\n  line 2\n")
}

func TestFailureIsShownWithItsHint(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("fail")
	s.see("error: test: no such key\n  set a key\n")
	s.prompt("")
	s.enter("/thinkin")
	s.see("error: unknown command /thinkin\n  did you mean /thinking?")
	s.prompt("/thinkin")
}

func TestControlSequencesOfOthersDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.see("test program ready")
	s.prompt("")
	s.enter("evil")
	s.see("abc")
	s.prompt("")
	if out := s.output(); strings.Contains(out, "\x1b[2J") || strings.Contains(out, "\x1b]0;") {
		t.Errorf("control sequences were passed on: %q", out)
	}
}

func TestCtrlCTwiceQuits(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("something")
	s.prompt("something")
	s.typeKeys("\x03") // this one clears the line
	s.prompt("")
	s.typeKeys("\x03")
	s.see("Ctrl+C again")
	s.typeKeys("x")
	s.prompt("x")
	s.typeKeys("\x03")
	s.prompt("")
	s.typeKeys("\x03")
	s.until("it is the first again", func() bool { return strings.Count(s.text(), "Ctrl+C again") == 2 })
	s.typeKeys("\x03")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestTerminalIsRestoredAfterEveryWayOut(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(*console){
		"end of input": func(s *console) { s.typeKeys("\x04") },
		"terminated":   func(s *console) { _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"hung up":      func(s *console) { _ = s.cmd.Process.Signal(syscall.SIGHUP) },
		"panic":        func(s *console) { s.enter("/crash") },
		"in a dialog":  func(s *console) { s.enter("/sure"); s.asked("Really?"); _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"in a panel":   func(s *console) { s.enter("/panel"); s.see("keys:"); _ = s.cmd.Process.Signal(syscall.SIGTERM) },
		"waiting for a panel": func(s *console) {
			s.enter("/panel wait")
			s.see("keys:")
			_ = s.cmd.Process.Signal(syscall.SIGHUP)
		},
		"while a line is typed": func(s *console) {
			s.typeKeys("abc")
			s.prompt("abc")
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		},
		"while the agent works": func(s *console) {
			s.enter("stuck")
			s.see("working on it")
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.prompt("")
			way(s)
			_ = s.leave()
		})
	}
}

func TestDumbTerminalReadsPlainLines(t *testing.T) {
	t.Parallel()
	s := start(t, "TERM=dumb")
	s.prompt("")
	s.enter("hello")
	s.see(`you said "hello"`)
	s.prompt("")
	s.enter("/sure")
	s.see("[y/N]")
	s.enter("y")
	s.see("sure: true")
	s.prompt("")
	if strings.Contains(s.output(), "\x1b") {
		t.Errorf("an escape sequence on a dumb terminal: %q", s.output())
	}
	s.typeKeys("\x04")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestCtrlCOnADumbTerminalInterruptsAndTwiceQuits(t *testing.T) {
	t.Parallel()
	s := start(t, "TERM=dumb")
	s.prompt("")
	s.enter("/hang")
	s.see("it hangs")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("")
	s.typeKeys("\x03")
	s.see("Ctrl+C again")
	s.prompt("")
	s.typeKeys("\x03")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestTerminalThatHangsUpEndsTheProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, env, keys, shown string }{
		{"at the prompt", "", "half", "half"},
		{"while the agent works", "", "stuck\r", "working on it"},
		{"in a dialog", "REPL_TEST_DEAF=1", "/ask\r", "Your name?"},
		{"in a panel", "REPL_TEST_DEAF=1", "/panel\r", "keys:"},
		{"and no signal says so", "REPL_TEST_DEAF=1", "half", "half"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, c.env)
			s.prompt("")
			s.typeKeys(c.keys)
			s.see(c.shown)
			s.HangUp()
		})
	}
}
