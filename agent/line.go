package agent

import (
	"context"

	"pi/session/message"
)

// Line is a text as a user or a program has handed it in, before anybody reads what is in it:
// the names of skills, templates and files. A command of the program or of a hook has run
// before; a text that only looks like one comes here first. What hooks send is no line, and an
// answer to a dialog is none.
type Line struct {
	Text              string          // result
	Attachments       []message.Block // result
	Source            string          // interactive print json rpc acp
	StreamingBehavior string          // "", steer, follow_up
	Handled           bool            // result: that is all
	Command           string          // result: a command to run instead
	CommandBy         string          // result: the hook that wants that
	CommandAt         string          // result: the path of that hook
	Limit             *int            // result: see [Origin]
}

// Kind is that of the event.
func (*Line) Kind() Kind { return KindLine }

// HearsLines reports whether anybody listens to the event line.
func (a *Agent) HearsLines() bool { return a.events.wants(KindLine) }

// AskLine lets listeners see a line, and returns it as they leave it; nil if nobody listens, or p
// was not handed in by a user or a program. behavior is that of [Input].
func (a *Agent) AskLine(ctx context.Context, p Prompt, behavior string) *Line {
	if p.Custom != nil || p.Source == "hook" || p.isEmpty() || !a.HearsLines() {
		return nil
	}
	e := &Line{Text: p.Text, Attachments: p.Attachments, Source: p.Source, StreamingBehavior: behavior}
	a.events.emitUntil(ctx, e, func() bool { return e.Handled || e.Command != "" })
	return e
}
