package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"pi/internal/process"
)

const (
	killAfter  = process.Grace          // from TERM to KILL
	drainGrace = 100 * time.Millisecond // for output that is on its way when the program ends
)

// ErrEnded means that a program has ended, or reads no input any more.
var ErrEnded = errors.New("ended")

// Command is a program to start. No shell runs it.
type Command struct {
	Name string
	Args []string
	Dir  string
	Env  []string // NAME=value: all that it gets; of a name that occurs twice the last counts
	// Starting is called right before it is started, and what it returns right afterwards, with
	// its process group; 0: it was not started. It may be nil.
	Starting func() (started func(group int))
	// Watcher ends the program, and what that leaves of its session, with this one; nil: nobody does.
	Watcher *process.Watcher
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit status; -1 if a signal ended it
	Signal string // such as TERM; "" if none did
	Killed bool   // Stop or Signal had been called
}

// Child is a program that runs, or has run.
type Child struct {
	Stdout, Stderr *Stream

	Noted atomic.Bool // for its owners: whatever they remember of it, from one to the next

	cmd     *exec.Cmd
	watcher *process.Watcher
	stdin   *os.File
	writes  chan struct{} // has one element while nobody writes
	closes  sync.Once     // of stdin

	stop   sync.Once // ends the group
	killed atomic.Bool
	exit   Exit          // valid once exited is closed
	exited chan struct{} // closed when the program has ended
	empty  chan struct{} // closed when nothing is left of its group either, as far as it has to end
}

// Start starts a program. When that has ended, what is left of its session is ended as
// well. The error says what could not be started, and why.
func Start(c Command) (*Child, error) { return start(c, true) }

// start is Start; wholly says that the rest of the group ends with the program.
func start(command Command, wholly bool) (*Child, error) {
	cmd := exec.Command(command.Name, command.Args...)
	cmd.Dir, cmd.Env = command.Dir, command.Env
	process.Session(cmd)
	p := &pipes{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.open(true), p.open(false), p.open(false)
	started := func(int) {}
	if command.Starting != nil {
		started = command.Starting()
	}
	err := p.err
	if err == nil {
		err = command.Watcher.Start(cmd)
	}
	closeAll(p.theirs)
	if err != nil {
		started(0)
		closeAll(p.ours)
		return nil, fmt.Errorf("start %s: %w", command.Name, startError(command.Dir, err))
	}
	started(cmd.Process.Pid)
	c := &Child{cmd: cmd, watcher: command.Watcher, stdin: p.ours[0], Stdout: newStream(p.ours[1]), Stderr: newStream(p.ours[2]), writes: make(chan struct{}, 1),
		exited: make(chan struct{}), empty: make(chan struct{})}
	c.writes <- struct{}{}
	go c.await(wholly)
	return c, nil
}

// pipes are the standard streams of a program that is about to start.
type pipes struct {
	ours, theirs []*os.File
	err          error // the first
}

// open makes a pipe and returns the end of the program, which reads from it or else writes.
func (p *pipes) open(reads bool) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		p.err = errors.Join(p.err, err)
		return nil
	}
	if !reads {
		r, w = w, r
	}
	p.theirs, p.ours = append(p.theirs, r), append(p.ours, w)
	return r
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// startError returns why a program did not start. The system reports a directory that does
// not exist as if the program did not.
func startError(dir string, err error) error {
	if dir == "" {
		return err
	}
	info, missing := os.Stat(dir)
	switch {
	case missing != nil:
		return fmt.Errorf("cwd: %w", missing)
	case !info.IsDir():
		return fmt.Errorf("cwd: %s is no directory", dir)
	}
	return err
}

// await waits for the program, tells how it ended, ends what is left of its group if it has
// to end, and its streams.
func (c *Child) await(wholly bool) {
	_ = c.cmd.Wait() // the state says how it ended
	c.exit = Exit{Code: c.cmd.ProcessState.ExitCode(), Signal: process.SignalOf(c.cmd.ProcessState), Killed: c.killed.Load()}
	close(c.exited)
	c.CloseStdin()
	time.AfterFunc(drainGrace, func() {
		c.Stdout.finish()
		c.Stderr.finish()
	})
	if (wholly || c.exit.Killed) && process.Alive(c.Pid()) {
		c.stopGroup()
	}
	c.watcher.End(c.Pid())
	close(c.empty)
}

// Name is that of its command.
func (c *Child) Name() string { return c.cmd.Args[0] }

// Pid is the number of the process, and of its group.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Exited is closed when the program has ended. Its streams may still have what it wrote.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Exit is how the program ended; only once Exited is closed.
func (c *Child) Exit() Exit { return c.exit }

// IsRunning reports whether the program has not ended yet.
func (c *Child) IsRunning() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// Write writes to the standard input of the program and waits while its pipe is full.
// Texts of several callers do not mix. The error is that of ctx, or ErrEnded.
func (c *Child) Write(ctx context.Context, text string) error {
	select {
	case <-c.writes:
		defer func() { c.writes <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	case <-c.exited:
		return ErrEnded
	}
	late := make(chan struct{})
	inTime := context.AfterFunc(ctx, func() {
		defer close(late)
		_ = c.stdin.SetWriteDeadline(time.Unix(1, 0))
	})
	defer func() {
		if !inTime() { // the next text is not late
			<-late
			_ = c.stdin.SetWriteDeadline(time.Time{})
		}
	}()
	if _, err := io.WriteString(c.stdin, text); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return ErrEnded
	}
	return nil
}

// CloseStdin ends the input of the program.
func (c *Child) CloseStdin() { c.closes.Do(func() { _ = c.stdin.Close() }) }

// Signal sends a signal to the process group, one of [process.Signals]. The error is
// ErrEnded, or says that the signal cannot be sent.
func (c *Child) Signal(name string) error {
	if !c.IsRunning() {
		return ErrEnded
	}
	switch name {
	case "TERM", "KILL", "INT", "HUP", "QUIT":
		c.killed.Store(true)
	}
	return process.Signal(c.cmd.Process, name)
}

// Stop ends the program and what is left of its group: TERM, and KILL after 2 s. It returns
// when nothing of that lives; for a program that has ended, when its group has.
func (c *Child) Stop() {
	if c.IsRunning() {
		c.killed.Store(true)
		c.stopGroup()
	}
	<-c.empty
}

// stopGroup ends the group, once, and returns when it is empty.
func (c *Child) stopGroup() { c.stop.Do(func() { process.Stop(c.Pid(), killAfter) }) }

// Close is Stop, and drops what nobody takes of its output.
func (c *Child) Close() {
	c.Stdout.dropRest()
	c.Stderr.dropRest()
	c.Stop()
}
