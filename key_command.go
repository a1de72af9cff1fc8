package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// keyCommands runs the commands that print keys. What a command printed is kept
// until a server refuses it: a password manager that asks for a finger would ask
// at every request. Requests that come together share one run. A failure is not
// kept. Nothing is known beforehand, and nothing is written anywhere.
type keyCommands struct {
	limit time.Duration // of one run

	mu   sync.Mutex
	runs map[string]*keyRun
}

// keyRun is one run of a command. key and err may be read once done is closed.
type keyRun struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int // guarded by the mutex of keyCommands
	key     string
	err     error
}

// keyTimeLimit is long enough for somebody who is asked to touch a sensor.
const keyTimeLimit = 10 * time.Second

func newKeyCommands() *keyCommands {
	return &keyCommands{limit: keyTimeLimit, runs: map[string]*keyRun{}}
}

// key returns what command prints, or printed before. If ctx ends, so does the
// command, unless another request waits for it too.
func (k *keyCommands) key(ctx context.Context, command string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	run := k.join(command)
	select {
	case <-run.done:
	case <-ctx.Done():
		if k.leave(command, run) {
			<-run.done
		}
		return "", ctx.Err()
	}
	return run.key, run.err
}

// join takes part in the run there is, or starts one.
func (k *keyCommands) join(command string) *keyRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	run := k.runs[command]
	if run == nil {
		ctx, cancel := context.WithTimeout(context.Background(), k.limit)
		run = &keyRun{done: make(chan struct{}), cancel: cancel}
		k.runs[command] = run
		go k.start(ctx, command, run)
	}
	run.waiting++
	return run
}

// leave gives up waiting; it reports whether that ended the run.
func (k *keyCommands) leave(command string, run *keyRun) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	run.waiting--
	if run.waiting > 0 {
		return false
	}
	k.drop(command, run)
	run.cancel()
	return true
}

func (k *keyCommands) start(ctx context.Context, command string, run *keyRun) {
	defer close(run.done)
	defer run.cancel()
	run.key, run.err = keyFromCommand(command, func(command string) (string, string, error) {
		stdout, stderr, err := runKeyCommand(ctx, command)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no key within %s", k.limit)
		}
		return stdout, stderr, err
	})
	if run.err != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.drop(command, run)
	}
}

// drop forgets a run, unless another has taken its place. The mutex is held.
func (k *keyCommands) drop(command string, run *keyRun) {
	if k.runs[command] == run {
		delete(k.runs, command)
	}
}

// refused forgets what printed key: the next request asks anew, so that a key
// which was replaced is found.
func (k *keyCommands) refused(key string) {
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

// limitedText takes up to 64 KiB.
type limitedText struct {
	strings.Builder
	over bool
}

func (b *limitedText) Write(p []byte) (int, error) {
	const most = 64 << 10
	if b.Len()+len(p) > most {
		b.over = true
		return 0, errTooMuch
	}
	return b.Builder.Write(p)
}

// runKeyCommand runs a command line with the system's shell, without standard
// input and without a terminal, and leaves no process of it behind.
func runKeyCommand(ctx context.Context, command string) (string, string, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	var stdout, stderr limitedText
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	apart(cmd)
	cmd.WaitDelay = time.Second // a child left behind may keep the pipes open
	err := cmd.Run()
	if cmd.Process != nil {
		endRest(cmd.Process.Pid)
	}
	switch {
	case stdout.over || stderr.over:
		err = errTooMuch
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return stdout.String(), stderr.String(), err
}
