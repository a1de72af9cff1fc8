//go:build linux || darwin || freebsd || netbsd || openbsd

package relay

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"pi/internal/printable"
	"pi/internal/process"
)

// Possible says whether there are pseudo-terminals.
const Possible = true

const (
	drainTime  = 100 * time.Millisecond // of waiting for output, once the command has ended
	stopTime   = 20 * time.Millisecond  // the same, once it was stopped
	drainBytes = 1 << 20                // of output by then, which others may write for ever
)

// run is a command that is connected. One goroutine has it, but for the master's end of
// the terminal and the keys.
type run struct {
	Options
	pid    int
	master *os.File
	slave  string // the name of the command's terminal
	before *term.State
	keys   *keys

	chunks chan []byte // of output; closed when there will be no more
	states chan unix.WaitStatus
}

// Run runs a command that is not started yet, and returns when it has ended. The error
// says why it was not started. The user's terminal is as it was then, with the cursor
// at the start of a row.
func Run(cmd *exec.Cmd, o Options) (End, error) {
	r := &run{Options: o.withDefaults(), chunks: make(chan []byte), states: make(chan unix.WaitStatus)}
	var err error
	if r.before, err = term.GetState(int(r.In.Fd())); err != nil {
		return End{}, fmt.Errorf("read the mode of the terminal: %w", err)
	}
	window := make(chan os.Signal, 1)
	signal.Notify(window, syscall.SIGWINCH)
	defer signal.Stop(window)
	master, slave, err := open(r.In)
	if err != nil {
		return End{}, fmt.Errorf("open a terminal for the command: %w", err)
	}
	defer master.Close()
	r.master, r.slave = master, slave.Name()
	r.resize()
	// At once: what is typed from now on is shown by the command's terminal, not by this one.
	if _, err := term.MakeRaw(int(r.In.Fd())); err == nil {
		defer func() { _ = term.Restore(int(r.In.Fd()), r.before) }()
	}
	if err := r.start(cmd, slave); err != nil {
		return End{}, err
	}
	if r.keys, err = readKeys(r.In, r.master, r.pid); err == nil {
		defer r.keys.stop()
	}
	go r.readOutput()
	go r.wait()
	end := r.carry(window)
	end.Open = r.drain()
	r.show([]byte(r.ending()))
	if r.keys != nil {
		r.keys.stop()
		end.Unread = append(r.unread(), r.keys.unsent()...)
	}
	return end, nil
}

// start starts the command as the leader of a session that has a terminal, and closes
// that here.
func (r *run) start(cmd *exec.Cmd, slave *os.File) error {
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.Watcher.Start(cmd); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	r.pid = cmd.Process.Pid
	_ = cmd.Process.Release() // wait does the rest
	r.Started(r.pid)
	return nil
}

// wait reports each stop of the command, and then its end.
func (r *run) wait() {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(r.pid, &status, unix.WUNTRACED, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		over := err != nil || !status.Stopped()
		if over {
			r.Watcher.Release(r.pid)
		}
		if r.states <- status; over {
			return
		}
	}
}

// readOutput reads what the command writes. Two buffers are enough, since the one that was
// sent is done with when the next one is received.
func (r *run) readOutput() {
	defer close(r.chunks)
	var buffers [2][]byte
	for i := range buffers {
		buffers[i] = make([]byte, 32<<10)
	}
	for i := 0; ; i = 1 - i {
		n, err := r.master.Read(buffers[i])
		if n > 0 {
			r.chunks <- buffers[i][:n]
		}
		if err != nil {
			return
		}
	}
}

// carry passes things on until the command has ended.
func (r *run) carry(window <-chan os.Signal) (end End) {
	stop := r.Stop
	chunks := r.chunks
	for {
		select {
		case chunk, ok := <-chunks:
			if !ok {
				chunks = nil
			}
			r.show(chunk)
			_, _ = r.Output.Write(chunk)
		case <-window:
			r.resize()
		case <-stop:
			stop, end.Ended = nil, true
			go process.Stop(r.pid, r.Grace)
		case status := <-r.states:
			if status.Stopped() {
				r.suspend()
				continue
			}
			if end.ExitCode = status.ExitStatus(); status.Signaled() {
				end.Signal = cmp.Or(unix.SignalName(status.Signal()), status.Signal().String())
			}
			return end
		}
	}
}

// passOn passes on what the command has written, and reports whether nothing more can
// come. It waits no longer than this for output that is not there yet.
func (r *run) passOn(left time.Duration) (ended bool) {
	patience := time.NewTimer(left)
	defer patience.Stop()
	for n := 0; n < drainBytes && left > 0; {
		began := time.Now()
		patience.Reset(left)
		select {
		case chunk, ok := <-r.chunks:
			if !ok {
				return true
			}
			left -= time.Since(began)
			n += len(chunk)
			r.show(chunk)
			_, _ = r.Output.Write(chunk)
		case <-patience.C:
			left = 0
		}
	}
	return false
}

// drain passes on what the command wrote last, and reports whether another process still
// has its terminal.
func (r *run) drain() (open bool) {
	if r.passOn(drainTime) {
		return false
	}
	go func() { // until the terminal is closed
		for range r.chunks {
			continue
		}
	}()
	return true
}

// show writes to the user's terminal. If that is gone, there is nobody to tell.
func (r *run) show(output []byte) {
	for len(output) > 0 {
		n, err := r.Out.Write(output)
		output = output[n:]
		if errors.Is(err, syscall.EAGAIN) { // another program made the terminal refuse to wait
			time.Sleep(time.Millisecond)
		} else if err != nil {
			return
		}
	}
}

// ending is what makes the terminal fit for others: what the command has begun to say to it
// is ended, modes that it has set are undone, and the cursor is at the start of a row.
func (r *run) ending() string {
	if r.AtRowStart() {
		return printable.EndSequence + r.Modes(false)
	}
	return printable.EndSequence + r.Modes(false) + "\r\n"
}

// resize gives the command's terminal the size of the user's.
func (r *run) resize() {
	size, err := unix.IoctlGetWinsize(int(r.Out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return
	}
	_ = control(r.master, func(fd int) error { return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, size) })
	r.Resized(int(size.Col), int(size.Row))
}
