package rpc

import (
	"errors"

	"pi/agent"
)

// runSubmitted runs what hooks have handed in for the front end, whenever there is something.
func (s *prompter) runSubmitted() {
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
func (s *prompter) runOne(p agent.Prompt) {
	if p.Source == "" {
		p.Source = "hook"
	}
	if !p.Literal && p.Custom == nil {
		if isCommand, err := s.commands.Reads(p.Text); err == nil && isCommand {
			outcome, err := s.commands.Run(s.agent.CommandContext(s.work, p), p.Text)
			if err != nil {
				s.person.tellError(err)
				return
			}
			if p = s.show(outcome); p.Text == "" && p.Custom == nil {
				return
			}
		}
	}
	s.runHere(p)
}

// runHere waits for the agent and has it work on a prompt that no answer tells of.
func (s *prompter) runHere(p agent.Prompt) {
	e := s.prompts.open(s.work)
	defer s.prompts.close(e)
	for e.ctx.Err() == nil {
		mine, err := s.claims.wait(e.ctx, s.agent)
		if err != nil {
			return
		}
		err = s.agent.Prompt(e.ctx, p)
		s.state.setStreaming(false)
		s.claims.end(mine)
		if !errors.Is(err, agent.ErrBusy) {
			s.tellEnd(err)
			return
		}
		_ = s.agent.WaitIdle(e.ctx)
	}
}
