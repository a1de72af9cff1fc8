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
	s.see("queued: look left")
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
	s.see("queued: and then this")
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
	s.see("Ctrl+C again")
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
	s.see("[y/N]")
	s.enter("y")
	s.see("sure: true")
	s.enter("/quit")
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

func TestConfirmIsNoUnlessThePersonSaysYes(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct{ typed, want string }{{"y", "true"}, {"n", "false"}, {"", "false"}} {
		s.prompt("")
		s.enter("/sure")
		s.see("It cannot be undone.")
		s.see("[y/N]")
		s.enter(c.typed)
		s.see("sure: " + c.want)
		s.prompt("")
		s.enter("/clear")
		s.see("new session")
		s.prompt("")
		s.typeKeys("\x0c") // an empty screen for the next case
		s.until("the screen is clear", func() bool { return !strings.Contains(s.text(), "sure") })
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

func TestCtrlCEndsADialog(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/ask")
	s.see("Your name?")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("")
}

func TestModelIsPickedByNumberOrByPartOfItsName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/model")
	s.see("2  test/two")
	s.typeKeys("test")
	s.see("text? test")
	s.typeKeys("\x15two")
	s.until("only what matches is listed", func() bool {
		return strings.Contains(s.text(), ">   2  test/two") && !strings.Contains(s.text(), "1  test/one")
	})
	s.enter("")
	s.see("model: test/two:off")
	s.see("test/two:off\n>")
	s.prompt("")
	s.enter("/model")
	s.see("Model (now test/two)")
	s.enter("1")
	s.see("model: test/one:off")
}

func TestPastedLinesAreOnePrompt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("\x1b[200~one\rtwo\tthree\x1b[201~")
	s.prompt("one⏎two␉three")
	s.enter("")
	s.see(`you said "one\ntwo\tthree"`)
}

func TestLongPasteIsSentWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	text := strings.Repeat("a line of text\r", 2000)
	s.typeKeys("about \x1b[200~" + text + "\x1b[201~")
	s.prompt("about [paste #1, 2000 lines]")
	s.enter("")
	s.until("the whole text is answered", func() bool {
		return strings.Contains(s.output(), `of text\n" (1)`) && strings.Count(s.output(), `a line of text\n`) == 2000
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
	s.see("\n...")
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
	s.prompt("one⏎two")
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
	s.typeKeys("/thi\tmi\t")
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
	s.see("• show a.txt ✗\n  line 1\n  line 2\n  line 3\n  line 4\n  line 5\n  … 4 more lines\nthe tool said it")
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
}

func TestControlSequencesOfOthersDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.see("test program ready")
	s.prompt("")
	s.enter("evil")
	s.see("abc")
	s.prompt("")
	if out := s.output(); strings.Contains(out, "\x1b[2J") || strings.Contains(out, "\x1b]") {
		t.Errorf("control sequences were passed on: %q", out)
	}
}

func TestCtrlCTwiceQuits(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("something")
	s.prompt("something")
	s.typeKeys("\x03")
	s.see("Ctrl+C again")
	s.prompt("")
	s.typeKeys("x\x03")
	s.until("the first one of a line only clears", func() bool { return strings.Count(s.text(), "Ctrl+C again") == 2 })
	s.prompt("")
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
		"in a dialog":  func(s *console) { s.enter("/sure"); s.see("[y/N]"); _ = s.cmd.Process.Signal(syscall.SIGTERM) },
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
	s.enter("stuck")
	s.see("working on it")
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
