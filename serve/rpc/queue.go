package rpc

import (
	"context"

	"pi/agent"
)

// openQueueing is steer or follow_up: a message for the run in progress, or for the next one.
func (s *prompter) openQueueing(q agent.Queue) func(*fields, *request) work {
	return func(f *fields, r *request) work {
		p := agent.Prompt{Text: f.text("message"), Attachments: f.images("images"), Source: source, WhileIdle: true}
		f.checkPrompt(p)
		return func(ctx context.Context, _ func()) { s.queue(ctx, r, p, q) }
	}
}

// queue queues a message and answers when that is done.
func (s *prompter) queue(ctx context.Context, r *request, p agent.Prompt, q agent.Queue) {
	if c, kind := s.slash(p.Text); kind == ofHook {
		s.out.refuse(r, "the command /"+c.Name+" of a hook cannot be queued; prompt runs it at once")
		return
	}
	g := &prompting{prompter: s, about: r}
	accepted, err := s.agent.Enqueue(g.expanding(ctx), p, q)
	switch {
	case err != nil:
		s.out.refuse(r, promptErrorText(s.agent, err))
	case accepted:
		g.accept(agent.Queued)
	default:
		g.accept(agent.Handled)
	}
}

// queues is the data of clear_queue.
type queues struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// openClearQueue empties both queues. Their texts are the answer, so that a client can give
// them back to its person.
func (s *prompter) openClearQueue(_ *fields, r *request) work {
	return func(context.Context, func()) {
		steering, followUp := s.agent.Inbox().Clear()
		s.out.succeed(r, queues{list(steering), list(followUp)})
	}
}

// list is a list that is there, also if nothing is in it.
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}
