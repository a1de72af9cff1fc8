package rpc

import (
	"context"

	"pi/agent"
	"pi/serve/record"
)

// bashResult is the data of bash.
type bashResult struct {
	Output         string `json:"output"`
	ExitCode       *int   `json:"exitCode,omitempty"`
	Cancelled      bool   `json:"cancelled"`
	Truncated      bool   `json:"truncated"`
	FullOutputPath string `json:"fullOutputPath,omitempty"`
}

// shells are the commands about bash.
type shells struct {
	*parts
	running register
}

// open is the command bash. Any number may run at a time, also while the agent works.
func (s *shells) open(f *fields, r *request) work {
	c := agent.UserCommand{Line: f.text("command"), Exclude: f.optionalFlag("excludeFromContext"), Detached: true}
	if f.err != nil {
		return nil
	}
	e := s.running.open(s.work)
	c.Output = func(piece string) { s.out.write(record.BashUpdate(r.id, piece)) }
	return func(_ context.Context, begun func()) {
		defer s.running.close(e)
		begun()
		outcome, err := s.agent.Bash(e.ctx, c)
		switch {
		case err != nil && e.ctx.Err() != nil:
			outcome.Cancelled = true
		case err != nil:
			s.out.reply(r, nil, err)
			return
		}
		data := bashResult{outcome.Output, outcome.ExitCode, outcome.Cancelled, outcome.Truncated, outcome.FullOutputPath}
		if outcome.Cancelled {
			data.ExitCode = nil
		}
		s.out.succeed(r, data)
	}
}

// openAbort ends all commands of bash that were read before.
func (s *shells) openAbort(_ *fields, r *request) work {
	s.running.interrupt()
	return func(context.Context, func()) { s.out.succeed(r, nil) }
}
