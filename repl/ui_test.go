//go:build unix

package repl

import (
	"os"
	"path/filepath"
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
	s.see("test/one:off · so it says b\n> half")
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
	shown := func() string { return strings.ReplaceAll(s.text(), "\n", "") }
	s.until("the line is shown", func() bool { return strings.HasSuffix(shown(), "> "+line) })
	s.tell()
	s.until("the status stands above it", func() bool {
		return strings.HasSuffix(shown(), "test program readytest/one:off · so it says b> "+line)
	})
	s.enter("")
	s.see(`you said "` + line[:60])
	s.prompt("")
}

func TestWidgetStandsAboveThePromptCutToTheWidth(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=widget")
	s.prompt("")
	s.typeKeys("half")
	s.prompt("half")
	s.tell()
	s.see("one line\n" + strings.Repeat("long ", 15) + "lon…\ntest/one:off\n> half")
	s.enter("")
	s.see(`you said "half"`)
	s.until("the widget stands above the next prompt", func() bool { return strings.Count(s.text(), "one line") == 2 })
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

func TestDialogOpensWhileALineIsTypedAndIsNotAnsweredByIt(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=ask")
	s.prompt("")
	s.typeKeys("y")
	s.prompt("y")
	s.tell()
	s.see("[y/N]")
	s.enter("")
	s.see("now: false <nil>")
	s.prompt("y")
}

func TestEscAndCtrlDAndAnEmptyLineAreNoAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	for i, key := range []string{"\x1b", "\x04", "\r", "abc\x1b"} {
		s.enter("/choose")
		s.until("the options are listed", func() bool { return strings.HasSuffix(s.text(), "number or text?") })
		s.typeKeys(key)
		s.until("nothing is chosen", func() bool { return strings.Count(s.text(), `chosen: "" false`) == i+1 })
		s.prompt("")
	}
	s.enter("/ask")
	s.see("Your name?")
	s.typeKeys("Jo\x1b")
	s.see(`name: "" false`)
	s.prompt("")
	s.enter("/sure")
	s.see("[y/N]")
	s.typeKeys("y\x1b")
	s.see("sure: false")
	s.prompt("")
}

func TestOptionIsChosenByArrowNumberOrText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, keys, want string }{
		{"arrows", "\x1b[B\x1b[B\r", "alpha"},
		{"from the end", "\x1b[A\r", "2"},
		{"and back", "\x1bOB\x1bOB\x1bOA\r", "3"},
		{"number", "2\r", "alpha"},
		{"a number that is an option's text", "3\r", "beta"},
		{"the first of those with a part", "a\r", "alpha"},
		{"the second of those with a part", "a\x1b[B\r", "beta"},
		{"corrected", "betx\x7fa\r", "beta"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.prompt("")
			s.enter("/choose")
			s.see("number or text?")
			s.typeKeys(c.keys)
			s.see(`chosen: "` + c.want + `" true`)
			s.prompt("")
		})
	}
}

func TestALongListOpensWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/page")
	s.until("it is open", func() bool { return strings.HasSuffix(s.text(), "number or text?") })
	s.see("option T")
	if strings.Contains(s.text(), "option A") {
		t.Errorf("the list begins at its beginning:\n%s", s.text())
	}
	s.typeKeys("\r")
	s.see(`chosen: "" false`)
	s.prompt("")
	s.enter("/page")
	s.until("it is open again", func() bool { return strings.HasSuffix(s.text(), "number or text?") })
	s.typeKeys("\x1b[B\x1b[A\r")
	s.see(`chosen: "option S" true`)
	s.prompt("")
}

func TestWhereNothingMatchesTheWaysToMoreAreOffered(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"TERM=xterm", "TERM=dumb"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			s := start(t, term)
			s.prompt("")
			s.enter("/page")
			s.see("number or text?")
			if term == "TERM=dumb" {
				s.enter("zzz")
				s.see("Nothing matches \"zzz\".\n  1  … before these")
				s.enter("1")
			} else {
				s.typeKeys("zzz")
				s.see("nothing matches; Esc leaves")
				s.typeKeys("\r\x1b[B\r") // Enter alone chooses none of them
			}
			s.see(`chosen: "… before these" true`)
			s.prompt("")
		})
	}
}

func TestLinesPastedIntoADialogAreOneAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/ask")
	s.see("Your name?")
	s.typeKeys("\x1b[200~Ada\r!rm -rf x\r/quit\r\x1b[201~")
	s.see("? Ada !rm -rf x /quit")
	s.enter("")
	s.see(`name: "Ada !rm -rf x /quit" true`)
	s.prompt("")
}

func TestDialogCountsDown(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/patient")
	s.see("(3s) [y/N]")
	s.typeKeys("ye")
	s.see("(2s) [y/N] ye")
	s.enter("s")
	s.see("patient: true <nil>")
	s.prompt("")
}

func TestWhatIsTypedAfterAnAnswerIsForThePrompt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/ask")
	s.see("Your name?")
	s.typeKeys("Jo y Zoë\rand th")
	s.see(`name: "Jo y Zoë" true`)
	s.prompt("and th")
}

func TestDialogWhileTheAgentWorksLeavesWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=ask")
	s.prompt("")
	s.enter("stuck")
	s.see("working on it")
	s.typeKeys("y")
	s.see("working on ity")
	s.tell()
	s.see("Now?")
	s.see("[y/N]")
	s.enter("")
	s.see("now: false <nil>")
	s.enter("es")
	s.see("queued: yes")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("yes")
}

// editorScript writes a program that can be an editor.
func editorScript(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "an editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return "REPL_TEST_EDITOR='" + path + "' --flag"
}

func TestEditorGetsTheTerminalAndGivesItBack(t *testing.T) {
	t.Parallel()
	s := start(t, editorScript(t, `echo "editing $(cat "$2") with $1, mode $(stat -c %a "$2" 2>/dev/null || stat -f %Lp "$2")"
read line
stty raw -echo
printf '%s\n' "$line" >> "$2"
`))
	s.prompt("")
	s.enter("/edit first")
	s.see("Change this\nediting first with --flag, mode 600")
	s.enter("second")
	s.see(`edited: "firstsecond" true`)
	s.prompt("")
	s.enter("/sure")
	s.see("[y/N]")
	s.enter("y")
	s.see("sure: true")
	s.prompt("")
	s.typeKeys("\x04")
	s.see("left: <nil>")
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

func TestEditorThatFailsOrSavesNothingGivesNoText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"fails", "echo lost > \"$2\"\nexit 1", `edited: "" false`},
		{"saves nothing", "exit 0", `edited: "" false`},
		{"removes the file", "rm \"$2\"", `edited: "" false`},
		{"saves what there was", "touch \"$2\"", `edited: "it" true`},
		{"saves nothing at all", ": > \"$2\"", `edited: "" true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, editorScript(t, c.script))
			s.prompt("")
			s.enter("/edit it")
			s.see(c.want)
			s.prompt("")
		})
	}
}

func TestCtrlCEndsTheEditorOfACommand(t *testing.T) {
	t.Parallel()
	s := start(t, editorScript(t, "echo editor is up\nexec sleep 60"))
	s.prompt("")
	s.enter("/edit it")
	s.see("editor is up")
	s.typeKeys("\x03")
	s.see("interrupted")
	s.prompt("")
}

func TestWithoutAnEditorThePersonIsToldWhatToSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/edit it")
	s.see("warning: no editor: set VISUAL or EDITOR")
	s.see(`edited: "" false`)
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
	s.see("… still counting")
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
	s.enter("hello")
	s.see("… counting sheep\nyou said \"hello\"")
	s.prompt("")
	s.enter("/working")
	s.prompt("")
	s.enter("again")
	s.see(`you said "again"`)
	if n := strings.Count(s.text(), "counting sheep"); n != 2 { // the command and the first prompt
		t.Errorf("said %d times:\n%s", n, s.text())
	}
}

func TestComponentIsDrawnInPlaceAndGetsKeysByName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/panel wait")
	s.see("panel of 79\nkeys:")
	s.typeKeys("aü \x1b[A\x1b[1;5C\r\t\x7f\x1bOP\x1b[Z\x01\x1bx")
	s.see("panel of 79\nkeys: a ü space up ctrl+right enter tab backspace f1 shift+tab ctrl+a alt+x")
	s.typeKeys("\x1b")
	s.see(" alt+x esc")
	s.typeKeys("qnext")
	s.see("closed after a ü space up")
	s.prompt("next")
	if strings.Contains(s.text(), "panel of") {
		t.Errorf("the panel is still there:\n%s", s.text())
	}
	if strings.Contains(s.output(), "\x1b[2J") {
		t.Error("a control sequence of the component reached the terminal")
	}
}

func TestCtrlCGetsOutOfAComponentThatIsStuck(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/panel wait")
	s.see("keys:")
	s.typeKeys("a")
	s.see("keys: a")
	s.typeKeys("sb")
	s.see("it is stuck\npanel of 79")
	s.typeKeys("\x03")
	s.see("closed after a s")
	s.prompt("")
	s.typeKeys("rest")
	s.prompt("rest")
}

func TestTranscriptGoesOnAboveAComponent(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("/panel\rtool\r")
	s.see("keys:")
	s.prompt2("keys:")
	s.typeKeys("q")
	s.see("the tool said it")
	s.prompt("")
}

// prompt2 waits until the last line of the screen begins with text.
func (s *console) prompt2(text string) {
	s.t.Helper()
	s.until("the last line is "+text, func() bool {
		screen := s.text()
		return strings.HasPrefix(screen[strings.LastIndexByte(screen, '\n')+1:], text)
	})
}

func TestShortcutOfAHookRunsAndLeavesTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("half\x07")
	s.see("a shortcut ran")
	s.prompt("half")
	s.typeKeys("\x1bx")
	s.see("another one ran")
	s.prompt("half")
	s.typeKeys("\x03")
	s.see("Ctrl+C again")
	s.prompt("")
	s.enter("/hotkeys")
	s.see("ctrl+g                 say so (hook keys)")
	s.see("Ctrl+D                 quit, on an empty line")
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

func TestComponentOnADumbTerminalIsFedWithLines(t *testing.T) {
	t.Parallel()
	s := start(t, "TERM=dumb")
	s.prompt("")
	s.enter("/panel wait")
	s.see("keys:")
	s.enter("ab")
	s.see("keys: a b enter")
	s.enter("q")
	s.see("closed after a b enter q")
	s.prompt("")
	s.enter("/panel wait")
	s.until("it is shown anew", func() bool { return strings.HasSuffix(s.text(), "keys:") })
	s.typeKeys("\x03")
	s.until("Ctrl+C gets out", func() bool { return strings.Count(s.text(), "closed after") == 2 })
	s.prompt("")
}

func TestDumbTerminalListsOptionsByNumber(t *testing.T) {
	t.Parallel()
	s := start(t, "TERM=dumb")
	s.prompt("")
	s.enter("/choose")
	s.see("  2  alpha")
	s.enter("et")
	s.see(`chosen: "beta" true`)
	s.enter("/choose")
	s.until("the options are listed", func() bool { return strings.HasSuffix(s.text(), "number or text?") })
	s.enter("")
	s.see(`chosen: "" false`)
}
