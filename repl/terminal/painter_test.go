//go:build unix

package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestTheZoneStaysBelowTheTranscript(t *testing.T) {
	s := onStage(t, 20, 6)
	s.term.Changed()
	s.see(">")
	s.term.Print("one", "two")
	s.see("one\ntwo\n>")
	s.show("status", "> ab")
	s.see("one\ntwo\nstatus\n> ab")
	s.term.Print("three", "four", "five")
	s.see("two\nthree\nfour\nfive\nstatus\n> ab")
	s.show("> a")
	s.see("two\nthree\nfour\nfive\n> a")
	s.term.Close()
	s.see("two\nthree\nfour\nfive")
	if x, y := s.cursor(); x != 0 || y != 4 {
		t.Errorf("cursor at %d, %d", x, y)
	}
}

// The zone is changed in every way, each time from the one before, and the screen must
// show what a zone that is drawn at once shows.
func TestEveryChangeOfAZoneShowsTheZone(t *testing.T) {
	s := onStage(t, 24, 8)
	s.term.Print("above")
	zones := [][]string{
		{"> "}, {"> a"}, {"> ab"}, {"> a"}, {"one", "> a"}, {"two", "> ab"}, {"\x1b[2mdim\x1b[0m two", "> ab", "menu"},
		{"\x1b[2mdim\x1b[0m too", "> ab", "menu"}, {"\x1b[2mdimmer\x1b[0m", "> 日本", "menu"}, {"x", "> 日a", "menu"}, {"> e"}, {"> e\u0301x"},
		{"123456789012345678901234"}, {"123456789012345678901234", "> "}, {"12345678901234567890123"}, {}, {"a", "b", "c", "d", "e", "f", "g"},
		{"a", "b", "c", "D", "e", "f", "g"}, {"> "},
	}
	for _, zone := range zones {
		s.show(zone...)
		plain := make([]string, len(zone))
		for i, row := range zone {
			plain[i] = strings.TrimRight(strings.NewReplacer("\x1b[2m", "", "\x1b[0m", "", "日", "日", "\u0301", "").Replace(row), " ")
		}
		s.term.Flush()
		want := strings.TrimRight("above\n"+strings.Join(plain, "\n"), "\n")
		s.until(func() string { return "want\n" + want }, func() bool { return strings.ReplaceAll(s.text(), "\u0301", "") == want })
	}
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	s := onStage(t, 20, 6)
	s.show("a", "> b")
	s.see("a\n> b")
	s.term.Flush()
	before := s.output()
	for range 20 {
		s.term.Changed()
		s.term.Echo()
		s.term.Flush()
	}
	if after := s.output(); after != before {
		t.Errorf("wrote %q", after[len(before):])
	}
}

func TestAnEchoedKeyIsAFewBytes(t *testing.T) {
	s := onStage(t, 80, 24)
	s.show(strings.Repeat("status ", 10), "> some text that is typed")
	s.see(strings.TrimSpace(strings.Repeat("status ", 10)) + "\n> some text that is typed")
	s.term.Flush()
	for _, c := range []struct {
		typed string
		most  int
	}{{"> some text that is typed!", 16}, {"> some text that is typed", 24}, {"> some teXt that is typed", 40}, {"> some teXt that is typed日本", 40}} {
		before := len(s.output())
		s.show(strings.Repeat("status ", 10), c.typed)
		s.see(strings.TrimSpace(strings.Repeat("status ", 10)) + "\n" + c.typed)
		if n := len(s.output()) - before; n > c.most {
			t.Errorf("%d bytes for %q: %q", n, c.typed, s.output()[before:])
		}
	}
}

// What is printed while the front end has the lock that its zone takes is never
// waited for, however much it is.
func TestPrintWithTheLockOfTheZoneNeverWaits(t *testing.T) {
	s := onStage(t, 80, 24)
	s.mu.Lock()
	for i := range 20000 {
		s.term.Print(fmt.Sprint("row ", i, strings.Repeat(" and on", 10)))
		if i%100 == 0 {
			s.term.Changed()
		}
	}
	s.mu.Unlock()
	s.term.Flush()
	s.until(func() string { return "the last row is not seen" }, func() bool { return strings.Contains(s.text(), "row 19999") })
	for i := range 20000 {
		if !strings.Contains(s.output(), fmt.Sprint("row ", i, " ")) {
			t.Fatalf("row %d is lost", i)
		}
		if i > 100 {
			break
		}
	}
}

func TestFramesAreLimited(t *testing.T) {
	s := onStage(t, 80, 24)
	s.show("> ")
	s.term.Flush()
	before := strings.Count(s.output(), eraseBelow)
	began := time.Now()
	for i := range 200 {
		s.term.Print(fmt.Sprint("row ", i))
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	if n, most := strings.Count(s.output(), eraseBelow)-before, int(took/frameTime)+2; n > most {
		t.Errorf("%d frames in %v, at most %d are meant", n, took, most)
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s := onStage(t, 20, 6)
	s.show("> ")
	s.see(">")
	s.close()
	s.close()
}

func TestTheTerminalIsAsItWasFound(t *testing.T) {
	s := onStage(t, 20, 6)
	s.term.Print("row")
	s.show("> ")
	s.see("row\n>")
	if !s.term.keys.is(s.tty) || s.term.before.is(s.tty) {
		t.Error("the terminal does not send keys")
	}
	if err := s.term.Lend(func() error {
		if !s.term.before.is(s.tty) {
			t.Error("the terminal that is lent is not as it was found")
		}
		s.see("row")
		s.term.Print("late")
		s.term.Flush()
		_, err := s.tty.WriteString("of another\r\n")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s.see("row\nof another\nlate\n>")
	s.press("x", "x")
	s.term.Close()
	if !s.term.before.is(s.tty) {
		t.Error("the terminal is not as it was found")
	}
	s.term.Print("behind")
	s.see("row\nof another\nlate\nbehind")
	out := s.output()
	for on, off := range map[string]string{"\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h", "\x1b[?1004h": "\x1b[?1004l", "\x1b[?7l": "\x1b[?7h"} {
		if strings.LastIndex(out, on) >= strings.LastIndex(out, off) {
			t.Errorf("%q stays on", on)
		}
	}
}
