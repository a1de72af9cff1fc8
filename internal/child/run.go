package child

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Call is a program that is waited for.
type Call struct {
	Command
	Timeout time.Duration
	Stdin   string
	Max     int // bytes of each output that are stored
	// Output is called with what the program writes, one piece after the other. With
	// Enough that output is closed; an error ends the program, and Run returns it. nil:
	// the output is only stored.
	Output func(ctx context.Context, text string, ofStderr bool) (Answer, error)
}

// Result is what a program wrote, and how it ended.
type Result struct {
	Exit
	Stdout, Stderr string
	Truncated      bool // there was more output than is stored
}

// Run starts a program and waits for it. When time is up or ctx ends its process group gets
// TERM, and 2 s later KILL. A child that it leaves behind is neither waited for nor ended,
// but for by [Command.Watcher].
// An exit status other than 0 is no error.
func Run(ctx context.Context, call Call) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("start %s: interrupted", call.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, call.Timeout)
	defer cancel()
	c, err := start(call.Command, false)
	if err != nil {
		return Result{}, err
	}
	stopped := make(chan struct{})
	abort := context.AfterFunc(ctx, func() {
		defer close(stopped)
		c.Stop()
	})
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		_ = c.Write(context.Background(), call.Stdin)
		c.CloseStdin()
	}()
	t := &taker{call: call, fail: cancel}
	outputs := make(chan struct{})
	go func() {
		defer close(outputs)
		c.Stderr.HandOver(context.Background(), asItComes, func(text string) Answer { return t.take(ctx, text, true) })
	}()
	c.Stdout.HandOver(context.Background(), asItComes, func(text string) Answer { return t.take(ctx, text, false) })
	<-outputs
	<-c.Exited()
	if !abort() {
		<-stopped
	}
	<-fed
	return t.result(c.Exit())
}

// taker stores what a program writes and passes it on, one piece at a time.
type taker struct {
	call Call
	fail context.CancelFunc // ends the program

	mu             sync.Mutex // guards what follows
	stdout, stderr strings.Builder
	truncated      bool
	err            error // of Output; nothing is passed on after it
}

// take takes one piece.
func (t *taker) take(ctx context.Context, text string, ofStderr bool) Answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	into := &t.stdout
	if ofStderr {
		into = &t.stderr
	}
	room := min(len(text), max(t.call.Max-into.Len(), 0))
	into.WriteString(text[:room])
	t.truncated = t.truncated || room < len(text)
	if t.call.Output == nil || t.err != nil || ctx.Err() != nil {
		return Taken
	}
	answer, err := t.call.Output(ctx, text, ofStderr)
	if t.err = err; err != nil {
		t.fail()
	}
	t.truncated = t.truncated || answer == Enough
	return answer
}

// result is what came of a program that has ended.
func (t *taker) result(exit Exit) (Result, error) {
	return Result{exit, t.stdout.String(), t.stderr.String(), t.truncated}, t.err
}

// asItComes is the form of output that is stored: what a read gives.
func asItComes() Form { return Form{Max: 1 << 20} }
