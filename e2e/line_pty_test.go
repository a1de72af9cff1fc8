//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

// inWindow starts the program in a window of a size.
func (w *world) inWindow(columns, rows int) *screen {
	w.t.Helper()
	return w.inTerminalOf(screentest.Options{Cols: columns, Rows: rows}, "pi")
}

// rests waits until the prompt is open and nothing runs.
func (s *screen) rests() {
	s.t.Helper()
	s.Until("nothing runs", func(now screentest.Screen) bool { return now.LastRow() == ">" && !now.Shows("working") })
}

// scrolled is how many rows have left the window at its top.
func (s *screen) scrolled() int {
	return strings.Count(s.Transcript(), "\n") - strings.Count(s.text(), "\n")
}

// lineIs waits until the rows above and with the cursor end so: | is the cursor.
func (s *screen) lineIs(want string) {
	s.t.Helper()
	s.Until("the line is "+want, func(now screentest.Screen) bool {
		before, behind := now.Before(), ""
		if strings.HasPrefix(now.CursorRow(), before) {
			behind = now.CursorRow()[len(before):]
		}
		rows := append(append([]string{}, now.Rows[:now.Row]...), before+"|"+behind)
		return strings.HasSuffix(strings.Join(rows, "\n"), want)
	})
}

func TestUpGoesThroughTheRowsOfTheLineAndThenTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("text Answer 1.\n---\ntext Answer 2.")
	s := w.inTerminal()
	s.enter("sent before")
	s.see(1, "Answer 1.")
	s.prompt()
	s.Pause(looks)
	s.keys("abcd\nefg")
	s.lineIs("> abcd\n  efg|")
	s.Press("up")
	s.lineIs("> abc|d")
	s.Press("up")
	s.lineIs("> sent before|")
	s.Press("down")
	s.lineIs("> abc|d")
	s.Press("down")
	s.lineIs("> abcd\n  efg|")
	s.Press("ctrl+c")
	s.lineIs("> |")
	s.Press("ctrl+_")
	s.lineIs("> abcd\n  efg|")
	s.keys("\r")
	s.see(1, "Answer 2.")
	s.rests()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestAPasteOf10000LinesIsATokenInTheLineAndInTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.model("text Answer 1.\n---\ntext Answer 2.")
	s := w.inTerminal()
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "row %d\t⏎ ␉\n", i)
	}
	const token = "[paste #1: 10000 lines, "
	exact := func(want string) {
		t.Helper()
		var message struct{ Content string }
		if err := json.Unmarshal([]byte(lastAsked(t, m)), &message); err != nil || message.Content != want {
			t.Errorf("the model was asked %.200q, %v; want %d bytes", message, err, len(want))
		}
	}
	// cheap checks that a key costs less than a kilobyte.
	cheap := func(key, shown string) {
		t.Helper()
		before := s.Written()
		s.Press(key)
		s.see(1, shown)
		if n := s.Written() - before; n > 1000 {
			t.Errorf("%s wrote %d bytes", key, n)
		}
	}
	s.prompt()
	s.keys("look: " + pasted(text.String()))
	s.see(1, "> look: "+token)
	cheap("x", "kB]x")
	cheap("backspace", "kB]")
	s.keys("\r")
	s.see(1, "Answer 1.")
	exact("look: " + text.String())
	s.prompt()
	cheap("up", "> look: "+token)
	cheap("!", "kB]!")
	s.keys("\r")
	s.see(1, "Answer 2.")
	exact("look: " + text.String() + "!")
	s.prompt()
	s.Press("ctrl+r")
	s.see(1, "2 of 2")
	if n := len(rowsWith(s.Screen(), "look: [paste: 10001 lines")); n != 2 {
		t.Errorf("the search shows %d entries with a token:\n%s", n, s.text())
	}
	s.Press("esc")
	s.rests()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestALineTallerThanTheWindowScrollsInItsRows(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inWindow(40, 8)
	s.prompt()
	s.keys("row 0")
	s.lineIs("> row 0|")
	begin := s.scrolled()
	s.Pause(looks)
	for i := 1; i < 20; i++ {
		s.keys(fmt.Sprintf("\nrow %d", i))
		s.lineIs(fmt.Sprintf("  row %d|", i))
	}
	typed := s.scrolled()
	s.Press("home")
	s.lineIs("  |row 19")
	s.Press("home")
	s.lineIs("> |row 0")
	for i := 1; i < 19; i++ {
		s.Press("down")
		s.lineIs(fmt.Sprintf("↓ |row %d", i)) // there are more
	}
	s.Press("down")
	s.lineIs("  |row 19")
	if n := s.scrolled(); typed > begin+8 || n != typed {
		t.Errorf("%d rows had left the window when the line began, %d when it was typed, %d in the end", begin, typed, n)
	}
}

func TestACharacterIsOneStepAndOneBackspace(t *testing.T) {
	for _, columns := range []int{20, 80, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			typeClusters(t, columns)
		})
	}
}

func typeClusters(t *testing.T, columns int) {
	w := newWorld(t)
	m := w.model("text Answer 1.")
	s := w.inWindow(columns, 24)
	s.prompt()
	s.keys("👨‍👩‍👧🇩🇪e\u0301日本")
	s.lineIs("> 👨‍👩‍👧🇩🇪e\u0301日本|")
	s.Press("backspace")
	s.lineIs("> 👨‍👩‍👧🇩🇪e\u0301日|")
	for _, want := range []string{"👨‍👩‍👧🇩🇪e\u0301|日", "👨‍👩‍👧🇩🇪|e\u0301日", "👨‍👩‍👧|🇩🇪e\u0301日", "|👨‍👩‍👧🇩🇪e\u0301日"} {
		s.Press("left")
		s.lineIs("> " + want)
	}
	for _, want := range []string{"👨‍👩‍👧", "👨‍👩‍👧🇩🇪", "👨‍👩‍👧🇩🇪e\u0301"} {
		s.Press("right")
		s.lineIs("> " + want + "|" + strings.TrimPrefix("👨‍👩‍👧🇩🇪e\u0301日", want))
	}
	for range 3 {
		s.Press("backspace")
	}
	s.lineIs("> |日")
	s.keys("\r")
	s.see(1, "Answer 1.")
	if asked := lastAsked(t, m); !strings.Contains(asked, `"日"`) {
		t.Errorf("the model was asked %s", asked)
	}
	s.rests()
	s.enter("/quit")
	s.leave(statusDone)
}

func TestTheLineWrapsAtWords(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inWindow(40, 24)
	s.prompt()
	s.keys("what is typed here has more words than fit")
	s.lineIs("> what is typed here has more words than\n  fit|")
	s.keys(" into a row of forty")
	s.lineIs("> what is typed here has more words than\n  fit into a row of forty|")
	s.Press("up")
	s.lineIs("> what is typed here has |more words than")
	s.Press("home", "right", "right", "right", "right")
	s.lineIs("> what| is typed here has more words than")
	s.keys("ever")
	s.lineIs("> whatever| is typed here has more words")
}
