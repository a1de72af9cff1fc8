//go:build unix

package terminal

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"pi/internal/testing/screentest"
)

// stage is a Terminal on a pseudo-terminal, what an emulated screen shows of it, and a front end that
// shows rows as its zone and notes what it is told.
type stage struct {
	t           *testing.T
	master, tty *os.File
	term        *Terminal
	before      lineMode // of the terminal, for a program of its own
	ended       chan struct{}

	mu      sync.Mutex
	shown   *screentest.Emulator
	raw     []byte
	writes  int
	changed chan struct{} // closed and replaced with each event
	zone    Zone
	keys    []Key
	told    []string
}

const patience = 20 * time.Second // only a failing test waits as long

// onStage starts a terminal of a size, with variables of the environment.
func onStage(t *testing.T, columns, rows int, environment ...string) *stage {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if master, err = closable(master); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, master: master, tty: tty, ended: make(chan struct{}), changed: make(chan struct{})}
	s.size(columns, rows)
	s.shown = screentest.NewEmulator(columns, rows, false, screentest.Profile{})
	go s.watch()
	s.zone = Zone{Rows: []string{"> "}, Column: 2}
	env := map[string]string{"TERM": "xterm"}
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	s.term, err = Start(Config{In: tty, Out: tty, Focus: true, Getenv: func(name string) string { return env[name] }, Handler: Handler{
		Key:     func(k Key) { s.note(func() { s.keys = append(s.keys, k) }) },
		Zone:    func(int, int) Zone { s.mu.Lock(); defer s.mu.Unlock(); return s.zone },
		End:     func() { s.tell("end") },
		Resized: func() { s.tell("resized") },
		Focus: func(in bool) {
			s.tell(map[bool]string{true: "focus in", false: "focus out"}[in])
		},
		Interrupt: func() { s.tell("interrupt") },
		Line:      func(line string) { s.tell("line " + line) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// closable makes a file of f that can be closed while it is read.
func closable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func (s *stage) size(columns, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		s.t.Fatal(err)
	}
}

// resize gives the window another size, on the screen first.
func (s *stage) resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.shown.Resize(columns, rows)
	s.mu.Unlock()
	s.size(columns, rows)
	s.term.painter.windowChanges()
}

func (s *stage) watch() {
	defer close(s.ended)
	buf := make([]byte, 1<<20)
	for {
		n, err := s.master.Read(buf)
		s.note(func() {
			s.raw = append(s.raw, buf[:n]...)
			if s.shown != nil {
				_, _ = s.shown.Write(buf[:n])
			}
			s.writes++
		})
		if err != nil {
			return
		}
	}
}

func (s *stage) note(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stage) tell(what string) { s.note(func() { s.told = append(s.told, what) }) }

func (s *stage) close() {
	s.term.Close()
	s.tty.Close()
	s.master.Close()
	<-s.ended
}

// show makes rows the zone, with the cursor at the end of the last one.
func (s *stage) show(rows ...string) {
	s.mu.Lock()
	s.zone = Zone{Rows: rows}
	if n := len(rows); n > 0 {
		s.zone.Row, s.zone.Column = n-1, len([]rune(rows[n-1]))
	}
	s.mu.Unlock()
	s.term.Changed()
}

// text is the screen without the blanks at the ends of its rows.
func (s *stage) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Screen().Text()
}

func (s *stage) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func (s *stage) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until ready returns true.
func (s *stage) until(what func() string, ready func() bool) {
	s.t.Helper()
	late := time.After(patience)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ready() {
			return
		}
		select {
		case <-changed:
		case <-late:
			s.t.Fatalf("%s\nthe screen:\n%s", what(), s.text())
		}
	}
}

// see waits until the screen shows a text and nothing else.
func (s *stage) see(want string) {
	s.t.Helper()
	s.until(func() string { return "not seen:\n" + want }, func() bool { return s.text() == want })
}

// seeStart waits until the screen begins with a text.
func (s *stage) seeStart(want string) {
	s.t.Helper()
	s.until(func() string { return "does not begin with:\n" + want }, func() bool { return strings.HasPrefix(s.text(), want) })
}

// seeEnd waits until the screen ends with a text.
func (s *stage) seeEnd(want string) {
	s.t.Helper()
	s.until(func() string { return "does not end with:\n" + want }, func() bool { return strings.HasSuffix(s.text(), want) })
}

// press types and waits for the names of the keys that it makes.
func (s *stage) press(typed, want string) {
	s.t.Helper()
	s.mu.Lock()
	s.keys = nil
	s.mu.Unlock()
	s.types(typed)
	names := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		var names []string
		for _, k := range s.keys {
			names = append(names, k.Name)
		}
		return strings.Join(names, " ")
	}
	s.until(func() string { return "keys " + names() + ", want " + want }, func() bool { return names() == want })
}

func (s *stage) cursor() (column, row int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	screen := s.shown.Screen()
	return screen.Col, screen.Row
}
