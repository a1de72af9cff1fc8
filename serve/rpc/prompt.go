package rpc

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"pi/agent"
	"pi/agent/command"
)

// source is where prompts of a client come from, as hooks see it.
const source = "rpc"

// prompting is a prompt of the client on its way to its answer.
type prompting struct {
	*Server
	about    *request
	entry    *entry
	answered atomic.Bool
	refusal  error // why the last look before the run refused it, see finishInput
}

// checkPrompt refuses a prompt that says nothing.
func (r *request) checkPrompt(p agent.Prompt) {
	if r.err == nil && strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		r.err = agent.ErrEmptyPrompt
	}
}

// openPrompt is the command prompt: a command of a hook or of the program, or a prompt for the
// model.
func (s *Server) openPrompt(r *request) work {
	p := agent.Prompt{Text: r.text("message"), Attachments: r.images("images"), Source: source}
	how := r.optionalWord("streamingBehavior", "steer", "followUp")
	if r.checkPrompt(p); r.err != nil {
		return nil
	}
	g := &prompting{Server: s, about: r, entry: s.open(s.work, false)}
	return func(_ context.Context, begun func()) (any, error) {
		defer s.close(g.entry)
		p, kind, ok := g.readLine(g.entry.ctx, p, s.behavior(how))
		switch {
		case !ok: // it is answered
		case kind == ofHook:
			s.close(g.entry) // an interrupt does not reach it
			begun()
			g.runHookCommand(p)
		case g.entry.ctx.Err() != nil:
			g.refusePrompt(agent.ErrAborted)
		case kind == ofProgram:
			begun()
			g.runOwnCommand(p)
		default:
			g.send(p, how, begun)
		}
		return itself{}, nil
	}
}

// send has the agent work on a prompt, or queues it for the run that works already.
func (g *prompting) send(p agent.Prompt, how string, begun func()) {
	for has := false; !has; {
		if g.now().compacting > 0 {
			g.refuse(g.about, "compaction is in progress")
			return
		}
		has = g.take(g.entry, g.agent.Session())
		switch {
		case has:
		case g.entry.ctx.Err() != nil:
			g.refusePrompt(agent.ErrAborted)
			return
		case g.join(p, how):
			return
		} // else the run that had the agent has just ended
	}
	defer g.release(g.entry)
	begun()
	p.Accepted = g.accept
	ctx := g.expanding(g.entry.ctx)
	err := g.agent.Prompt(ctx, p)
	for errors.Is(err, agent.ErrBusy) && g.waitBusy() {
		err = g.agent.Prompt(ctx, p)
	}
	switch {
	case g.answered.Load():
		g.tellEnd(err)
	case err != nil:
		g.refusePrompt(err)
	default:
		g.accept(agent.Handled)
	}
}

// join queues a prompt for the run in progress, if it says how. It reports false if that
// run takes nothing more; then it has ended when join returns.
func (g *prompting) join(p agent.Prompt, how string) bool {
	if how == "" {
		g.refuse(g.about, "the agent is already processing a prompt; streamingBehavior says how this one is queued: steer or followUp")
		return true
	}
	q := agent.FollowUp
	if how == "steer" {
		q = agent.Steer
	}
	p.InPreflight = true
	if err := g.enqueue(g.entry.ctx, p, q); !errors.Is(err, agent.ErrNoRun) {
		return true
	}
	if g.waitReleased(g.entry.ctx, nil); g.entry.ctx.Err() == nil {
		return false
	}
	g.refusePrompt(agent.ErrAborted)
	return true
}

// enqueue queues a prompt, and answers, unless no run takes it (ErrNoRun).
func (g *prompting) enqueue(ctx context.Context, p agent.Prompt, q agent.Queue) error {
	accepted, err := g.agent.Enqueue(g.expanding(ctx), p, q)
	switch {
	case errors.Is(err, agent.ErrNoRun):
	case err != nil:
		g.refusePrompt(err)
	case accepted:
		g.accept(agent.Queued)
	default:
		g.accept(agent.Handled)
	}
	return err
}

// waitBusy waits for the end of the exclusive command that has the agent, and reports whether there
// was one and the prompt is still wanted. What else is no prompt and has the agent, such as a
// command that moves in the tree, is not waited for.
func (g *prompting) waitBusy() bool {
	changed := g.now().exclusive
	if changed == nil {
		return false
	}
	waitClosed(g.entry.ctx, changed)
	return g.entry.ctx.Err() == nil
}

// accept answers that the prompt is accepted, unless it was answered before. Where a look
// before the run has refused it, that is the answer.
func (g *prompting) accept(d agent.Disposition) {
	if g.answered.Swap(true) {
		return
	}
	if d == agent.Started {
		g.noteAccepted()
	}
	if g.refusal != nil {
		g.refuse(g.about, promptErrorText(g.agent, g.refusal))
		return
	}
	g.succeed(g.about, map[string]any{"disposition": d})
}

// refusePrompt answers that the prompt is not accepted.
func (g *prompting) refusePrompt(err error) {
	if !g.answered.Swap(true) {
		g.refuse(g.about, promptErrorText(g.agent, err))
	}
}

// promptErrorText says why a prompt was refused. That there is no key clients know by their
// own words; what can be done follows.
func promptErrorText(a *agent.Agent, err error) string {
	m, text := a.Model(), errorText(err)
	var keyless interface {
		error
		NoKey() bool
	}
	switch missing := a.Models().KeyMissing(m.Provider); {
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		return "Prompt aborted"
	case errors.Is(err, agent.ErrBusy):
		return "the agent is already processing something else"
	case errors.As(err, &keyless) && keyless.NoKey():
		return strings.TrimRight("No API key found\n"+text, "\n")
	case m.NeedsKey && missing != "":
		return strings.TrimRight("No API key found for "+m.Provider+"\n"+text, "\n")
	}
	return text
}

// openQueueing is steer or follow_up: a message for the run in progress, or for the next one.
func (s *Server) openQueueing(q agent.Queue) func(*request) work {
	return func(r *request) work {
		p := agent.Prompt{Text: r.text("message"), Attachments: r.images("images"), Source: source, WhileIdle: true}
		r.checkPrompt(p)
		return func(ctx context.Context, _ func()) (any, error) {
			g := &prompting{Server: s, about: r, entry: &entry{}}
			p, kind, ok := g.readLine(ctx, p, q.String())
			switch name, _ := command.Split(p.Text); {
			case !ok:
				return itself{}, nil
			case kind == ofHook:
				return nil, wording("the command /" + name + " of a hook cannot be queued; prompt runs it at once")
			case kind == ofProgram && p.Origin.Hook != "":
				return nil, wording("the command /" + name + " cannot be queued; prompt runs it at once")
			}
			if err := g.enqueue(ctx, p, q); errors.Is(err, agent.ErrNoRun) {
				g.refusePrompt(err)
			}
			return itself{}, nil
		}
	}
}

// queues is the data of clear_queue.
type queues struct {
	Steering []string `json:"steering"`
	FollowUp []string `json:"followUp"`
}

// openClearQueue empties both queues. Their texts are the answer, so that a client can give
// them back to its user.
func (s *Server) openClearQueue(*request) work {
	return func(context.Context, func()) (any, error) {
		steering, followUp := s.agent.Inbox().Clear()
		return queues{append([]string{}, steering...), append([]string{}, followUp...)}, nil
	}
}
