//go:build unix

package repl

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/term"
)

// console is a program in a pseudo-terminal, and what its screen shows.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	tty    *os.File
	before *term.State

	mu      sync.Mutex
	screen  vt10x.Terminal
	raw     []byte
	changed chan struct{} // closed and replaced with each output
	ended   chan struct{}
}

// start runs the test program in a terminal of 40 lines and 80 columns.
func start(t *testing.T, env ...string) *console {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	if master, err = closable(master); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	s := &console{t: t, master: master, tty: tty, before: before, screen: vt10x.New(vt10x.WithSize(80, 40)),
		changed: make(chan struct{}), ended: make(chan struct{})}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append([]string{programEnv + "=1", "TERM=xterm", "NO_COLOR=1", "GOCOVERDIR=" + t.TempDir()}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = sessionLeader()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.watch()
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

func (s *console) watch() {
	defer close(s.ended)
	buf := make([]byte, 64<<10)
	for {
		n, err := s.master.Read(buf)
		s.mu.Lock()
		s.raw = append(s.raw, buf[:n]...)
		_, _ = s.screen.Write(buf[:n])
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *console) close() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.tty.Close()
	s.master.Close()
	<-s.ended
}

// text is the screen without the blanks at the ends of its lines.
func (s *console) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// see waits until the screen shows text.
func (s *console) see(text string) {
	s.t.Helper()
	s.until("the screen shows "+text, func() bool { return strings.Contains(s.text(), text) })
}

// prompt waits until the last line of the screen is an open prompt with text.
func (s *console) prompt(text string) {
	s.t.Helper()
	s.until("the prompt holds "+text, func() bool {
		screen := s.text()
		last := screen[strings.LastIndexByte(screen, '\n')+1:]
		return last == strings.TrimRight("> "+text, " ") && s.isRaw()
	})
}

// The terminal is told to mark pastes while a prompt or a panel is open.
const (
	marksPastes = "\x1b[?2004h"
	marksNone   = "\x1b[?2004l"
)

// isRaw tells an open prompt from one that is not being read yet.
func (s *console) isRaw() bool {
	return strings.LastIndex(s.output(), marksPastes) > strings.LastIndex(s.output(), marksNone) || s.dumb()
}

func (s *console) dumb() bool { return !strings.Contains(s.output(), marksPastes) }

func (s *console) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

func (s *console) until(what string, ok func() bool) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-s.ended:
			if !ok() {
				s.t.Fatalf("the program ended before %s; screen:\n%s", what, s.text())
			}
			return
		case <-deadline:
			s.t.Fatalf("waited in vain until %s; screen:\n%s", what, s.text())
		}
	}
}

func (s *console) typeKeys(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, keys); err != nil {
		s.t.Fatal(err)
	}
}

// enter types a line at the open prompt.
func (s *console) enter(line string) {
	s.t.Helper()
	s.typeKeys(line + "\r")
}

// leave waits for the end of the program and checks that the terminal is as it
// was found.
func (s *console) leave() error {
	s.t.Helper()
	err := s.cmd.Wait()
	after, stateErr := term.GetState(int(s.tty.Fd()))
	if stateErr != nil {
		s.t.Fatal(stateErr)
	}
	if *after != *s.before {
		s.t.Errorf("terminal mode is %+v, was %+v", after, s.before)
	}
	s.until("bracketed paste is off", func() bool {
		out := s.output()
		return strings.LastIndex(out, marksPastes) <= strings.LastIndex(out, marksNone)
	})
	return err
}
