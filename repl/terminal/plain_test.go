//go:build unix

package terminal

import (
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestPlainModeAsksForLines(t *testing.T) {
	for _, dumb := range []bool{false, true} {
		t.Run(map[bool]string{false: "edited", true: "dumb"}[dumb], func(t *testing.T) {
			kind := "TERM=xterm"
			if dumb {
				kind = "TERM=dumb"
			}
			s, _ := spawn(t, "plain", kind)
			s.see("begins\n>")
			s.types("one\r")
			s.see("begins\n> one\ngot line one\n>")
			s.types("work\r")
			s.see("begins\n> one\ngot line one\n> work\nworking")
			s.types("steer\r")
			s.see("begins\n> one\ngot line one\n> work\nworking\ngot line steer\n>")
			s.types("late\r")
			if dumb { // nothing is erased
				s.seeEnd("> late\n>\nit is late\n>")
			} else {
				s.seeEnd("> late\nit is late\n>")
			}
			s.types("x\r")
			s.seeEnd("it is late\n> x\ngot line x\n>")
			s.types("work\r")
			s.seeEnd("> work\nworking")
			s.types("\x03")
			s.seeEnd("working\ngot interrupt\n>")
			s.types("\x03")
			s.seeEnd("> ^C\ngot interrupt\n>")
			s.types("\x04")
			s.seeEnd("\n>\nends")
			if !s.before.is(s.tty) {
				t.Error("the terminal is not as it was")
			}
			if dumb && strings.Contains(s.output(), "\x1b") {
				t.Errorf("a sequence for a dumb terminal: %q", s.output())
			}
		})
	}
}

func TestPlainModeHandsALineOfAPasteOnWhole(t *testing.T) {
	s, _ := spawn(t, "plain")
	s.see("begins\n>")
	s.types("\x1b[200~one\rtwo\x1b[201~\r")
	s.seeEnd("got line one\ntwo\n>")
}

// While something works the line is as long as it likes, Backspace removes a character, and
// a paste is one line.
func TestPlainModeReadsWholeLinesWhileItWorks(t *testing.T) {
	long := strings.Repeat("x", 6000)
	for _, c := range []struct{ name, typed, want string }{
		{"a long line", long + "y\r", long + "y"},
		{"a wide character", "日本\x7f\r", "日"},
		{"a family", "a👨‍👩‍👧\x7f\r", "a"},
		{"a word and a line", "one two\x17\r", "one "},
		{"another line", "one two\x15three\r", "three"},
		{"keys that do nothing", "a\x1b[Ab\x1bOPc\r", "abc"},
		{"a pasted block", "\x1b[200~one\rtwo\x1b[201~ more\r", "one\ntwo more"},
		{"the byte of Ctrl+J", "one\n", "one"},
	} {
		for _, kind := range []string{"xterm", "dumb"} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				s, _ := spawn(t, "plain", "TERM="+kind)
				s.seeEnd("begins\n>")
				s.types("work\r")
				s.seeEnd("> work\nworking")
				at := len(s.output())
				s.types(c.typed)
				want := "got line " + strings.ReplaceAll(c.want, "\n", "\r\n") + "\r\n"
				s.until(func() string { return "not seen: " + want }, func() bool { return strings.Contains(s.output()[at:], want) })
				if shown := strings.TrimLeft(s.output()[at:], "\r\n"); !strings.HasPrefix(shown, want) {
					t.Errorf("more is shown: %q", shown)
				}
				s.seeEnd("\n>")
				s.types("\x04")
				s.seeEnd("\nends")
				if !s.before.is(s.tty) {
					t.Error("the terminal is not as it was")
				}
			})
		}
	}
}

// What was typed while something worked is there at the next prompt, and can be changed.
func TestPlainModeKeepsTheBeginningOfALine(t *testing.T) {
	for _, kind := range []string{"xterm", "dumb"} {
		t.Run(kind, func(t *testing.T) {
			s, _ := spawn(t, "plain", "TERM="+kind)
			s.seeEnd("begins\n>")
			s.types("work\r")
			s.seeEnd("> work\nworking")
			s.types("first\rhalf")
			s.seeEnd("got line first\n> half")
			s.types("\x7f\x7flo\r")
			s.seeEnd("> halo\ngot line halo\n>")
		})
	}
}

// The line editor wants ten columns behind its prompt. Where there are fewer a line is typed at
// its end, and it edits again as soon as there are more.
func TestPlainModeReadsALineInANarrowWindow(t *testing.T) {
	s, _ := spawn(t, "plain")
	s.seeEnd("begins\n>")
	s.size(8, 12)
	s.types("one\r")
	s.seeEnd("got line one\n>")
	s.types("tqo\x7f\x7fwo\x1b[D\r")
	s.seeEnd("> two\ngot line two\n>")
	s.size(40, 12)
	s.types("three\r")
	s.seeEnd("got line three\n>")
	s.types("fur\x1b[D\x1b[Do\r")
	s.seeEnd("got line four\n>")
	s.types("\x1b[A\x1b[A\r")
	s.seeEnd("got line one\n>")
}

func TestCtrlZStopsPlainMode(t *testing.T) {
	s, shell := spawn(t, "launcher", "LAUNCHED=plain")
	s.see("begins\n>")
	s.types("ab\x1a")
	s.until(func() string { return "not stopped" }, func() bool { return strings.Contains(s.text(), "stopped") })
	if !s.before.is(s.tty) {
		t.Error("the terminal is not as it was")
	}
	_ = shell.Process.Signal(syscall.SIGUSR1)
	s.seeEnd("resumed\n> ab")
	s.types("c\r")
	s.seeEnd("got line abc\n>")
	s.types("\x04")
	s.seeEnd("\nends")
}

// A key that comes before the line of an Enter is handed on is not lost.
func TestCtrlZRightBehindAnEnterStopsPlainMode(t *testing.T) {
	s, shell := spawn(t, "launcher", "LAUNCHED=plain")
	s.see("begins\n>")
	s.types("one\r\x1a")
	s.until(func() string { return "not stopped" }, func() bool { return strings.Contains(s.text(), "stopped") })
	_ = shell.Process.Signal(syscall.SIGUSR1)
	s.seeEnd("resumed\n>")
	if !strings.Contains(s.text(), "got line one") {
		t.Errorf("the line is lost:\n%s", s.text())
	}
	s.types("\x04")
	s.seeEnd("\nends")
}

func TestLinesOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var mu sync.Mutex
	var told []string
	done := make(chan struct{})
	tell := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, what)
		if what == "end" {
			close(done)
		}
	}
	term, err := Start(Config{In: r, Out: out, Getenv: func(string) string { return "xterm" },
		Handler: Handler{Line: tell, End: func() { tell("end") }, Interrupt: func() { tell("interrupt") }}})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if !term.Plain() {
		t.Error("a pipe has keys")
	}
	term.Print("row")
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := len(told)
		mu.Unlock()
		if n > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no interrupt")
		}
	}
	if _, err := w.WriteString("one\r\ntwo\n\nlast"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	<-done
	if want := []string{"interrupt", "one", "two", "", "last", "end"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if b, err := os.ReadFile(out.Name()); err != nil || string(b) != "row\n" {
		t.Errorf("wrote %q, %v", b, err)
	}
}
