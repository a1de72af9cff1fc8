//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"testing"
)

// starts is how often the program is started by the test of what is typed early;
// 1,000 of them say more, and take minutes.
var starts = flag.Int("starts", 50, "starts with a line that is typed before the prompt")

// A line may be typed, Enter and all, at any moment of a start: before the program
// has the terminal, while it sets the terminal up, and when the prompt is there.
func TestALineThatIsTypedBeforeThePromptIsAnswered(t *testing.T) {
	t.Parallel()
	for i := range *starts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := newWorld(t).inTerminal()
			switch i % 3 {
			case 1:
				s.until("anything is shown", func() bool { return s.output() != "" })
			case 2:
				s.until("the terminal is raw", s.reading)
			}
			s.keys("read a.txt\r")
			s.see(1, "a.txt has 2 lines:")
			s.keys("/quit\r")
			s.leave(statusDone)
		})
	}
}

// What is typed while a command runs is typed into a terminal that is not raw.
func TestALineThatIsTypedWhileACommandRunsIsAnswered(t *testing.T) {
	t.Parallel()
	s := newWorld(t).inTerminal()
	s.prompt()
	s.keys("/session\r/context\r/name early\r/hooks\r/quit\r")
	s.leave(statusDone)
}

// Consoles of containers and serial lines often have no size, or get it later.
func TestATerminalWithoutColumnsIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.narrow = true
	s := w.inTerminal()
	s.keys("read a.txt\r")
	s.see(1, "a.txt has 2 lines:")
	s.keys("/name narrow\r")
	s.see(1, "/name narrow")
	s.SetSize(screenColumns, screenLines)
	s.keys("/session\r")
	s.see(1, "messages 1 of you")
	s.enter("/quit")
	s.leave(statusDone)
}
