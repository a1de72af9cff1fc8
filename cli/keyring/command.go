package keyring

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"pi/internal/process"
)

// commands runs the commands that print keys. What a command printed is remembered
// until a server refuses it: a password manager that asks for a finger would ask
// at every request. Requests at the same time share one run. A failure is not
// remembered. Nothing is known beforehand, and nothing is written anywhere.
type commands struct {
	limit time.Duration // of one run
	run   func(ctx context.Context, command string) (stdout, stderr string, err error)

	mu   sync.Mutex
	runs map[string]*commandRun
}

// commandRun is one run of a command. key and err may be read once done is closed.
type commandRun struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // guarded by the mutex of commands
	key     string
	err     error
}

// timeLimit is long enough for somebody who is asked to touch a sensor.
const timeLimit = 10 * time.Second

func newCommands() *commands {
	return &commands{limit: timeLimit, run: runCommand, runs: map[string]*commandRun{}}
}

// key returns the key that command prints. The command runs once; what it printed is
// remembered. If ctx ends, the command is stopped, unless another request waits for it
// too.
func (k *commands) key(ctx context.Context, command string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	run := k.join(command)
	select {
	case <-run.done:
	case <-ctx.Done():
		if k.abandon(command, run) {
			<-run.done
		}
		return "", ctx.Err()
	}
	return run.key, run.err
}

// join returns the run of command, which it starts if there is none, and counts the
// caller among those who wait.
func (k *commands) join(command string) *commandRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	run := k.runs[command]
	if run == nil {
		ctx, cancel := context.WithTimeout(context.Background(), k.limit)
		run = &commandRun{done: make(chan struct{}), cancel: cancel}
		k.runs[command] = run
		go k.start(ctx, command, run)
	}
	run.waiting++
	return run
}

// abandon stops waiting for a run. If nobody else waits for it, it stops the command,
// forgets the run, and returns true.
func (k *commands) abandon(command string, run *commandRun) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	run.waiting--
	if run.waiting > 0 {
		return false
	}
	k.forget(command, run)
	run.cancel()
	return true
}

// start runs the command, stores its key or error in run and closes run.done. A failed run
// is forgotten, so that the next request tries again.
func (k *commands) start(ctx context.Context, command string, run *commandRun) {
	defer close(run.done)
	defer run.cancel()
	run.key, run.err = keyFromCommand(command, func(command string) (string, string, error) {
		stdout, stderr, err := k.run(ctx, command)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no key within %s", k.limit)
		}
		return stdout, stderr, err
	})
	if run.err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.forget(command, run)
	}
}

// forget removes a run, unless another has replaced it. The caller has locked mu.
func (k *commands) forget(command string, run *commandRun) {
	if k.runs[command] == run {
		delete(k.runs, command)
	}
}

// forgetKey removes the run that printed key, so that the next request runs the
// command again and finds the key that replaced it.
func (k *commands) forgetKey(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for command, run := range k.runs {
		select {
		case <-run.done:
			if run.key == key {
				delete(k.runs, command)
			}
		default:
		}
	}
}

// errTooMuch ends a command that prints what cannot be a key.
var errTooMuch = errors.New("it prints far more than a key")

// limitedText collects up to 64 KiB; a write beyond that fails.
type limitedText struct {
	text strings.Builder
	over bool
}

// Write fails once there would be more text than a key command can sensibly print.
func (b *limitedText) Write(p []byte) (int, error) {
	const most = 64 << 10
	if b.text.Len()+len(p) > most {
		b.over = true
		return 0, errTooMuch
	}
	return b.text.Write(p)
}

// runCommand runs a command line with the system's shell and returns its standard output
// and error. It has no input and no terminal, and all processes that it started are ended
// with it.
func runCommand(ctx context.Context, command string) (string, string, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	var stdout, stderr limitedText
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	process.Session(cmd)
	cmd.Cancel = func() error { return process.Terminate(cmd) }
	cmd.WaitDelay = time.Second // a child that still runs may keep the pipes open
	err := cmd.Run()
	if cmd.Process != nil {
		process.Kill(cmd)
	}
	switch {
	case stdout.over || stderr.over:
		err = errTooMuch
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return stdout.text.String(), stderr.text.String(), err
}
