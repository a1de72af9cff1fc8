//go:build unix

package screentest

import (
	"strings"
	"time"
)

// Screen returns what is shown now.
func (s *Terminal) Screen() Screen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Screen()
}

// Text is what is shown now, up to the last row that is not empty.
func (s *Terminal) Text() string { return s.Screen().Text() }

// Transcript is all that was shown and not erased: the rows that left the screen at
// its top, and those of the screen. Rows that the terminal wrapped are joined.
func (s *Terminal) Transcript() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Transcript()
}

// Scrollback are the rows that left the screen at its top.
func (s *Terminal) Scrollback() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Scrollback()
}

// Output is all that the program has written, byte by byte.
func (s *Terminal) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

// Written is the number of bytes that the program has written.
func (s *Terminal) Written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.raw)
}

// Clipboard is what the program has copied with OSC 52.
func (s *Terminal) Clipboard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.clipboard
}

// Bells is how often the bell rang.
func (s *Terminal) Bells() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.bells
}

// Notices are those that the program gave to the terminal with OSC 9 and OSC 777.
func (s *Terminal) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.screen.notices...)
}

// Unknown are the sequences that the terminal did not know.
func (s *Terminal) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.screen.unknown...)
}

// Watch calls look with every screen that the program shows from now on, so that
// nothing that is seen for a moment is missed. What a program writes as one
// synchronous update is one screen. look must not call the Terminal.
func (s *Terminal) Watch(look func(Screen)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watch = look
}

// Until waits for a screen that fulfils a condition, and returns it. If the program
// ends first, or if patience does, the test fails and shows the screen.
func (s *Terminal) Until(what string, ok func(Screen) bool) Screen {
	s.t.Helper()
	deadline := time.NewTimer(s.options.Patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed, screen := s.changed, s.screen.Screen()
		s.mu.Unlock()
		if ok(screen) {
			return screen
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.t.Fatalf("waited in vain until %s; the screen:\n%s", what, s.Screen())
		case <-s.ended:
			if screen = s.Screen(); !ok(screen) {
				s.t.Fatalf("the program ended before %s; the screen:\n%s", what, screen)
			}
			return screen
		}
	}
}

// See waits until a text is shown, broken between rows or not.
func (s *Terminal) See(text string) Screen {
	s.t.Helper()
	return s.Until("the screen shows "+text, func(screen Screen) bool { return screen.Shows(text) })
}

// UntilGone waits until a text is not shown.
func (s *Terminal) UntilGone(text string) Screen {
	s.t.Helper()
	return s.Until("the screen does not show "+text, func(screen Screen) bool { return !screen.Shows(text) })
}

// SeeAnywhere waits until a text is in the transcript, on the screen or above it, broken
// between words or not.
func (s *Terminal) SeeAnywhere(text string) {
	s.t.Helper()
	s.Until("it was said: "+text, func(Screen) bool {
		said := s.Transcript()
		return strings.Contains(said, text) || strings.Contains(strings.Join(strings.Fields(said), " "), text)
	})
}

// Quiet waits until the program has written nothing for so long. It is for what must
// not be written, and for measuring: a test that waits for something calls Until.
func (s *Terminal) Quiet(d time.Duration) {
	s.t.Helper()
	deadline := time.NewTimer(s.options.Patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(d):
			return
		case <-s.ended:
			return
		case <-deadline.C:
			s.t.Fatalf("the program never paused for %v; the screen:\n%s", d, s.Screen())
		}
	}
}

// BytesDuring counts what the program writes during a time.
func (s *Terminal) BytesDuring(d time.Duration) int {
	before := s.Written()
	time.Sleep(d)
	return s.Written() - before
}
