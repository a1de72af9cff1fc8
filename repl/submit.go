package repl

import (
	"context"
	"errors"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/internal/edit"
	"pi/internal/printable"
	"pi/session"
)

// isShell reports whether a prompt is a shell command of the person.
func isShell(p agent.Prompt) bool { return strings.HasPrefix(p.Text, "!") && p.Source == "interactive" }

// typedPrompt makes the prompt of a typed line, with the files that it names with @, and
// says in words what was attached. Commands name none.
func (r *REPL) typedPrompt(x job) (p agent.Prompt, attached []string) {
	p = agent.Prompt{Text: x.text, Source: "interactive", Literal: x.literal}
	if !x.literal {
		if isCommand, err := r.reads(x.text); isCommand || err != nil || isShell(p) {
			return p, nil
		}
	}
	return r.withFiles(p, x.draft)
}

// reads reports whether a line is a command; the error says that it looks like one and
// is none. In plain mode a line that was refused for that and is sent again at once is a
// message; else it is if it is that line still (line.refused).
func (r *REPL) reads(text string) (isCommand bool, err error) {
	if r.refused != "" && strings.TrimSpace(text) == r.refused {
		return false, nil
	}
	r.refused = ""
	return r.commands.Reads(text)
}

// refuse shows that a line looks like a command and is none. If a person typed it, it is
// put back into the line, unless they have begun another one: a second Enter sends it.
func (r *REPL) refuse(x job, typed bool, err error) {
	r.person.showError(err)
	if !typed || !r.person.HasUI() {
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

// outcome carries out the outcome of a command: it shows its text or error, puts its
// draft into the line, above what was typed meanwhile, quits, or calls send with its prompt.
func (r *REPL) outcome(ctx context.Context, out command.Outcome, err error, send func(context.Context, agent.Prompt)) {
	if errors.Is(err, agent.ErrAborted) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return // the interrupt is told where it came from
	}
	if out.Draft != "" { // also after a failure, so that no text of the person is lost
		r.screen.change(func() { r.screen.line.place(job{text: out.Draft}) })
	}
	var unsaved *session.SaveError // the command has taken effect in memory
	if out.Status != "" && !(out.Left && !r.screen.isPlain()) && (err == nil || errors.As(err, &unsaved)) {
		r.screen.print(strings.TrimRight(printable.Text(out.Status), "\n"))
	}
	if err != nil {
		r.person.showError(err)
		return
	}
	if out.Prompt != nil {
		send(ctx, *out.Prompt)
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
func (p *person) showError(err error) {
	s := p.screen
	rows := []string{s.palette.Paint("error", "error: "+printable.Text(err.Error()))}
	if hint := hintOf(err); hint != "" {
		rows = append(rows, s.palette.Paint("dim", "  "+strings.ReplaceAll(printable.Text(hint), "\n", "\n  ")))
	}
	s.print(rows...)
}

// hintOf is the next step for the person after an error, with the commands that there
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
		k.person.Notify(err.Error(), agent.LevelWarning)
	}
}
