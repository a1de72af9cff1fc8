package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
	"pi/session/message"
)

// caller is the front end of a call: its user is asked and told beside what the call gives, which
// goes to standard output. On a terminal its progress is shown there too.
func (r *run) caller() front {
	onTerminal := term.IsTerminal(int(os.Stderr.Fd()))
	progress := &progressRow{}
	if onTerminal {
		progress.out = os.Stderr
	}
	if isInAgent() || !r.place.Attended() || !onTerminal {
		return front{progress, agent.NoUI{Notices: func(text string, level agent.Level) {
			progress.clear()
			User{Out: os.Stderr}.notify(text, level)
		}}}
	}
	return front{progress, callUser{early{user: User{in: os.Stdin, Out: os.Stderr}}, progress}}
}

// progressRow is the listener that shows how far a call is, in one row of a terminal that each
// message of its server takes anew. Where a terminal cannot do that each is a row of its own.
type progressRow struct {
	out *os.File // nil: nothing is shown

	mu    sync.Mutex // guards what follows
	shown bool       // there is a row
	ended bool       // no more comes
}

// Wants is that of [agent.Listener].
func (p *progressRow) Wants(k agent.Kind) bool {
	return p.out != nil && (k == agent.KindToolExecutionUpdate || k == agent.KindToolExecutionEnd)
}

// Handle is that of [agent.Listener].
func (p *progressRow) Handle(_ context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.ToolExecutionUpdate:
		p.show(e.Partial)
	case *agent.ToolExecutionEnd:
		p.clear()
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
	}
	return nil
}

// show shows the last row of what a call says of its progress.
func (p *progressRow) show(partial agent.Result) {
	var row string
	for _, b := range partial.Content {
		if b.Type == message.BlockText {
			row = b.Text[strings.LastIndexByte(b.Text, '\n')+1:]
		}
	}
	row = printable.Line(row)
	columns, _, err := term.GetSize(int(p.out.Fd()))
	if err != nil || columns <= 1 {
		columns = 80
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case row == "" || p.ended:
	case os.Getenv("TERM") == "dumb":
		fmt.Fprintln(p.out, row)
	default:
		fmt.Fprint(p.out, "\r"+cells.Cut(row, columns-1)+eraseRest)
		p.shown = true
	}
}

// eraseRest erases a row of a terminal from the cursor on.
const eraseRest = "\x1b[K"

// clear takes the row away, before something else is shown.
func (p *progressRow) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r"+eraseRest)
		p.shown = false
	}
}

// callUser is the user who typed a call, and is asked line by line. Enter takes what is usual, where
// something is, and else leaves a value out; the end of the input leaves the question.
type callUser struct {
	early
	progress *progressRow
}

// Confirm is that of [agent.UI].
func (u callUser) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	u.progress.clear()
	return u.early.Confirm(ctx, title, message, o)
}

// Select is that of [agent.UI].
func (u callUser) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	u.progress.clear()
	enter := "Enter for none"
	for _, c := range choices {
		if len(o.Default) == 1 && c.Value == o.Default[0] {
			enter = "Enter for " + printable.VisibleLine(c.Text())
		}
	}
	if len(o.Default) > 1 {
		enter = "Enter for what is usual"
	}
	for {
		line, err := u.askChoice(ctx, title, enter, choices, o)
		if err != nil || line == "" {
			return o.Default, err == nil && (o.Multi || len(o.Default) > 0), ctx.Err()
		}
		if values, ok := chosenIn(choices, line, o.Multi); ok {
			return values, true, nil
		}
	}
}

// Input is that of [agent.UI].
func (u callUser) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	u.progress.clear()
	u.show(asker(o), title, placeholder)
	ask := u.user.Ask
	if o.Secret {
		ask = u.user.AskSecret
	}
	line, err := ask(ctx, "> ")
	return line, err == nil, ctx.Err()
}

// Notify is that of [agent.UI].
func (u callUser) Notify(text string, level agent.Level) {
	u.progress.clear()
	u.early.Notify(text, level)
}
