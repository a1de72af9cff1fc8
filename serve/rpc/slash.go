package rpc

import (
	"context"
	"errors"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
)

// kind is what a text that begins with a slash means.
type kind int

const (
	ofNobody  kind = iota // a text
	ofHook                // a command of a hook
	ofProgram             // a command of the program
	ofPrompts             // a template or a skill, which become a prompt
)

// slash says what a text means, and which command that is.
func (s *Server) slash(text string) (command.Command, kind) {
	if isCommand, err := s.commands.Reads(text); err != nil || !isCommand {
		return command.Command{}, ofNobody
	}
	name, _ := command.Split(text)
	c, ok := s.commands.Lookup(name)
	switch {
	case !ok:
		return c, ofNobody
	case c.Hook != "":
		return c, ofHook
	case c.Origin != "":
		return c, ofPrompts
	}
	return c, ofProgram
}

// behavior is how a prompt comes, in the words of hooks: queued as how says if the agent works.
func (s *Server) behavior(how string) string {
	switch {
	case s.agent.IsIdle():
		return ""
	case how == "followUp":
		return agent.FollowUp.String()
	}
	return how
}

// readLine finds out what a text means, which hooks may have put another one in the place of.
// Clients send what looks like a command and is none as a text. It is false if nothing is left
// to do: then the client has its answer.
func (g *prompting) readLine(ctx context.Context, p agent.Prompt, behavior string) (agent.Prompt, kind, bool) {
	l := command.Driver{Agent: g.agent, Commands: g.commands}.ReadLine(ctx, p, behavior)
	_, isText := l.Err.(*command.UnknownError)
	switch {
	case l.Is == command.HandledLine && ctx.Err() != nil:
		g.refusePrompt(agent.ErrAborted)
		return l.Prompt, ofNobody, false
	case l.Is == command.HandledLine:
		g.accept(agent.Handled)
		return l.Prompt, ofNobody, false
	case l.Is == command.RefusedLine && !isText:
		g.refusePrompt(l.Err)
		return l.Prompt, ofNobody, false
	case l.Is == command.CommandLine:
		_, kind := g.slash(l.Text)
		return l.Prompt, kind, true
	}
	return l.Prompt, ofNobody, true
}

// runHookCommand runs a command of a hook, and answers when its handler is done, or the first
// prompt that it waits for is accepted: clients do not wait for long. Its failure is told by an
// event; the command was there, so that the answer is success.
func (g *prompting) runHookCommand(p agent.Prompt) {
	ctx := g.prompting(g.agent.CommandContext(g.work, p), func(d agent.Disposition) {
		if d != agent.Handled { // by another hook: then the command goes on
			g.accept(d)
		}
	})
	outcome, err := g.commands.Run(ctx, p.Text)
	if err != nil {
		g.accept(agent.Handled)
		return
	}
	next := g.show(outcome)
	g.accept(agent.Handled)
	if next.Text != "" || next.Custom != nil {
		_ = g.runHere(g.work, next) // it was told
	}
}

// prompting returns the context of a command of a hook, which may hand in prompts and wait
// for them. accepted is told what becomes of each, when that is known; it may be nil.
func (s *Server) prompting(ctx context.Context, accepted func(agent.Disposition)) context.Context {
	if accepted == nil {
		accepted = func(agent.Disposition) {}
	}
	return agent.WithPrompter(ctx, agent.Prompter{
		Prompt: func(ctx context.Context, p agent.Prompt) error {
			if s.Ready != nil && !s.now().chosen {
				if err := s.Ready(); err != nil {
					return err
				}
			}
			p.Accepted = accepted
			return s.runHere(ctx, p)
		},
		Joins: func() (left func()) {
			accepted(agent.Queued)
			return func() {}
		},
	})
}

// runOwnCommand runs a command of the program. A prompt that it makes is sent as one of the
// client.
func (g *prompting) runOwnCommand(p agent.Prompt) {
	outcome, err := g.commands.Run(g.agent.CommandContext(g.entry.ctx, p), p.Text)
	if err != nil {
		g.refusePrompt(err)
		return
	}
	next := g.show(outcome)
	if next.Text == "" && next.Custom == nil {
		g.accept(agent.Handled)
		return
	}
	next.Source, next.Literal = source, true
	g.send(next, "", func() {})
}

// expandKey marks the context of a prompt that the client sent: templates and skills in it
// are expanded once the hooks have seen it.
type expandKey struct{}

// expanding returns the context in which the agent works on the prompt of g.
func (g *prompting) expanding(ctx context.Context) context.Context {
	return context.WithValue(ctx, expandKey{}, g)
}

// finishInput is the last look at a prompt, behind those of all hooks: templates and skills
// are expanded, and a prompt for which there is no model is refused.
func (s *Server) finishInput(ctx context.Context, e *agent.Input) {
	g, ok := ctx.Value(expandKey{}).(*prompting)
	if !ok || e.Handled {
		return
	}
	if about := g.entry.about; about != nil && about != s.agent.Session() { // the one it was for was left
		g.refusal, e.Handled = agent.ErrAborted, true
		return
	}
	if err := g.expand(ctx, e); err != nil {
		g.refusal, e.Handled = err, true
		return
	}
	if e.StreamingBehavior == "" && !e.Handled && s.Ready != nil && !s.now().chosen {
		if err := s.Ready(); err != nil {
			g.refusal, e.Handled = err, true
		}
	}
}

// expand replaces the name of a template or a skill by what it stands for. If that is
// nothing, because the client was asked and did not want it, the prompt is handled.
func (g *prompting) expand(ctx context.Context, e *agent.Input) error {
	if _, kind := g.slash(e.Text); kind != ofPrompts {
		return nil
	}
	outcome, err := g.commands.Run(g.agent.CommandContext(ctx, agent.Prompt{Text: e.Text, Source: source}), e.Text)
	if err != nil {
		return err
	}
	next := g.show(outcome)
	if next.Text == "" {
		e.Handled = true
		return nil
	}
	e.Text = next.Text
	e.Attachments = append(e.Attachments[:len(e.Attachments):len(e.Attachments)], next.Attachments...)
	return nil
}

// tellEnd tells the client of an error that a run has ended with and no event has: a limit,
// a hook that ended it, a session that is not saved. What a model failed with is in its
// answer.
func (s *Server) tellEnd(err error) {
	_, isProvider := errors.AsType[*llm.ProviderError](err)
	limit, _ := errors.AsType[*agent.LimitError](err)
	switch {
	case err == nil, isProvider, errors.Is(err, agent.ErrAborted), errors.Is(err, agent.ErrEmptyPrompt):
	case limit != nil && limit.Limit == "max_answer_bytes": // in the answer, too
	default:
		s.user.tellError(err)
	}
}

// show shows what a command has to say, and returns the prompt that it wants sent; an
// empty one if it wants none.
func (s *Server) show(o command.Outcome) agent.Prompt {
	if o.Status != "" {
		s.user.Notify(o.Status, agent.LevelInfo)
	}
	if o.Draft != "" {
		s.user.SetEditorText(o.Draft)
	}
	if o.Quit {
		s.agent.Shutdown()
	}
	if o.Prompt != nil {
		return *o.Prompt
	}
	return agent.Prompt{}
}

// runSubmitted runs what hooks have handed in for the front end, whenever there is something.
func (s *Server) runSubmitted() {
	for {
		select {
		case <-s.agent.Inbox().Submitted():
		case <-s.ending:
			return
		}
		for p := range s.agent.Inbox().TakeSubmitted() {
			if s.work.Err() != nil {
				return
			}
			s.runOne(p)
		}
	}
}

// runOne runs one prompt that was handed in: a command, or a message for the agent. How it
// ends is in the events; an error that is in none is told to the client.
func (s *Server) runOne(p agent.Prompt) {
	if p.Source == "" {
		p.Source = "hook"
	}
	if !p.Literal && p.Custom == nil {
		if isCommand, err := s.commands.Reads(p.Text); err == nil && isCommand {
			outcome, err := s.commands.Run(s.prompting(s.agent.CommandContext(s.work, p), nil), p.Text)
			if err != nil {
				s.user.tellError(err)
				return
			}
			if p = s.show(outcome); p.Text == "" && p.Custom == nil {
				return
			}
		}
	}
	_ = s.runHere(s.work, p) // it was told
}

// runHere waits for the agent and has it work on a prompt that no answer tells of. The error is
// how that ended; the client has been told of it.
func (s *Server) runHere(ctx context.Context, p agent.Prompt) error {
	e := s.open(ctx, false)
	defer s.close(e)
	for e.ctx.Err() == nil {
		if !s.take(e, s.agent.Session()) {
			s.waitReleased(e.ctx, nil)
			continue
		}
		err := s.agent.Prompt(e.ctx, p)
		s.release(e)
		if !errors.Is(err, agent.ErrBusy) {
			s.tellEnd(err)
			return err
		}
		_ = s.agent.WaitIdle(e.ctx)
	}
	return agent.ErrAborted
}
