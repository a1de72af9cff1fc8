package repl

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// work is the work between two prompts, of the agent or of a command. Ctrl+C stops
// it.
type work struct {
	quit atomic.Bool // the person asked to quit meanwhile

	mu     sync.Mutex         // guards the rest
	cancel context.CancelFunc // nil: nothing to stop
	ready  chan struct{}      // closed when the agent takes steering; nil: it never will
	text   string             // a hook wants this shown while the agent works
	agent  bool               // the agent works
}

// setText stores the text that is shown while the agent works. It reports whether to
// show it now: the agent works, and it is another text than before.
func (w *work) setText(text string) (now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now = w.agent && text != "" && w.text != text
	w.text = text
	return now
}

// working reports whether the agent works.
func (w *work) working() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.agent
}

// interruptible reports whether there is something that Ctrl+C stops.
func (w *work) interruptible() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cancel != nil
}

// agentEnded is called when the agent has ended its run.
func (w *work) agentEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.agent = false
}

// do runs f with a context that Ctrl+C cancels. ready is closed when the agent begins
// to run and accepts lines that steer it; nil if it will not.
func (w *work) do(ctx context.Context, ready chan struct{}, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	w.cancel, w.ready = cancel, ready
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.cancel, w.ready = nil, nil
		w.mu.Unlock()
		cancel()
	}()
	f(ctx)
}

// interrupt stops the work, and reports whether there was any.
func (w *work) interrupt() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
	}
	return w.cancel != nil
}

// agentStarted is called when the agent has begun to run. It returns the text that
// is to be shown while it works.
func (w *work) agentStarted() (text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready != nil {
		close(w.ready)
		w.ready = nil
	}
	w.agent = true
	return w.text
}

// watchInterrupts makes Ctrl+C stop the work instead of the program, until the
// function it returns is called.
func (r *REPL) watchInterrupts() (stop func()) {
	signals, done, ended := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, os.Interrupt)
	go func() {
		defer close(ended)
		for {
			select {
			case <-signals:
				r.interrupt()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// interrupt is called for Ctrl+C while no line is edited. It stops one thing: the
// components of hooks, else the summary, else the work, else the waiting prompt.
func (r *REPL) interrupt() {
	r.screen.KeyEchoed()
	if r.surfaces.interrupt() || r.compacting.cancel() || r.work.interrupt() {
		return
	}
	select {
	case r.interrupted <- struct{}{}:
	default:
	}
}

// busy runs f between two prompts, with the terminal in its usual mode, so that Ctrl+C
// stops it.
func (r *REPL) busy(ctx context.Context, ready chan struct{}, f func(context.Context)) {
	r.prompter.Rest()
	r.work.do(ctx, ready, f)
}

// prompt has the agent work on a prompt. Lines typed meanwhile steer it; those that
// were not sent to the model are put back into the prompt line.
func (r *REPL) prompt(ctx context.Context, p agent.Prompt) {
	var err error
	ready, stop, typed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r.busy(ctx, ready, func(ctx context.Context) {
		go func() {
			defer close(typed)
			r.steering(ctx, ready, stop)
		}()
		err = r.agent.Prompt(ctx, p)
		close(stop)
		<-typed
	})
	r.screen.EndLine()
	r.returnUnsent(err)
	switch {
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		r.screen.Line(terminal.StyleWarning, "interrupted")
	case err != nil && !errors.Is(err, agent.ErrEmptyPrompt):
		r.showError(err)
	}
}

// returnUnsent puts messages that were queued and not sent into the next prompt;
// after an interrupted run also the typed lines that nobody has read.
func (r *REPL) returnUnsent(err error) {
	unsent := r.agent.Inbox().TakeQueued()
	if errors.Is(err, agent.ErrAborted) && r.HasUI() {
		unsent = append(unsent, r.inbox.TakeAll()...)
	}
	if len(unsent) > 0 {
		r.draft.add(strings.Join(unsent, "\n"))
	}
}

// steering hands typed lines to the agent while it works, until stop; lines that come
// too late go back to the inbox. Lines that do not come from a person wait instead: a
// script means them to run one after the other.
func (r *REPL) steering(ctx context.Context, ready, stop <-chan struct{}) {
	select {
	case <-ready:
	case <-stop:
		return
	}
	if !r.HasUI() {
		return
	}
	before := ""
	for {
		select {
		case <-stop:
			r.unread(before)
			return
		case s := <-r.hot:
			out, err := s.Run(ctx)
			r.outcome(ctx, out, err, r.queueOrSubmit)
		case <-r.inbox.Ready():
		}
		for line, ok, _ := r.inbox.Take(); ok; line, ok, _ = r.inbox.Take() {
			text, more := joinLines(before, line)
			if more {
				before = text
				continue
			}
			before = ""
			if !r.steer(ctx, text) {
				r.unread(text)
				return
			}
		}
	}
}

// unread puts a typed line back, unless it is empty.
func (r *REPL) unread(text string) {
	if text != "" {
		r.inbox.Unread(text)
	}
}

// steer runs a line that was typed while the agent works. It reports false if the
// line came too late.
func (r *REPL) steer(ctx context.Context, text string) bool {
	r.screen.LineEnded("") // the terminal has shown the line and its end
	isCommand, err := r.reads(text)
	r.refused = ""
	switch {
	case strings.TrimSpace(text) == "":
	case err != nil:
		r.refuse(text, true, err)
	case isCommand:
		r.record(text)
		out, err := r.commands.Run(r.agent.CommandContext(ctx, agent.Prompt{Text: text}), text)
		r.outcome(ctx, out, err, r.queueOrSubmit)
	case strings.HasPrefix(text, "!"):
		r.screen.Line(terminal.StyleWarning, "warning: commands of the shell run only while the agent does not work")
	default:
		return r.queue(ctx, r.typedPrompt(text))
	}
	return true
}

// queueOrSubmit hands a prompt of a command to the working agent; if the run
// ended before the command did, it is the next prompt.
func (r *REPL) queueOrSubmit(ctx context.Context, p agent.Prompt) bool {
	if !r.queue(ctx, p) {
		p.Literal = true
		if err := r.agent.Submit(ctx, p); err != nil {
			r.showError(err)
		}
	}
	return true
}

// queue hands a prompt to the working agent, and shows that. It reports false if the
// agent does not work any more.
func (r *REPL) queue(ctx context.Context, p agent.Prompt) bool {
	accepted, err := r.agent.Enqueue(ctx, p, agent.Steer)
	switch {
	case errors.Is(err, agent.ErrNoRun):
		return false
	case err != nil:
		r.showError(err)
	case accepted:
		r.record(p.Text)
		r.screen.Line(terminal.StyleDim, "queued: "+terminal.Cut(printable.Line(p.Text), terminal.Columns(r.opts.Out)-10))
	}
	return true
}
