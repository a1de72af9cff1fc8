//go:build linux || darwin || freebsd || netbsd || openbsd

package relay

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"pi/internal/printable"
)

// user is a terminal and what it shows.
type user struct {
	t           testing.TB
	master, tty *os.File

	mu    sync.Mutex
	shown bytes.Buffer
}

func newUser(t testing.TB) *user {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &user{t: t, master: master, tty: tty}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			p.mu.Lock()
			if p.shown.Len() < 1<<20 {
				p.shown.Write(buf[:n])
			}
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() { tty.Close(); <-ended; master.Close() })
	return p
}

// sees waits until a text was shown, and returns all of that.
func (p *user) sees(text string) string {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		shown := p.shown.String()
		p.mu.Unlock()
		if strings.Contains(shown, text) {
			return shown
		}
		if time.Now().After(end) {
			p.t.Fatalf("%q was not shown: %q", text, shown)
		}
	}
}

func (p *user) types(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// runs starts a command for the user; end waits for its end.
func (p *user) runs(command string, o Options) (end func() End) {
	p.t.Helper()
	before, err := term.GetState(int(p.tty.Fd()))
	if err != nil {
		p.t.Fatal(err)
	}
	o.In, o.Out = p.tty, p.tty
	ended := make(chan End, 1)
	go func() {
		end, err := Run(exec.Command("sh", "-c", command), o)
		if err != nil {
			p.t.Error(err)
		}
		ended <- end
	}()
	return func() End {
		p.t.Helper()
		select {
		case end := <-ended:
			if after, err := term.GetState(int(p.tty.Fd())); err != nil || *after != *before {
				p.t.Errorf("the terminal's line is %+v, was %+v; %v", after, before, err)
			}
			return end
		case <-time.After(20 * time.Second):
			p.t.Fatal("the command does not end")
			return End{}
		}
	}
}

func TestHowACommandEnds(t *testing.T) {
	for _, c := range []struct {
		command, keys string
		code          int
		signal        string
	}{
		{"echo ready", "", 0, ""},
		{"echo ready; exit 7", "", 7, ""},
		{"echo ready; kill -SEGV $$", "", -1, "SIGSEGV"},
		{"echo ready; exec sleep 600", "\x03", -1, "SIGINT"},
		{"echo ready; exec sleep 600", "\x1c", -1, "SIGQUIT"},
		{"echo ready; cat > /dev/null; exit 3", "\x04", 3, ""},
		{"trap 'exit 5' INT; echo ready; while :; do sleep 0.01; done", "\x03", 5, ""},
		{"stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null | od -An -c; exit 4", "\x03", 4, ""},
	} {
		t.Run(c.command+c.keys, func(t *testing.T) {
			p := newUser(t)
			var kept bytes.Buffer
			end := p.runs(c.command, Options{Output: &kept})
			p.sees("ready")
			p.types(c.keys)
			if got := end(); got.ExitCode != c.code || got.Signal != c.signal || got.Ended || got.Open {
				t.Errorf("%+v", got)
			}
			if shown := p.sees(kept.String()); !strings.Contains(kept.String(), "ready") {
				t.Errorf("kept %q, shown %q", kept.String(), shown)
			}
		})
	}
}

// A command is ended with its group, also one that does not want to.
func TestACommandIsEnded(t *testing.T) {
	for _, command := range []string{"sleep 600 & echo ready; wait", "trap '' TERM INT HUP; sleep 600 & echo ready; wait; wait"} {
		t.Run(command, func(t *testing.T) {
			p := newUser(t)
			stop := make(chan struct{})
			end := p.runs(command, Options{Stop: stop, Grace: 50 * time.Millisecond})
			p.sees("ready")
			close(stop)
			if got := end(); !got.Ended || got.Open {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTheSizeOfTheWindowIsPassedOn(t *testing.T) {
	p := newUser(t)
	var sizes [][2]int
	end := p.runs("trap 'stty size; exit' WINCH; stty size; echo ready; while :; do sleep 0.01; done",
		Options{Resized: func(columns, rows int) { sizes = append(sizes, [2]int{columns, rows}) }})
	p.sees("24 80\r\nready")
	if err := pty.Setsize(p.master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil { // the test does not belong to the terminal, whose system tells it nothing
		err = self.Signal(syscall.SIGWINCH)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.sees("30 100")
	end()
	if len(sizes) != 2 || sizes[0] != [2]int{80, 24} || sizes[1] != [2]int{100, 30} {
		t.Errorf("told %v", sizes)
	}
}

// What the command has left of the terminal is undone, and a row is begun.
func TestTheTerminalIsInOrderAtTheEnd(t *testing.T) {
	p := newUser(t)
	end := p.runs("printf half", Options{Modes: func(on bool) string { return map[bool]string{true: "<on>", false: "<off>"}[on] }, AtRowStart: func() bool { return false }})
	end()
	p.sees("half" + printable.EndSequence + "<off>\r\n")
}

func TestWhatIsNotReadIsReturned(t *testing.T) {
	p := newUser(t)
	end := p.runs("echo ready; sed -n -u 1q; while [ ! -e "+t.TempDir()+"/x ] && [ $((i += 1)) -lt 20 ]; do sleep 0.01; done", Options{})
	p.sees("ready")
	p.types("read\rnot read\rhalf")
	p.sees("half")
	if got := end(); string(got.Unread) != "not read\nhalf" {
		t.Errorf("%q", got.Unread)
	}
}

func TestAProcessInTheBackgroundKeepsNobodyWaiting(t *testing.T) {
	p := newUser(t)
	ignores := filepath.Join(t.TempDir(), "ignores")
	end := p.runs("(trap '' HUP; : >"+ignores+"; sleep 600) & while [ ! -e "+ignores+" ]; do sleep 0.01; done; echo $! ready", Options{})
	pid, _, _ := strings.Cut(p.sees(" ready"), " ")
	defer func() { _ = exec.Command("kill", "-KILL", pid).Run() }()
	if got := end(); !got.Open {
		t.Errorf("%+v", got)
	}
}

func TestWhatCannotBeStartedIsAnError(t *testing.T) {
	p := newUser(t)
	if _, err := Run(exec.Command("/nowhere/sh"), Options{In: p.tty, Out: p.tty}); err == nil {
		t.Error("no error")
	}
	r, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := Run(exec.Command("true"), Options{In: r, Out: p.tty}); err == nil {
		t.Error("a pipe is no terminal")
	}
}

func BenchmarkOutput(b *testing.B) {
	const size = 32 << 20
	p := newUser(b)
	b.SetBytes(size)
	for b.Loop() {
		end, err := Run(exec.Command("sh", "-c", "yes a line of a log that is as long as they usually are | head -c 33554432"), Options{In: p.tty, Out: p.tty, Output: io.Discard})
		if err != nil || end.ExitCode != 0 {
			b.Fatal(end, err)
		}
	}
}
