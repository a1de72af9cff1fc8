//go:build unix

package terminal

import (
	"strings"
	"testing"
	"time"
)

// asked waits until the terminal was asked its first questions.
func (s *stage) asked() {
	s.t.Helper()
	s.until(func() string { return "nothing is asked" }, func() bool { return strings.Contains(s.output(), askKind) })
}

// writes waits until a sequence was written, and nothing of the others.
func (s *stage) wrote(sequence string, never ...string) {
	s.t.Helper()
	s.until(func() string { return "not written: " + sequence }, func() bool { return strings.Contains(s.output(), sequence) })
	for _, other := range never {
		if strings.Contains(s.output(), other) {
			s.t.Errorf("%q is written", other)
		}
	}
}

func TestTheTerminalIsAskedForItsKeyboard(t *testing.T) {
	for _, c := range []struct {
		what, answers string
		on, off       string
		never         string
	}{
		{"kitty", "\x1b[?0u\x1b[?62c", kittyPush, kittyPop, otherKeysOn},
		{"xterm", "\x1b[?64;1c", otherKeysOn, otherKeysOff, kittyPush},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := onStage(t, 20, 6)
			s.asked()
			s.types("a" + c.answers + "b")
			s.wrote(c.on, c.never)
			s.until(func() string { return "the keys around the answers have not come" }, func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return len(s.keys) == 2
			})
			s.press("\x1b[13;2u", "shift+enter")
			before := strings.Count(s.output(), c.on)
			if err := s.term.Lend(func() error { s.wrote(c.off); return nil }); err != nil {
				t.Fatal(err)
			}
			s.until(func() string { return "not set again" }, func() bool { return strings.Count(s.output(), c.on) == before+1 })
			s.term.Close()
			s.until(func() string { return "it stays on" }, func() bool {
				out := s.output()
				return strings.LastIndex(out, c.off) > strings.LastIndex(out, c.on)
			})
		})
	}
}

func TestReleasesAreAskedForWhereTheyAreKnown(t *testing.T) {
	s := onStage(t, 20, 6)
	s.asked()
	s.types("\x1b[?0u\x1b[?62c")
	s.wrote(kittyPush, kittyRelease)
	s.term.Releases(true)
	s.wrote(kittyRelease)
	s.term.Releases(false)
	s.wrote(kittyUsual)
}

func TestTheBackgroundIsAskedForOnce(t *testing.T) {
	for answer, light := range map[string]bool{
		"\x1b]11;rgb:ffff/ffff/ffff\x07": true, "\x1b]11;rgb:fd/f6/e3\x1b\\": true, "\x1b]11;rgb:0000/2b2b/3636\x1b\\": false,
		"\x1b]11;rgba:1e1e/1e1e/1e1e/ffff\x07": false, "\x1b]11;nonsense\x07\x1b[?62c": false, "\x1b[?62c": false,
	} {
		s := onStage(t, 20, 6)
		s.asked()
		s.types(answer)
		select {
		case <-s.term.known:
		case <-time.After(patience):
			t.Errorf("%q is no answer", answer)
		}
		if got := s.term.Light(); got != light {
			t.Errorf("%q is light: %v", answer, got)
		}
		s.term.Close()
	}
}

func TestABackgroundThatHasChangedIsAskedForAgain(t *testing.T) {
	s := onStage(t, 20, 6)
	s.asked()
	s.types("\x1b]11;rgb:0000/0000/0000\x07\x1b[?62c")
	<-s.term.known
	for _, c := range []struct {
		answer string
		light  bool
	}{{"\x1b]11;rgb:ffff/ffff/ffff\x07", true}, {"\x1b]11;rgb:0000/0000/0000\x1b\\", false}} {
		before := strings.Count(s.output(), askBackground)
		got := make(chan bool)
		go func() { got <- s.term.AskLight() }()
		s.until(func() string { return "it is not asked again" }, func() bool { return strings.Count(s.output(), askBackground) > before })
		s.types(c.answer)
		if light := <-got; light != c.light && s.term.AskLight() != c.light { // once more, for an answer that was late
			t.Errorf("after %q it is light: %v", c.answer, light)
		}
	}
}

func TestATerminalThatDoesNotAnswerIsDarkSoon(t *testing.T) {
	s := onStage(t, 20, 6)
	if s.term.Light() {
		t.Error("it is light")
	}
	if since := time.Since(s.term.began); since < lightPatience {
		t.Errorf("it was given %v to answer", since)
	}
}

func TestATerminalWithoutBracketedPasteHasBursts(t *testing.T) {
	s := onStage(t, 20, 6)
	s.asked()
	s.types("\x1b[?2004;0$y\x1b[?62c")
	s.wrote(otherKeysOn)
	s.press("one\rtwo\r", "paste")
	if text := s.keys[0].Text; text != "one\rtwo\r" {
		t.Errorf("the paste is %q", text)
	}
}

func TestAnAlternateScreenThatAProgramLeftOnIsLeft(t *testing.T) {
	s := onStage(t, 20, 6)
	s.show("> ")
	s.see(">")
	if err := s.term.Lend(func() error {
		_, err := s.tty.WriteString("\x1b[?1049hfull screen")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.wrote(askAlternate)
	s.types("\x1b[?1049;1$y")
	s.see(">")
	s.press("x", "x")
}

// Of a program that was killed it is known that it may have left that screen on, also where
// the terminal does not answer.
func TestAfterAProgramThatWasKilledTheMainScreenIsShown(t *testing.T) {
	s := onStage(t, 20, 6)
	s.show("> ")
	s.term.Print("above")
	s.see("above\n>")
	if err := s.term.Lend(func() error {
		s.term.Killed()
		_, err := s.tty.WriteString("\x1b[?1049hfull screen\x1b]0;half a title")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.see("above\n>")
	s.press("x", "x")
}

func TestFocusAndTheMouseAreNoKeys(t *testing.T) {
	s := onStage(t, 20, 6)
	s.press("\x1b[Ia\x1b[<0;1;1M\x1b[<0;1;1m\x1b[Ob", "a b")
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.told, ", "); got != "focus in, focus out" {
		t.Errorf("told %s", got)
	}
}
