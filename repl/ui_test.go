//go:build unix

package repl

import (
	"strings"
	"syscall"
	"testing"
)

// tell makes the program do what REPL_TEST_TOLD says.
func (s *console) tell() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		s.t.Fatal(err)
	}
}

func TestStatusThatChangesWhileALineIsTypedIsShownAndLeavesTheLine(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=status")
	s.prompt("")
	s.typeKeys("half\x1b[D")
	s.prompt("half")
	s.tell()
	s.see("test/one:off · so · it says b\n> half")
	s.prompt("half")
	if n := strings.Count(s.text(), "test/one:off"); n != 1 {
		t.Errorf("the status stands there %d times:\n%s", n, s.text())
	}
	s.enter("-")
	s.see(`you said "hal-f"`)
}

func TestStatusThatChangesLeavesALineOfSeveralRows(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=status")
	s.prompt("")
	line := strings.Repeat("0123456789", 20)
	s.typeKeys(line)
	shown := func() string { return strings.ReplaceAll(s.text(), "\n  ", "") }
	s.until("the line is shown", func() bool { return strings.HasSuffix(shown(), "> "+line) })
	s.tell()
	s.until("the status stands above it", func() bool {
		return strings.HasSuffix(shown(), "test program ready\n\ntest/one:off · so · it says b\n> "+line)
	})
	s.enter("")
	s.see("\"" + line[:60])
	s.prompt("")
}

func TestWidgetStandsAboveThePromptCutToTheWidth(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=widget")
	s.prompt("")
	s.typeKeys("half")
	s.prompt("half")
	s.tell()
	s.see("one line\n" + strings.Repeat("long ", 15) + "long…\n\ntest/one:off\n> half")
	s.enter("")
	s.see(`you said "half"`)
	s.until("the widget is above the line, once", func() bool { return strings.Count(s.text(), "one line") == 1 })
	s.prompt("")
}

func TestTheOpenPromptIsReadAndWritten(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=text")
	s.prompt("")
	s.typeKeys("half")
	s.prompt("half")
	s.tell()
	s.prompt("[half]")
	s.enter("!")
	s.see(`you said "[half]!"`)
}

func TestTitleIsSetCleanAndPutBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/title of mine")
	s.until("the title is set", func() bool { return strings.Contains(s.output(), "\x1b]2;my title of mine\x07") })
	s.prompt("")
	s.typeKeys("\x04")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
	keep, back := strings.Index(s.output(), titleSave), strings.Index(s.output(), titleBack)
	if keep < 0 || back < keep {
		t.Errorf("the old title is kept at %d and put back at %d", keep, back)
	}
}

func TestWorkingTextThatChangesWhileTheAgentWorksIsSaidAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("slow")
	s.see("working on it")
	s.enter("/working still \x1b[2Jcounting")
	s.see("still counting ")
	s.enter("go on")
	s.see("and heard you")
	s.prompt("")
}

func TestWorkingTextIsSaidWhenTheAgentBeginsToWork(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/working counting sheep")
	s.prompt("")
	s.enter("slow")
	s.see("⠋ counting sheep 0 s")
	s.enter("/working")
	s.see("⠋ working ")
	s.enter("go on")
	s.see("and heard you")
	s.prompt("")
	if n := strings.Count(s.text(), "counting sheep"); n != 1 { // the command
		t.Errorf("it is still said:\n%s", s.text())
	}
}

func TestShortcutOfAHookRunsAndLeavesTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("half\x1b[15~")
	s.see("a shortcut ran")
	s.prompt("half")
	s.typeKeys("\x1bx")
	s.see("another one ran")
	s.prompt("half")
	s.typeKeys("\x03")
	s.prompt("")
	s.enter("/hotkeys")
	s.see("say so (hook keys)")
	s.see("be stuck (without effect: the key is taken) (hook keys)")
	s.see("Alt+T                the next thinking level")
	if strings.Contains(s.text(), "nobody gets out") {
		t.Error("a hook has taken Ctrl+C")
	}
}

func TestLiteralPromptIsNeitherCommandNorShellLine(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=literal")
	s.prompt("")
	s.tell()
	s.see(`you said "/quit"`)
	s.see(`you said "!ls"`)
	s.prompt("")
}

func TestMessageOfAHookIsShownAboveTheOpenPrompt(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=message")
	s.prompt("")
	s.typeKeys("half")
	s.prompt("half")
	s.tell()
	s.see("[memo] by the way\n")
	s.see("sent: <nil>")
	s.prompt("half")
}

func TestHookEndsTheProgramInOrder(t *testing.T) {
	t.Parallel()
	nothing := func(*console) {}
	for _, c := range []struct {
		name          string
		before, after func(*console)
	}{
		{"at the prompt", func(s *console) { s.typeKeys("half"); s.prompt("half") }, nothing},
		{"under a component", func(s *console) { s.enter("/panel"); s.see("keys:") }, nothing},
		{"when the agent has worked", func(s *console) { s.enter("slow"); s.see("working on it") },
			func(s *console) { s.enter("go on"); s.see("and heard you") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "REPL_TEST_TOLD=leave")
			s.prompt("")
			c.before(s)
			s.tell()
			c.after(s)
			s.see("left: <nil>")
			if err := s.leave(); err != nil {
				t.Error(err)
			}
		})
	}
}
