//go:build unix

package terminal

import (
	"fmt"
	"strings"
	"testing"

	"pi/internal/testing/screentest"
)

func TestANoticeGoesInTheWayOfTheSettings(t *testing.T) {
	for _, tt := range []struct {
		way, text string
		tmux      bool
		want      string
	}{
		{"off", "done", false, ""},
		{"", "done", false, ""},
		{"bell", "done", false, "\x07"},
		{"bell", "done", true, "\x07"},
		{"osc9", "done", false, "\x1b]9;pi: done\x07"},
		{"osc9", "done", true, "\x1bPtmux;\x1b\x1b]9;pi: done\x07\x1b\\"},
		{"osc9", "4;1\x07\x1b]52;c;aGk=\x07\n2", false, "\x1b]9;pi: 4;1 2\x07"},
		{"osc9", strings.Repeat("x", 200), false, "\x1b]9;pi: " + strings.Repeat("x", 99) + "…\x07"},
	} {
		if got := Notice(tt.way, tt.text, tt.tmux); got != tt.want {
			t.Errorf("%s %.20q: %q, want %q", tt.way, tt.text, got, tt.want)
		}
	}
}

// Whatever is on, what a program that ends by force writes switches it off, and leaves the
// screen as it is.
func TestResetSwitchesAllOff(t *testing.T) {
	e := screentest.NewEmulator(20, 4, true, screentest.Profile{Keyboard: true})
	all := modes{focus: true, kitty: true, other: true}
	for _, on := range []string{all.on(), otherKeysOn, hideCursor, wrapOff, "\x1b[?1000h\x1b[31m", "\x1b[?1049hof a program\x1bPand half of what it says"} {
		if _, err := e.Write([]byte("row" + on)); err != nil {
			t.Fatal(err)
		}
	}
	if e.Modes() == (screentest.Modes{}) {
		t.Fatal("nothing is on")
	}
	if _, err := e.Write([]byte(Reset)); err != nil {
		t.Fatal(err)
	}
	if got := e.Modes(); got != (screentest.Modes{}) {
		t.Errorf("still on: %+v", got)
	}
	if got := e.Screen().Text(); got != "rowrowrowrowrowrow" {
		t.Errorf("the screen shows %q", got)
	}
	if len(e.Scrollback()) > 0 {
		t.Error("it scrolled")
	}
}

// Whether the window is in front is asked for only while somebody wants to know, also behind a
// program that had the terminal meanwhile.
func TestTheWindowIsReportedWhileThatIsWanted(t *testing.T) {
	s := onStage(t, 20, 6)
	mode := func(want bool) {
		t.Helper()
		s.until(func() string { return fmt.Sprintf("focus is reported: %v", want) }, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.shown.Modes().Focus == want
		})
	}
	mode(true)
	s.term.ReportFocus(false)
	mode(false)
	if err := s.term.Lend(func() error { s.term.ReportFocus(true); return nil }); err != nil {
		t.Fatal(err)
	}
	mode(true)
	s.term.Close()
	mode(false)
}
