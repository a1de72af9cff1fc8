package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/printable"
	"pi/session"
)

// work is what runs between two prompts, of the agent or of a command.
type work struct {
	quit atomic.Bool   // the user asked to quit
	wake chan struct{} // the loop has something new to look at, a buffer of one

	screen      *screen
	queued      func() []queuedRow // the messages that wait
	interrupted time.Time          // when Esc or Ctrl+C stopped something last
	stopTicks   chan struct{}      // nil while nothing runs that counts seconds
}

func newWork(s *screen) *work { return &work{wake: make(chan struct{}, 1), screen: s} }

// signal wakes the loop.
func (w *work) signal() { wake(w.wake) }

// do runs f with a context that Esc and Ctrl+C cancel, and reports whether the user was
// told that one of these did. doing names it; "" is the work of the agent.
func (w *work) do(ctx context.Context, s *screen, doing string, f func(context.Context)) (told bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &task{doing: doing, initiative: initiativeOf(ctx), began: s.now(), cancel: func() bool { cancel(); return true }}
	end := w.begin(t)
	defer end()
	f(context.WithValue(ctx, taskKey{}, t))
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.told
}

// taskKey is for the task that a context is part of.
type taskKey struct{}

// isOfAgent reports whether a context is part of the agent's work on a prompt.
func isOfAgent(ctx context.Context) bool {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t != nil && t.doing == ""
}

// await notes that the work of the agent waits for an answer of the user, until end is
// called.
func (w *work) await() (end func()) {
	s, since := w.screen, w.screen.now()
	s.change(func() { s.activity.asked = append(s.activity.asked, &since) })
	return func() {
		s.change(func() {
			s.activity.asked = slices.DeleteFunc(s.activity.asked, func(other *time.Time) bool { return other == &since })
		})
	}
}

// begin shows a task until end is called.
func (w *work) begin(t *task) (end func()) {
	s := w.screen
	t.doing = printable.Line(t.doing)
	s.change(func() {
		s.activity.begin(t)
		w.tick()
	})
	return func() {
		s.change(func() {
			s.activity.end(t)
			w.tick()
		})
	}
}

// tick has what counts seconds painted anew as long as there is something. The caller has the
// lock of the screen.
func (w *work) tick() {
	s := w.screen
	switch busy := len(s.activity.tasks)+len(s.agents) > 0; {
	case busy && w.stopTicks == nil:
		w.stopTicks = make(chan struct{})
		go s.tick(w.stopTicks, w.queued)
	case !busy && w.stopTicks != nil:
		close(w.stopTicks)
		w.stopTicks = nil
	}
}

// interrupt stops the newest task, and says what was stopped and how long it ran. It
// reports false if nothing runs. The caller has the lock of the screen.
func (w *work) interrupt(key string) bool {
	s := w.screen
	t := s.activity.stop()
	if t == nil {
		return len(s.activity.tasks) > 0 // it is being stopped
	}
	w.interrupted, t.told = s.now(), true
	what, ran := s.activity.inProgress(t, &s.calls, s.now())
	if t.doing == "" {
		s.endBlock()
	}
	if retry := s.activity.retry(); t.doing == "" && retry != nil {
		s.add(kindNotice, s.noticeRows(printable.Line(retry.ErrorMessage), agent.LevelError)...)
	}
	var rows []string
	for _, row := range s.wrapped([]string{interruptedText(key, printable.Line(what), ran, s.columns)}) {
		rows = append(rows, s.palette.Paint("warning", row))
	}
	// It stands below the rows of the calls that this ends, which come when their tools have
	// ended. Until then it is in the zone.
	s.notices.waiting = append(s.notices.waiting, notice{kind: kindNotice, rows: rows, from: s.now(), behind: true})
	s.tellWaiting()
	return true
}

// interruptedText says what was interrupted, by which key, and how long it had run. Of
// these what was interrupted is cut.
func interruptedText(key, what string, ran time.Duration, columns int) string {
	front, behind := "interrupted ("+key+")", " · "+printable.Seconds(ran)
	if what != "" {
		const least = 16 // cells of what was interrupted, in a row of its own where there is no room
		front += " · " + cells.Cut(what, max(least, columns-cells.Width(front+behind)-len(" · ")))
	}
	return front + behind
}

// interruptAll stops everything that runs.
func (w *work) interruptAll() {
	w.screen.change(func() {
		for _, t := range slices.Clone(w.screen.activity.tasks) {
			t.cancelled = t.cancel()
		}
	})
}

// await has the agent work on a prompt that a command waits for, inside of the command: what
// is typed steers that work, and Esc ends it before it ends the command.
func (r *REPL) await(ctx context.Context, p agent.Prompt) error {
	r.echo(p.Text, nil, nil)
	return r.prompt(ctx, p)
}

// ask has the agent work on a prompt that nobody waits for.
func (r *REPL) ask(ctx context.Context, p agent.Prompt) {
	if err := r.prompt(ctx, p); errors.Is(err, agent.ErrBusy) {
		r.user.showError(err)
	}
}

// prompt has the agent work on a prompt, and returns how that ended, which is shown, unless it
// is ErrBusy. What is typed meanwhile steers it; what was not sent to the model is put back into
// the line.
func (r *REPL) prompt(ctx context.Context, p agent.Prompt) (err error) {
	began := r.screen.now()
	r.screen.change(func() {
		b := &r.screen.activity
		b.tokens, b.written = 0, 0
		b.note(waitsForAnswer, began)
	})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		r.steering(ctx, stop)
	}()
	told := r.work.do(ctx, r.screen, "", func(ctx context.Context) { err = r.agent.Prompt(ctx, p) })
	close(stop)
	r.promptEnded(err, told, r.screen.now().Sub(began))
	<-stopped // a command that was begun meanwhile may still ask the user
	return err
}

// promptEnded shows how the work on a prompt ended. told says that the user knows of an
// interrupt: it came from their key, not from a hook.
func (r *REPL) promptEnded(err error, told bool, took time.Duration) {
	s := r.screen
	s.change(func() {
		s.answerEnds()
		s.add(kindTool, s.calls.drop()...)
		s.tellWaiting()
		s.activity.retries = nil
	})
	r.returnUnsent(err)
	switch {
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		if !told {
			s.print(s.palette.Paint("warning", "interrupted"))
		}
	case err != nil && !errors.Is(err, agent.ErrEmptyPrompt) && !errors.Is(err, agent.ErrBusy):
		r.user.showError(err)
	}
	r.refresh()
	if took > longRun {
		r.user.attractDone()
	}
}

// returnUnsent puts messages that were queued and not sent back into the line, above
// what is typed; after an interrupted run also the lines that nobody has read.
func (r *REPL) returnUnsent(err error) {
	var unsent []job
	for _, text := range r.agent.Inbox().TakeQueued() {
		unsent = append(unsent, job{text: text})
	}
	if errors.Is(err, agent.ErrAborted) && r.user.HasUI() {
		unsent = append(unsent, r.jobs.takeLines()...)
	}
	queue := r.keyboard.queued()
	r.screen.change(func() {
		r.screen.queue = queue
		r.screen.line.place(unsent...)
	})
}

// steering runs what is typed while the agent works, until stop. It returns when the commands
// that it began have ended. Lines that do not come from a user wait instead: a script means
// them to run one after the other.
func (r *REPL) steering(ctx context.Context, stop <-chan struct{}) {
	if !r.user.HasUI() {
		<-stop
		return
	}
	var commands sync.WaitGroup
	defer commands.Wait()
	for {
		select {
		case <-stop:
			return
		case <-r.jobs.ready:
		}
		for x, ok, _ := r.jobs.take(); ok; x, ok, _ = r.jobs.take() {
			if !r.steer(ctx, &x, &commands, stop) {
				r.jobs.putBack(x)
				<-stop
				return
			}
			r.keyboard.showQueue()
			select {
			case <-stop:
				return
			default:
			}
		}
	}
}

// steer runs a job while the agent works. It reports false if that came too late, or the
// job is for the time after the work.
func (r *REPL) steer(ctx context.Context, x *job, commands *sync.WaitGroup, stop <-chan struct{}) bool {
	if x.later {
		return false
	}
	if x.run != nil {
		r.beside(*x, commands, func(d command.Driver) {
			_ = d.Do(asUser(ctx, x.at), x.doing, x.run) // it was shown
		})
		return true
	}
	q := agent.Steer
	if x.followUp {
		q = agent.FollowUp
	}
	in := r.readLine(ctx, x, q.String())
	switch {
	case strings.TrimSpace(x.text) == "":
	case in.is == handledInput:
		r.echo(x.text, x.shown, nil)
	case in.is == refusedInput:
		r.refuse(*x, true, in.err)
	case in.is == commandInput:
		done := false
		done, x.later = r.steerCommand(ctx, in.Prompt, *x, commands, stop)
		return done
	case in.is == shellInput:
		r.echo(in.Text, x.shown, nil)
		r.shell(ctx, in.Text)
	default:
		if !r.enqueue(ctx, in.Prompt, q) {
			return false
		}
		for _, words := range in.attached {
			r.screen.change(func() { r.screen.answerKey(words) })
		}
	}
	return true
}

// steerCommand runs a command while the agent works. One that ends the work asks first:
// then the work is stopped for it, and the command is not done but for the time after that.
func (r *REPL) steerCommand(ctx context.Context, p agent.Prompt, x job, commands *sync.WaitGroup, stop <-chan struct{}) (done, stopped bool) {
	if command.EndsWork(p.Text) {
		name, _ := command.Split(p.Text)
		asking, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			select {
			case <-stop:
				cancel() // nothing runs any more
			case <-asking.Done():
			}
		}()
		yes, err := r.user.Confirm(asking, fmt.Sprintf("/%s ends what runs. Interrupt it?", name), "", agent.DialogOptions{})
		switch {
		case err != nil:
			return ctx.Err() != nil, false
		case yes == agent.No:
			return true, false
		}
		r.work.interruptAll()
		return false, true
	}
	if !x.byKey {
		r.echo(x.text, nil, nil)
	}
	r.beside(x, commands, func(d command.Driver) {
		_ = d.RunCommand(asUser(ctx, x.at), p) // it was shown
	})
	return true, false
}

// beside runs a command, or the action of a key, while the agent works. It returns when that
// has ended, or waits for the end of the work: what is typed then goes to the work.
func (r *REPL) beside(x job, commands *sync.WaitGroup, run func(command.Driver)) {
	joined := make(chan struct{})
	d, join := r.workDriver(x), sync.OnceFunc(func() { close(joined) })
	d.Joins = func(ctx context.Context) (left func()) {
		join()
		return r.work.yield(ctx)
	}
	ended := make(chan struct{})
	commands.Go(func() {
		defer close(ended)
		run(d)
	})
	select {
	case <-joined:
	case <-ended:
	}
}

// yield notes, until back is called, that the task of ctx waits for the work of the agent: then
// Esc is meant for that.
func (w *work) yield(ctx context.Context) (back func()) {
	t, _ := ctx.Value(taskKey{}).(*task)
	if t == nil {
		return func() {}
	}
	w.screen.change(func() { w.screen.activity.yield(t) })
	return func() { w.screen.change(func() { w.screen.activity.resume(t) }) }
}

// workDriver runs commands, and the actions of keys, while the agent works. They may last longer
// than that. The prompts that they make steer the work.
func (r *REPL) workDriver(x job) command.Driver {
	d := r.driver
	d.Await = r.await
	d.Act = func(ctx context.Context, doing string, run command.Action) (command.Outcome, error) {
		return r.act(ctx, x, doing, run)
	}
	d.Ask = func(ctx context.Context, p agent.Prompt) error {
		if r.enqueue(ctx, p, agent.Steer) {
			return nil
		}
		p.Literal = true // the run ended before the command did: it is the next prompt
		err := r.agent.Submit(ctx, p)
		if err != nil {
			r.user.showError(err)
		}
		return err
	}
	return d
}

// enqueue hands a prompt to the working agent. It reports false if the agent does not
// work any more.
func (r *REPL) enqueue(ctx context.Context, p agent.Prompt, q agent.Queue) bool {
	_, err := r.agent.Enqueue(ctx, p, q)
	if errors.Is(err, agent.ErrNoRun) {
		return false
	}
	if err != nil {
		r.user.showError(err)
	}
	return true
}

// input is a line that was sent, or a prompt of a hook, and what it was read as.
type input struct {
	agent.Prompt
	is       inputKind
	err      error    // why it is not to be sent, if it is refusedInput
	attached []string // in words, what goes along with a text
}

type inputKind uint8

const (
	textInput    inputKind = iota // for the model
	commandInput                  // a command
	shellInput                    // a shell command of the user
	refusedInput                  // it looks like a command and is none
	handledInput                  // a hook did it
)

// readLine reads a line that was sent, once, also if it comes too late for the work that it
// was to steer. The files that a text names with @ go along with it; commands name none.
func (r *REPL) readLine(ctx context.Context, x *job, behavior string) input {
	if x.read == nil {
		in := r.read(ctx, agent.Prompt{Text: x.text, Source: "interactive", Literal: x.literal}, behavior)
		if in.is == textInput {
			in.Prompt, in.attached = r.withFiles(in.Prompt, x.draft, in.Text == x.text)
		}
		x.read = &in
	}
	return *x.read
}

// read finds out what a prompt is. In plain mode a line that was refused because it looks like
// a command, and is sent again at once, is a text; else it is if it is that line still
// (line.refused).
func (r *REPL) read(ctx context.Context, p agent.Prompt, behavior string) input {
	isAgain := r.refused != "" && strings.TrimSpace(p.Text) == r.refused
	if !isAgain {
		r.refused = ""
	}
	switch {
	case isAgain || p.Custom != nil:
		return input{Prompt: p}
	case !p.Literal && strings.HasPrefix(p.Text, "!") && p.Source == "interactive":
		return input{Prompt: p, is: shellInput}
	}
	var l command.Line
	read := func(ctx context.Context) { l = r.driver.ReadLine(ctx, p, behavior) }
	if r.agent.HearsLines() { // which may take its time
		r.work.do(ctx, r.screen, "line", read)
	} else {
		read(ctx)
	}
	kinds := map[command.LineKind]inputKind{command.CommandLine: commandInput, command.RefusedLine: refusedInput, command.HandledLine: handledInput}
	return input{Prompt: l.Prompt, is: kinds[l.Is], err: l.Err}
}

// refuse shows that a line looks like a command and is none. If a user typed it, it is
// put back into the line, unless they have begun another one: a second Enter sends it.
func (r *REPL) refuse(x job, typed bool, err error) {
	r.user.showError(err)
	if !typed || !r.user.HasUI() {
		return
	}
	if r.screen.isPlain() {
		r.refused = strings.TrimSpace(x.text)
	}
	again := r.screen.isPlain()
	r.screen.change(func() {
		if l := r.screen.line; l.empty() {
			l.takeBack(x)
			l.refused, again = l.text(), true
		}
	})
	if again {
		r.screen.print(r.screen.palette.Paint("dim", "  Enter again sends it to the model as it is"))
	}
}

// showOutcome shows what came of a command: its text or error. It puts its draft into the
// line, above what was typed meanwhile, and quits.
func (r *REPL) showOutcome(ctx context.Context, x job, out command.Outcome, err error) {
	if errors.Is(err, agent.ErrAborted) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return // the interrupt is told where it came from
	}
	if out.Draft != "" { // also after a failure, so that no text of the user is lost
		r.screen.change(func() { r.screen.line.place(job{text: out.Draft}) })
	}
	if x.inZone && !r.screen.isPlain() && err == nil && !out.Left {
		r.screen.change(func() { r.screen.mention(out.Status) })
		out.Status = ""
	}
	var unsaved *session.SaveError // the command has taken effect in memory
	if out.Status != "" && !(out.Left && !r.screen.isPlain()) && (err == nil || errors.As(err, &unsaved)) {
		r.screen.print(strings.TrimRight(printable.Text(out.Status), "\n"))
	}
	if err != nil {
		r.user.showError(err)
		return
	}
	if out.Quit {
		r.keyboard.quit()
	}
}

// quit has the loop end, and what runs stopped.
func (k *keyboard) quit() {
	k.work.quit.Store(true)
	k.work.signal()
	k.work.interruptAll()
}

// showError shows what failed, and on a line of its own the next step.
func (p *user) showError(err error) {
	s := p.screen
	rows := []string{s.palette.Paint("error", "error: "+printable.Text(err.Error()))}
	if hint := hintOf(err); hint != "" {
		rows = append(rows, s.palette.Paint("dim", "  "+strings.ReplaceAll(printable.Text(hint), "\n", "\n  ")))
	}
	s.print(rows...)
}

// hintOf is the next step for the user after an error, with the commands that there
// are here; "" if none is known.
func hintOf(err error) string {
	if hint := command.HintOf(err); hint != "" {
		return hint
	}
	var unsaved *session.SaveError
	if errors.As(err, &unsaved) {
		return "/export FILE writes all of it elsewhere"
	}
	if errors.Is(err, session.ErrReadOnly) {
		return "/branch here goes on in a copy that can be written"
	}
	return ""
}

// record keeps a line so that it can be called up again.
func (k *keyboard) record(d edit.Draft) {
	if err := k.screen.line.record(d); err != nil {
		k.user.Notify(err.Error(), agent.LevelWarning)
	}
}

// shell runs a command of the user: with ! the model sees its output, with !! it does
// not. At rest the command has the terminal, while the agent works it has not.
func (r *REPL) shell(ctx context.Context, text string) {
	line, exclude := strings.CutPrefix(strings.TrimPrefix(text, "!"), "!")
	line = strings.TrimSpace(line)
	if line == "" {
		r.user.showError(errors.New("no command after the exclamation mark"))
		return
	}
	out := &shellOutput{screen: r.screen}
	command := agent.UserCommand{Line: line, Exclude: exclude, Output: out.write}
	if r.opts.Shell != nil && r.screen.mayLend() {
		command.Shell = shellInTerminal(r.screen, r.opts)
	}
	r.work.do(ctx, r.screen, "!"+line, func(ctx context.Context) {
		outcome, err := r.agent.Bash(ctx, command)
		out.end()
		if outcome.Cancelled && ctx.Err() == nil { // no key of ours has told it
			r.screen.print(r.screen.palette.Paint("warning", "interrupted"))
		}
		r.shellEnd(outcome, err)
		if err == nil && outcome.ExitCode != nil && *outcome.ExitCode == 0 && onlyChangesDirectory(line) {
			r.screen.notify("this changes nothing: each command has a shell of its own; to work there, leave and run `"+line+" && pi`", agent.LevelInfo)
		}
	})
}

// onlyChangesDirectory reports whether a command is cd and nothing else.
func onlyChangesDirectory(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && words[0] == "cd" && !strings.ContainsAny(line, ";&|()\n")
}

// ShellInTerminal runs a command with a terminal, whose two ends are in and out, and leaves
// the cursor at the start of a row. unread was typed meanwhile, and the command did not read it.
type ShellInTerminal func(ctx context.Context, line string, in, out *os.File) (outcome agent.BashOutcome, unread []byte, err error)

// shellInTerminal is a shell whose commands have the terminal of the user. What they
// write is shown as it comes and is no concern of the screen.
func shellInTerminal(s *screen, o Options) agent.Shell {
	return func(ctx context.Context, line string, _ func(string)) (outcome agent.BashOutcome, err error) {
		s.change(func() {
			s.term.Print(s.take()...) // the terminal writes them before it gives itself away
			s.writer.last = kindRows
		})
		err = s.term.Lend(func() (err error) {
			var unread []byte
			outcome, unread, err = o.Shell(ctx, line, o.In, o.Out)
			s.term.Unread(unread)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.activity.answered = s.now() // what is left to do is no work that one waits for
			return err
		})
		return outcome, err
	}
}

// mayLend reports whether there is a terminal to give: nothing runs, and it is no terminal
// of lines.
func (s *screen) mayLend() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.plain && len(s.activity.tasks) == 0
}

// shellOutput shows the output of a command line by line, as it comes.
type shellOutput struct {
	screen *screen
	line   string // what has come of the line that has not ended
}

func (o *shellOutput) write(text string) {
	o.line += text
	end := strings.LastIndexByte(o.line, '\n')
	if end < 0 {
		return
	}
	lines := o.line[:end]
	o.line = o.line[end+1:]
	o.screen.print(strings.Split(printable.Text(lastStates(lines)), "\n")...)
}

func (o *shellOutput) end() {
	if o.line != "" {
		o.screen.print(printable.Text(lastStates(o.line)))
	}
	o.line = ""
}

// shellEnd shows how a command of the user ended, unless all was well.
func (r *REPL) shellEnd(outcome agent.BashOutcome, err error) {
	s := r.screen
	switch {
	case err != nil && !errors.Is(err, agent.ErrAborted):
		r.user.showError(err)
	case outcome.Signal != "":
		s.print(s.palette.Paint("error", "killed by "+outcome.Signal))
	case outcome.ExitCode != nil && *outcome.ExitCode != 0 && !outcome.Cancelled:
		s.print(s.palette.Paint("error", fmt.Sprintf("exit status %d", *outcome.ExitCode)))
	}
	if outcome.Truncated && outcome.FullOutputPath != "" {
		s.print(s.palette.Paint("dim", "full output: "+printable.Text(outcome.FullOutputPath)))
	}
}
