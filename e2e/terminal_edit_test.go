//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/internal/testing/screentest"
)

// What looks like a command and is none reaches the model; what is nearly one does not.
func TestPathsAndPastesReachTheModel(t *testing.T) {
	t.Parallel()
	t.Run("a path first", func(t *testing.T) {
		t.Parallel()
		s := newDesk(t, scenery{})
		turn := s.ask("/tmp/x is a file")
		if got := turn.Request.Last(); got != "/tmp/x is a file" {
			t.Errorf("the model was told %q", got)
		}
	})
	for name, text := range map[string]string{
		"a traceback":                "Traceback (most recent call last):\n  File \"/x.py\", line 1, in <module>\n\traise Error\nError: no\n",
		"a paste that is a path":     "/usr/lib/x.py:12: error\n/usr/lib/y.py:3: error",
		"a paste that could be bash": "!important notes\nof two lines",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDesk(t, scenery{})
			s.rests("")
			s.Paste(strings.ReplaceAll(text, "\n", "\r"))
			s.Until("it is in the line", func(now screentest.Screen) bool { return !isLine(now, "> ", "") })
			s.Press("enter")
			if got := s.turn().Request.Last(); strings.TrimRight(got, "\n") != strings.TrimRight(text, "\n") {
				t.Errorf("the model was told %q, want %q", got, text)
			}
		})
	}
	t.Run("a picture", func(t *testing.T) {
		t.Parallel()
		s := newDesk(t, scenery{})
		path := s.picture("shot.png", 4, 3)
		s.rests("")
		s.Paste(path)
		s.Until("it is in the line", func(now screentest.Screen) bool { return !isLine(now, "> ", "") })
		s.Press("enter")
		turn := s.turn()
		messages := turn.Request.Of("user")
		if got := messages[0].Images(); len(got) != 1 || !strings.HasPrefix(got[0], "data:image/png;base64,") {
			t.Errorf("the images are %.60q", got)
		}
		s.See("shot.png (image, 4×3)")
	})
}

// picture writes a PNG of this size into the project.
func (s *desk) picture(name string, width, height int) string {
	s.t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.world.project, name)
	s.world.write(path, b.String())
	return path
}

// A command of the shell that was pasted does not run unless the user says so.
func TestAPastedShellCommandRunsNothingUnasked(t *testing.T) {
	t.Parallel()
	s := newDesk(t, scenery{})
	s.rests("")
	s.Paste("!rm a.txt")
	s.rests("!rm a.txt")
	s.Press("enter")
	s.Until("it is asked, or sent as text", func(now screentest.Screen) bool {
		return len(s.model.Asked()) > 0 || now.Shows("rm a.txt") && !isLine(now, "> ", "!rm a.txt")
	})
	if len(s.model.Asked()) == 0 {
		s.Press("esc")
		s.Until("the question is gone", func(now screentest.Screen) bool { return isLine(now, "> ", "!rm a.txt") || isLine(now, "> ", "") })
	} else if got := s.turn().Request.Last(); got != "!rm a.txt" {
		t.Errorf("the model was told %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.world.project, "a.txt")); err != nil {
		t.Errorf("it ran: %v", err)
	}
}

func TestAMistypedCommandIsRefusedWithTheNearest(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		s.rests("")
		s.Type("/modle\r")
		s.See("/model")
		s.rests("/modle")
		s.Press("enter")
		if got := s.turn().Request.Last(); got != "/modle" {
			t.Errorf("the second Enter sent %q", got)
		}
	})
}

// Up and Down move between the rows that are drawn and keep the column; history begins
// at the first and the last of them.
func TestUpAndDownMoveByRow(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		s.answered("an old line", "Yes.")
		s.rests("")
		s.Type("alpha beta")
		s.Pause(looks)
		s.Press("ctrl+j")
		s.Type("gamma")
		s.rests("alpha beta gamma")
		before := s.Screen()
		s.Press("up")
		s.Until("the cursor is a row higher, in its column", func(now screentest.Screen) bool { return now.Row == before.Row-1 && now.Col == before.Col })
		s.Press("down")
		s.Until("the cursor is back", func(now screentest.Screen) bool { return now.Row == before.Row && now.Col == before.Col })
		s.Press("up", "up")
		s.rests("an old line")
		s.Press("down")
		s.Until("the draft is back", func(now screentest.Screen) bool { return now.Shows("> alpha beta") && now.Shows("gamma") })
		s.Press("ctrl+c")
		s.rests("")
		if n > 40 {
			return
		}
		long := strings.Repeat("0123456789", (n+10)/10+1) // two rows
		s.Type(long)
		s.rests(long)
		before = s.Screen()
		s.Press("up")
		s.Until("the cursor is a row higher, in its column", func(now screentest.Screen) bool { return now.Row == before.Row-1 && now.Col == before.Col })
		s.Press("ctrl+c")
		s.quits()
	})
}

// What was typed last is recalled as it was: a long paste as its token, and its text is
// sent again exactly, with little written per key.
func TestALongPasteIsRecalledAsItsToken(t *testing.T) {
	atWidths(t, []int{40, 80, 200}, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		s.rests("")
		text := strings.TrimSuffix(strings.Repeat("a\t⏎␉\n", 10000), "\n")
		token := `\[paste #\d+: 10,?000 lines, .*B\]`
		s.Paste(strings.ReplaceAll(text, "\n", "\r"))
		s.matches(token)
		s.Press("enter")
		turn := s.turn()
		if got := turn.Request.Last(); got != text {
			t.Fatalf("%d bytes were sent of %d", len(got), len(text))
		}
		turn.Use(1000, 10) // or the context is full
		turn.Answer("Much.")
		s.rests("")
		wrote := func(press func(), until string) int {
			before := s.Written()
			press()
			s.matches(until)
			s.Quiet(200 * time.Millisecond)
			return s.Written() - before
		}
		if got := wrote(func() { s.Press("up") }, `> `+token); got > 1000 {
			t.Errorf("%d bytes for Up", got)
		}
		if got := wrote(func() { s.Type("x") }, token+"x"); got > 1000 {
			t.Errorf("%d bytes for a key behind the token", got)
		}
		s.Press("ctrl+c")
		s.rests("")
		s.Press("ctrl+r")
		s.matches(`\[paste.*10,?000 lines`)
		rows := 8 * n * 4 // of the list, in bytes
		if got := wrote(func() { s.Type("a") }, `\[paste.*10,?000 lines`); got > 1000+rows {
			t.Errorf("%d bytes for a key of the search", got)
		}
		s.Press("enter")
		s.matches(`> ` + token)
		s.Quiet(50 * time.Millisecond)
		if len(s.model.Asked()) == 1 {
			s.Press("enter")
		}
		if got := s.turn().Request.Last(); got != text {
			t.Errorf("recalled, %d bytes were sent of %d", len(got), len(text))
		}
	})
}

// Input that is taller than a third of the window scrolls inside of its rows.
func TestTallInputScrollsInsideOfItsRows(t *testing.T) {
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, scenery{terminal: screentest.Options{Cols: n, Rows: 8}})
		s.answered("hello", "Yes.")
		above := len(s.Scrollback())
		s.Pause(looks)
		for i := range 20 {
			if i > 0 {
				s.Press("ctrl+j")
			}
			s.Type(fmt.Sprintf("row %d.", i))
			s.Until("the cursor is behind what was typed", func(now screentest.Screen) bool { return strings.HasSuffix(now.Before(), fmt.Sprintf("row %d.", i)) })
		}
		s.Press("home", "home")
		s.Until("the start is shown, and the cursor there", func(now screentest.Screen) bool {
			return strings.HasPrefix(now.CursorRow(), "> row 0.") && now.Before() == "> "
		})
		s.Press("ctrl+end")
		s.Until("the end is shown", func(now screentest.Screen) bool { return strings.HasSuffix(now.Before(), "row 19.") })
		if now := len(s.Scrollback()); now > above+5 { // the line may have moved up by its own rows, once
			t.Errorf("%d rows have left the screen, %d before; the screen:\n%s", now, above, s.Screen())
		}
		if strings.Contains(strings.Join(s.Scrollback(), "\n"), "row 3.") {
			t.Errorf("rows of the input are above the screen: %q", s.Scrollback())
		}
		s.Press("enter")
		if got := s.turn().Request.Last(); strings.Count(got, "\n") != 19 {
			t.Errorf("the model was told %q", got)
		}
	})
}

// Whatever looks like one character is one step of the cursor and one Backspace, and the
// cursor is where the next character appears.
func TestOneCharacterIsOneStepAndOneBackspace(t *testing.T) {
	clusters := map[string]int{"👩‍👩‍👧": 2, "🇩🇪": 2, "e\u0301": 1, "日": 2, "本": 2, "x": 1}
	atWidths(t, usualWidths, func(t *testing.T, n int) {
		s := newDesk(t, cols(n))
		s.rests("")
		for cluster, width := range clusters {
			s.Type("ab" + cluster + "cd")
			s.rests("ab" + cluster + "cd")
			end := s.Screen().Col
			s.Press("left", "left")
			at := s.Until("the cursor is behind it", func(now screentest.Screen) bool { return now.Col == end-2 })
			s.Press("left")
			s.Until("the cursor is before it", func(now screentest.Screen) bool { return now.Col == at.Col-width && now.Row == at.Row })
			s.Type("Z")
			s.Until("the character is where the cursor was", func(now screentest.Screen) bool {
				return strings.Contains(now.CursorRow(), "abZ"+cluster+"cd") && now.Cells[at.Row][at.Col-width].Text == "Z"
			})
			s.Press("right", "backspace")
			s.Until("it is gone", func(now screentest.Screen) bool {
				return strings.HasSuffix(now.CursorRow(), "> abZcd") && strings.HasSuffix(now.Before(), "abZ")
			})
			s.Press("ctrl+c")
			s.rests("")
		}
		s.quits()
	})
}

// Tab completes and takes nothing away, whatever a command's or a hook's list says.
func TestTabNeverLosesACharacter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newDesk(t, scenery{world: w, terminal: screentest.Options{Cols: 80, Rows: 40}, hook: `pi.command("deaf", { description = "ignores its prefix",
  complete = function() return { "alpha", "beta", "gamma ray" } end, handler = function() end })`})
	help := w.pi("-p", "/help all")
	commands := regexp.MustCompile(`(?m)^ *(/[a-z-]+)`).FindAllStringSubmatch(help, -1)
	if len(commands) < 15 {
		t.Fatalf("only %d commands are in the help:\n%s", len(commands), help)
	}
	s.rests("")
	for _, c := range append(commands, []string{"", "/deaf"}) {
		for _, typed := range []string{c[1][:len(c[1])-1], c[1] + " zqj", c[1] + " a"} {
			s.Type(typed + "\t")
			s.Pause(completes)
			s.Type("#")
			now := s.Until("the key behind Tab is shown", func(now screentest.Screen) bool {
				line, ok := typedLine(now, "> ")
				return ok && strings.HasSuffix(line, "#")
			})
			if line, _ := typedLine(now, "> "); !isSubsequence(typed+"#", line) {
				t.Errorf("%q became %q", typed, line)
			}
			s.Press("esc", "ctrl+c") // the menu, where there is one, and the line
			s.rests("")
		}
	}
	s.quits()
}

// looks is how long a user looks at what has just appeared: until then a question does not have the keys, and a line
// feed may be an Enter that was typed before the terminal was raw.
const looks = 600 * time.Millisecond

// completes is how long completions may take, for what comes of Tab to be seen.
const completes = 60 * time.Millisecond

// isSubsequence reports whether all characters of a text are in another in their order,
// case aside.
func isSubsequence(text, of string) bool {
	rest := []rune(strings.ToLower(text))
	for _, r := range strings.ToLower(of) {
		if len(rest) > 0 && rest[0] == r {
			rest = slices.Delete(rest, 0, 1)
		}
	}
	return len(rest) == 0
}

// What is pasted behind the typed name of a command is its argument, rows and all; behind
// a typed ! it is a command of as many rows, and is asked about.
func TestAPasteBehindWhatWasTypedBelongsToIt(t *testing.T) {
	t.Parallel()
	t.Run("a command", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write(w.agentFile("prompts/look.md"), "Look through $ARGUMENTS.\n")
		s := newDesk(t, scenery{world: w})
		s.rests("")
		s.Type("/look ")
		s.Paste("one\rtwo\rthree\rfour\rfive")
		s.rests("/look [paste #1: 5 lines, 23 B]")
		s.Press("enter")
		if got := s.turn().Request.Last(); got != "Look through one\ntwo\nthree\nfour\nfive." {
			t.Errorf("the model was told %q", got)
		}
	})
	t.Run("a shell command", func(t *testing.T) {
		t.Parallel()
		s := newDesk(t, scenery{})
		s.rests("")
		s.Type("!")
		s.Paste("for x in 1 2\rdo echo row-$x\rdone\recho last")
		s.rests("![paste #1: 4 lines, 42 B]")
		s.Press("enter")
		asked := s.See("Run this pasted text as a command?")
		for _, row := range []string{"!for x in 1 2", "do echo row-$x", "done", "echo last"} {
			if !asked.Shows(row) {
				t.Errorf("%q is not shown", row)
			}
		}
		s.Pause(looks)
		s.Press("n")
		s.rests("![paste #1: 4 lines, 42 B]")
		s.Press("enter")
		s.See("Run this pasted text as a command?")
		s.Pause(looks)
		s.Press("y")
		s.See("row-1")
		s.See("row-2")
		s.rests("")
		s.quits()
	})
}
