package hooktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/session/message"
)

// A function of a test that answers the model, the user or a server may type, too. The agent
// waits for its answer then, so that nothing that it types can be waited for: it is done as in
// a terminal while the agent works.

// answeringKey is in the context of a function of a test that answers.
type answeringKey struct{}

// isHeldUp reports whether the agent works, and waits for the function of the test that ctx is of.
func (s *stage) isHeldUp(ctx context.Context) bool {
	return ctx.Value(answeringKey{}) != nil && s.run != nil && !s.run.Agent().IsIdle()
}

// steer is submit while the agent works: a command runs, a prompt is delivered behind the tools
// that run. A command that would end the work is an error: in a terminal it asks whether to.
func (s *stage) steer(ctx context.Context, text string, attached []message.Block) error {
	return s.beside(ctx, func(ctx context.Context, d command.Driver) error {
		p := agent.Prompt{Text: text, Attachments: attached, Source: s.mode()}
		l := d.ReadLine(ctx, p, agent.Steer.String())
		switch {
		case l.Is == command.RefusedLine:
			return l.Err
		case l.Is == command.HandledLine:
			return nil
		case l.Is == command.CommandLine && command.EndsWork(l.Text):
			return fmt.Errorf("%s ends what runs, and that waits for this function; type it behind t.prompt", l.Text)
		case l.Is == command.CommandLine:
			return d.RunCommand(ctx, l.Prompt)
		}
		return d.Ask(ctx, l.Prompt)
	})
}

// typedTime is how long a command is waited for while the agent works: it may wait for what the
// work does later.
const typedTime = 5 * time.Second

// beside calls do, which is a command or the action of a key, while the agent works. It returns
// when that has ended, or waits for the end of the work.
func (s *stage) beside(ctx context.Context, do func(ctx context.Context, d command.Driver) error) error {
	d, joined := s.driver(), make(chan struct{})
	join := sync.OnceFunc(func() { close(joined) })
	d.Await = s.run.Agent().Prompt
	d.Joins = func(context.Context) (left func()) {
		join()
		return func() {}
	}
	d.Ask = func(ctx context.Context, p agent.Prompt) error {
		_, err := s.run.Agent().Enqueue(ctx, p, agent.Steer)
		if errors.Is(err, agent.ErrNoRun) {
			p.Literal = true // the run ended before the command did: it is the next prompt
			return s.run.Agent().Submit(ctx, p)
		}
		return err
	}
	late := time.NewTimer(typedTime)
	defer late.Stop()
	ended := make(chan error, 1)
	s.typed.Go(func() { ended <- do(s.life, d) })
	select {
	case err := <-ended:
		return err
	case <-joined:
	case <-late.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
