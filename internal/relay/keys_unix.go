//go:build linux || darwin || freebsd || netbsd || openbsd

package relay

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keys passes on what is typed, on a goroutine of its own. It does not read before there
// is something to read, so that it can be stopped without taking a key.
type keys struct {
	in, master *os.File
	pid        int
	bell       [2]*os.File // a pipe whose end wakes the goroutine
	done       chan struct{}
	once       sync.Once

	waiting []byte // typed, and the command's terminal takes no more at the moment
	dropped bool   // what was typed before an interrupt is to be forgotten, as terminals do
}

const (
	sendTime    = 20 * time.Millisecond // until the command's terminal counts as full
	mostWaiting = 1 << 20
)

func readKeys(in, master *os.File, pid int) (*keys, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	k := &keys{in: in, master: master, pid: pid, bell: [2]*os.File{r, w}, done: make(chan struct{})}
	go k.run()
	return k, nil
}

// stop ends the reading and waits for that. It may be called more than once.
func (k *keys) stop() {
	k.once.Do(func() {
		k.bell[1].Close()
		<-k.done
		k.bell[0].Close()
	})
}

// unsent returns what was typed and did not reach the command's terminal. The reading has
// been stopped.
func (k *keys) unsent() []byte { return k.waiting }

func (k *keys) run() {
	defer close(k.done)
	buf := make([]byte, 4096)
	for {
		ready, ended := k.wait()
		switch {
		case ended:
			return
		case ready:
			n, err := k.in.Read(buf)
			if n <= 0 && !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) {
				return
			}
			k.typed(buf[:max(n, 0)])
		}
		if !k.send() {
			return
		}
	}
}

// wait waits until something was typed; while something waits to be sent, not for long.
func (k *keys) wait() (ready, ended bool) {
	in, bell := int(k.in.Fd()), int(k.bell[0].Fd())
	if in >= unix.FD_SETSIZE || bell >= unix.FD_SETSIZE {
		return true, false
	}
	for {
		var set unix.FdSet
		set.Set(bell)
		if len(k.waiting) < mostWaiting {
			set.Set(in)
		}
		var limit *unix.Timeval
		if len(k.waiting) > 0 {
			tv := unix.NsecToTimeval(int64(sendTime))
			limit = &tv
		}
		n, err := unix.Select(max(in, bell)+1, &set, nil, nil, limit)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false, true
		default:
			return n > 0 && set.IsSet(in), n > 0 && set.IsSet(bell)
		}
	}
}

// typed takes what was typed. A key that stops the command does that here, since the system
// stops no command whose parent it does not see; one that interrupts it overtakes what the
// command does not read.
func (k *keys) typed(p []byte) {
	mode, err := line(k.master)
	if err != nil || mode.Lflag&unix.ISIG == 0 {
		k.waiting = append(k.waiting, p...)
		return
	}
	for len(p) > 0 {
		i := bytes.IndexFunc(p, func(c rune) bool { return c < 0x80 && isSignal(mode, byte(c)) })
		if i < 0 {
			break
		}
		k.waiting = append(k.waiting, p[:i]...)
		k.signal(mode, p[i])
		p = p[i+1:]
	}
	k.waiting = append(k.waiting, p...)
}

// isSignal reports whether a key makes a signal.
func isSignal(mode *unix.Termios, key byte) bool {
	return key != 0 && (key == mode.Cc[unix.VINTR] || key == mode.Cc[unix.VQUIT] || key == mode.Cc[unix.VSUSP])
}

// signal does what a key means that makes a signal.
func (k *keys) signal(mode *unix.Termios, key byte) {
	group, err := foreground(k.master)
	switch suspends := key == mode.Cc[unix.VSUSP]; {
	case suspends && err == nil && group == k.pid:
		_ = syscall.Kill(-group, syscall.SIGSTOP)
	case suspends || err != nil:
		k.waiting = append(k.waiting, key)
	default:
		signal := syscall.SIGINT
		if key == mode.Cc[unix.VQUIT] {
			signal = syscall.SIGQUIT
		}
		if stuck := len(k.waiting) > 0 && !k.send(); stuck || len(k.waiting) > 0 {
			k.waiting, k.dropped = nil, true
			_ = syscall.Kill(-group, signal)
		} else {
			k.waiting = append(k.waiting, key)
		}
		_ = syscall.Kill(-group, syscall.SIGCONT) // one that has stopped alone does not see the signal
	}
}

// send writes to the command's terminal what waits, as far as that takes it. It reports
// false if the terminal is closed.
func (k *keys) send() bool {
	if len(k.waiting) == 0 {
		return true
	}
	_ = k.master.SetWriteDeadline(time.Now().Add(sendTime))
	n, err := k.master.Write(k.waiting)
	k.waiting = k.waiting[n:]
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}
