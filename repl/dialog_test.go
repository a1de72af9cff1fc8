//go:build unix

package repl

import (
	"strings"
	"testing"
)

func TestDialogOpensWhileALineIsTypedAndIsNotAnsweredByIt(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_TOLD=ask")
	s.prompt("")
	s.typeKeys("y")
	s.prompt("y")
	s.tell()
	s.asked("Now?")
	s.enter("")
	s.see("now: false <nil>")
	s.prompt("y")
}

func TestEscAndCtrlCAreNoAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	for i, key := range []string{"\x1b", "\x03", "abc\r\x1b"} {
		s.enter("/choose")
		s.asked("Which?")
		s.typeKeys(key)
		s.until("nothing is chosen", func() bool { return strings.Count(s.text(), `chosen: "" false`) == i+1 })
		s.prompt("")
	}
	s.enter("/ask")
	s.asked("Your name?")
	s.typeKeys("Jo\x1b")
	s.see(`name: "" false`)
	s.prompt("")
	s.enter("/sure")
	s.asked("Really?")
	s.typeKeys("\x1b")
	s.see("sure: false")
	s.prompt("")
}

func TestOptionIsChosenWithTheArrowsOrByAPartOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, keys, want string }{
		{"Enter alone", "\r", "3"},
		{"arrows", "\x1b[B\x1b[B\r", "beta"},
		{"the last", "\x1b[F\r", "2"},
		{"and back", "\x1bOB\x1bOB\x1bOA\r", "alpha"},
		{"a digit is a part of a text", "2\r", "2"},
		{"the first of those with a part", "a\r", "alpha"},
		{"the second of those with a part", "a\x1b[B\r", "beta"},
		{"corrected", "betx\x7fa\r", "beta"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.prompt("")
			s.enter("/choose")
			s.asked("Which?")
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
	s.asked("Which of many?")
	s.see("▸ option T")
	s.typeKeys("\x1b[B\x1b[A\r")
	s.see(`chosen: "option T" true`)
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
			if term == "TERM=dumb" {
				s.see("number or text?")
				s.enter("zzz")
				s.see("Nothing matches \"zzz\".\n  1  … before these")
				s.enter("1")
			} else {
				s.asked("Which of many?")
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
	s.asked("Your name?")
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
	s.asked("Slowly?")
	s.see("(3s)")
	s.see("(2s)")
	s.typeKeys("y")
	s.see("patient: true <nil>")
	s.prompt("")
}

func TestWhatIsTypedAfterAnAnswerIsForThePrompt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/ask")
	s.asked("Your name?")
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
	s.steer("y")
	s.tell()
	s.asked("Now?")
	s.enter("")
	s.steer("y")
	s.enter("es")
	s.see("after this tool: yes")
	s.typeKeys("\x03")
	s.see("now: false <nil>")
	s.see("interrupted")
	s.prompt("yes")
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
