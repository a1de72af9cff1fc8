//go:build unix

package screentest

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TB is the part of a testing.TB that a terminal uses, so that a script can be one.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(f func())
}

// input is what is typed next, behind a pause.
type input struct {
	pause   time.Duration
	keys    string
	written chan struct{} // closed when they are; nil if nobody waits for it
}

// Options say what kind of terminal a program gets. The zero value is one of 80
// columns and 24 rows that reflows and answers what it is asked.
type Options struct {
	Cols, Rows int
	// NoSize is a terminal that says its size is 0 × 0, as serial lines do; Cols and
	// Rows are what it shows all the same.
	NoSize bool
	// Clips is a terminal that cuts its rows when it becomes narrower.
	Clips   bool
	Profile Profile
	// Patience is how long Until waits, 20 s by default. Only a failing test waits as
	// long.
	Patience time.Duration
	// Delay makes a slow line of it: what the program writes is read in pieces of 256
	// bytes with this pause between them.
	Delay time.Duration
	// Without UTF8 the terminal erases byte by byte while it is not raw, as one does
	// whose IUTF8 is not set.
	NoUTF8 bool
	// Ahead is typed before the program starts.
	Ahead string
}

// Terminal is a program that runs in a pseudo-terminal, and what its screen shows.
// Its methods may be called by one goroutine at a time; those that fail end the test.
type Terminal struct {
	t           TB
	options     Options
	cmd         *exec.Cmd
	master, tty *os.File
	before      *term.State
	exited      chan struct{} // closed when the program has been waited for

	mu      sync.Mutex
	screen  *Emulator
	raw     []byte
	changed chan struct{} // closed and replaced with each output
	ended   chan struct{} // closed when nothing more can come
	watch   func(Screen)

	keys chan input // what is typed and what the terminal answers, in order
	stop chan struct{}
}

// Start runs a command in a terminal of its own, whose process group it leads. The
// command gets the terminal as its input and outputs; it must not have been started.
// It is killed at the end of the test.
func Start(t TB, cmd *exec.Cmd, o Options) *Terminal {
	t.Helper()
	if o.Cols == 0 {
		o.Cols = 80
	}
	if o.Rows == 0 {
		o.Rows = 24
	}
	if o.Patience == 0 {
		o.Patience = 20 * time.Second
	}
	s := &Terminal{t: t, options: o, cmd: cmd, exited: make(chan struct{}), changed: make(chan struct{}), ended: make(chan struct{}),
		keys: make(chan input, 1024), stop: make(chan struct{}), screen: NewEmulator(o.Cols, o.Rows, !o.Clips, o.Profile)}
	s.screen.reply = func(text string) { s.keys <- input{keys: text} }
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.master.WriteString(o.Ahead); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.tty, s.tty, s.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	go s.write()
	go func() {
		_ = cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(s.close)
	return s
}

// open opens the pseudo-terminal and gives it its size.
func (s *Terminal) open() error {
	master, tty, err := pty.Open()
	if err != nil {
		return err
	}
	size := &pty.Winsize{Rows: uint16(s.options.Rows), Cols: uint16(s.options.Cols)}
	if s.options.NoSize {
		size = &pty.Winsize{}
	}
	if err := pty.Setsize(master, size); err != nil {
		return err
	}
	s.tty = tty
	if s.master, err = closable(master); err != nil {
		return err
	}
	if err := setUTF8(tty, !s.options.NoUTF8); err != nil {
		return err
	}
	s.before, err = term.GetState(int(tty.Fd()))
	return err
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

// read shows what the program writes.
func (s *Terminal) read() {
	defer close(s.ended)
	buf := make([]byte, 64<<10)
	if s.options.Delay > 0 {
		buf = buf[:256]
	}
	for {
		_ = s.master.SetReadDeadline(time.Time{})
		n, err := s.master.Read(buf)
		if s.options.Delay > 0 {
			s.show(buf[:n])
			time.Sleep(s.options.Delay)
		} else {
			n, err = s.rest(buf, n, err)
			s.show(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// rest reads on for as long as more comes at once: what a program writes in one piece
// may arrive in several, and half of it was never meant to be looked at.
func (s *Terminal) rest(buf []byte, n int, err error) (int, error) {
	for err == nil && n < len(buf) {
		_ = s.master.SetReadDeadline(time.Now().Add(time.Millisecond))
		more, failed := s.master.Read(buf[n:])
		if n += more; failed != nil {
			if !errors.Is(failed, os.ErrDeadlineExceeded) {
				err = failed
			}
			break
		}
	}
	return n, err
}

func (s *Terminal) show(output []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, output...)
	_, _ = s.screen.Write(output)
	if s.watch != nil && !s.screen.modes.Synchronous {
		s.watch(s.screen.Screen())
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// write hands over what is typed. It waits where the program does not read.
func (s *Terminal) write() {
	for {
		select {
		case next := <-s.keys:
			time.Sleep(next.pause)
			_, err := s.master.WriteString(next.keys)
			if next.written != nil {
				close(next.written)
			}
			if err != nil {
				return
			}
		case <-s.stop:
			return
		}
	}
}

func (s *Terminal) close() {
	_ = s.cmd.Process.Kill()
	<-s.exited
	close(s.stop)
	s.tty.Close()
	s.master.Close()
	<-s.ended
}

// Type sends keys as they are. What is done next comes behind them, unless they are more than the
// program has read after a second.
func (s *Terminal) Type(keys string) {
	written := make(chan struct{})
	s.keys <- input{keys: keys, written: written}
	select {
	case <-written:
	case <-s.exited:
	case <-time.After(time.Second):
	}
}

// Pause makes a pause of at least this time between what was typed and what is typed
// next.
func (s *Terminal) Pause(d time.Duration) { s.keys <- input{pause: d} }

// Press sends keys by their names, as KeyBytes knows them.
func (s *Terminal) Press(names ...string) {
	for _, name := range names {
		s.Type(KeyBytes(name, s.Screen().Modes))
	}
}

// Paste sends a text as the terminal does when a user pastes it: line ends are CR,
// and it is marked if the program has asked for that.
func (s *Terminal) Paste(text string) {
	if s.Screen().Modes.BracketedPaste {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	s.Type(text)
}

// Resize gives the window another size.
func (s *Terminal) Resize(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.screen.Resize(cols, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// SetSize says another size than what is shown; 0 × 0 is what some lines say.
func (s *Terminal) SetSize(cols, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// Scribble writes to the terminal as another program does that has it, too.
func (s *Terminal) Scribble(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}
