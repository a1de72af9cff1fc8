//go:build unix

package repl

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

func TestAQueuedMessageIsTakenBackIntoTheLine(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("stuck")
	s.steer("")
	s.enter("one")
	s.see("↳ after this tool: one  Alt+Up takes it back")
	s.typeKeys("two\x1b\r") // Alt+Enter
	s.see("↳ at the end: two  Alt+Up takes it back")
	s.typeKeys("half\x1b[1;3A")
	s.see("steer> two\n       half")
	s.until("it is queued no more", func() bool { return !strings.Contains(s.text(), "at the end") })
	s.esc()
	s.see("interrupted (Esc)")
	s.see("> one\n  two\n  half")
}

func TestAnEscRightBehindAnInterruptDoesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.enter("/hang")
	s.see("it hangs")
	s.esc()
	s.esc() // opens no tree
	s.see("interrupted (Esc) · /hang")
	s.typeKeys("hello\r")
	s.see(`you said "hello"`)
	if strings.Contains(s.text(), "filter:") {
		t.Errorf("a picker is open:\n%s", s.text())
	}
}

func TestCtrlDRemovesACharacterAndSaysWhatItDoesAtWork(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("abc\x1b[D\x04")
	s.prompt("ab")
	s.typeKeys("\x15")
	s.enter("stuck")
	s.steer("")
	s.typeKeys("\x04")
	s.see("Ctrl+D quits when nothing runs; Esc interrupts")
	s.steer("")
}

// What is typed in between takes back that the next Ctrl+C quits.
func TestOnlyTwoCtrlCInARowQuit(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("\x03")
	s.see("Ctrl+C again")
	s.typeKeys("a\x7f\x03")
	s.until("it is the first again", func() bool { return strings.Count(s.text(), "Ctrl+C again") == 2 })
	s.typeKeys("hello\r")
	s.see(`you said "hello"`)
}

func TestWhatAPasteCouldRunIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, keys, asks, says string }{
		{"a shell command", "\x1b[200~!rm x\x1b[201~\r", "Run this pasted text as a command?", "exit status 3"},
		{"a typed mark", "!\x1b[200~rm x\x1b[201~\r", "Run this pasted text as a command?", "exit status 3"},
		{"a command", "\x1b[200~/thinking low\x1b[201~\r", "Run this pasted text as a command?", "thinking: low"},
		{"several rows are text", "\x1b[200~!rm x\ry\x1b[201~\r", "", `you said "!rm x\ny"`},
		{"a path is text", "\x1b[200~/usr/bin/x: no\x1b[201~\r", "", `you said "/usr/bin/x: no"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.prompt("")
			s.typeKeys(c.keys)
			if c.asks != "" {
				s.asked(c.asks)
				s.typeKeys("n")
				s.until("it is in the line again", func() bool { row := s.Screen().LastRow(); return strings.HasPrefix(row, "> ") && len(row) > 4 })
				if strings.Contains(s.text(), c.says) {
					t.Errorf("it ran:\n%s", s.text())
				}
				s.typeKeys("\x15" + c.keys)
				s.asked(c.asks)
				s.typeKeys("y")
			}
			s.see(c.says)
		})
	}
}

func TestFoldedResultsAreShownWholeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("\x0f")
	s.see("nothing is folded")
	s.enter("tool")
	s.see("the tool said it")
	s.prompt("")
	s.enter("tool")
	s.see("#2 · Ctrl+O")
	s.until("the second run has ended", func() bool { return strings.Count(s.text(), "the tool said it") == 2 })
	s.prompt("")
	s.typeKeys("\x0f")
	s.see("\n#2 show a.txt\n• show a.txt\n  line 1\n")
	s.typeKeys("\x0f")
	s.see("\n#1 show a.txt\n• show a.txt\n  line 1\n")
	s.typeKeys("\x0f")
	s.until("there are no more", func() bool { return strings.Count(s.Transcript(), "nothing is folded") == 2 })
	s.enter("/expand 3")
	s.see(`no folded block "3": there are #1 to #2`)
	s.enter("/expand #1")
	s.until("it is shown by its number", func() bool { return strings.Count(s.Transcript(), "\n#1 show a.txt") == 2 })
	s.prompt("")
}

func TestHistoryIsSearchedBelowTheLine(t *testing.T) {
	t.Parallel()
	s := start(t, "REPL_TEST_HISTORY="+filepath.Join(t.TempDir(), "history"))
	s.prompt("")
	for _, line := range []string{"go one", "go two", "else"} {
		s.enter(line)
		s.see(`you said "` + line)
		s.prompt("")
	}
	s.typeKeys("half\x12")
	s.see("> half\nsearch:   3 of 3\n▸ else\n  go two\n  go one")
	s.typeKeys("go")
	s.see("search: go  2 of 3\n▸ go two\n  go one")
	s.esc()
	s.prompt("half")
	s.typeKeys("\x12go\x1b[B\r")
	s.prompt("go one")
}

func TestAMenuOfCompletionsIsMadeShorterByTyping(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.prompt("")
	s.typeKeys("/thinking m\t")
	s.see("> /thinking m\n")
	s.see("▸ m")
	s.typeKeys("ed")
	s.until("one is left", func() bool { return strings.Contains(s.text(), "▸ medium") && !strings.Contains(s.text(), "minimal") })
	s.typeKeys("\r")
	s.prompt("/thinking medium")
	s.typeKeys("\x15/thinking m\t")
	s.see("▸ m")
	s.esc()
	s.prompt("/thinking m")
}

func TestFilesThatGoAlongAreSaid(t *testing.T) {
	t.Parallel()
	s := start(t)
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"notes.txt": []byte("remember"), "shot.png": png} {
		if err := os.WriteFile(filepath.Join(s.cmd.Dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.prompt("")
	s.enter("see @notes.txt and @shot.png and @nothing/here")
	s.see("> see @notes.txt and @shot.png and @nothing/here\n  attached @notes.txt (8 B), @shot.png (image, 1×1)")
	s.see("warning: @nothing/here is no file here")
	s.see("(3)\n") // text, file and image
}

func TestAResizeDrawsTheZoneAnew(t *testing.T) {
	t.Parallel()
	s := start(t, "VTE_VERSION=7600") // which breaks rows that are too wide
	s.prompt("")
	s.typeKeys(strings.Repeat("word ", 20))
	words := func(now screentest.Screen) int {
		return strings.Count(strings.ReplaceAll(now.Text(), "\n  ", ""), "word")
	}
	for _, columns := range []int{50, 30, 80} {
		s.Resize(columns, 40)
		s.Until("the line fits", func(now screentest.Screen) bool {
			return now.Widest() <= columns && strings.Count(now.Text(), "test/one:off") == 1 && strings.Count(now.Text(), "> word") == 1 && words(now) == 20
		})
		s.Quiet(200 * time.Millisecond)
		if n := words(s.Screen()); n != 20 {
			t.Errorf("%d columns, %d words:\n%s", columns, n, s.text())
		}
	}
}
