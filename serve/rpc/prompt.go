package rpc

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"pi/agent"
	"pi/agent/command"
	"pi/session"
)

// source is where prompts of a client come from, as hooks see it.
const source = "rpc"

// prompter is what prompts come through: those of the client, and those that hooks hand in.
type prompter struct {
	*parts
	isCompacting func() bool // the client has the context compacted
}

// prompting is a prompt of the client on its way to its answer.
type prompting struct {
	*prompter
	about    *request
	entry    *entry
	session  *session.Session // the current one when its turn came
	answered atomic.Bool
	refusal  error // why the last look before the run refused it, see finishInput
}

// disposition is the data of the answer to a prompt.
type disposition struct {
	Disposition agent.Disposition `json:"disposition"`
}

// open is the command prompt.
func (s *prompter) open(f *fields, r *request) work {
	p := agent.Prompt{Text: f.text("message"), Attachments: f.images("images"), Source: source}
	how := f.optionalWord("streamingBehavior", "steer", "followUp")
	if f.checkPrompt(p); f.err != nil {
		return nil
	}
	g := &prompting{prompter: s, about: r, entry: s.prompts.open(s.work)}
	return func(_ context.Context, begun func()) {
		defer s.prompts.close(g.entry)
		g.run(p, how, begun)
	}
}

// checkPrompt refuses a prompt that says nothing.
func (f *fields) checkPrompt(p agent.Prompt) {
	if f.err == nil && strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 {
		f.err = agent.ErrEmptyPrompt
	}
}

// run runs a prompt: as a command of a hook or of the program, or as one for the model.
func (g *prompting) run(p agent.Prompt, how string, begun func()) {
	_, kind := g.slash(p.Text)
	switch {
	case kind == ofHook:
		g.prompts.close(g.entry) // an interrupt does not reach it
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
}

// send has the agent work on a prompt, or queues it for the run that works already.
func (g *prompting) send(p agent.Prompt, how string, begun func()) {
	for {
		if g.isCompacting() {
			g.out.refuse(g.about, "compaction is in progress")
			return
		}
		g.session = g.agent.Session()
		mine, ok := g.claims.take(g.session)
		if !ok {
			if g.join(p, how) {
				return
			}
			continue // the run that had the agent has just ended
		}
		begun()
		g.runClaimed(mine, p)
		return
	}
}

// join queues a prompt for the run in progress, if it says how. It reports false if that
// run takes nothing more; then it has ended when join returns.
func (g *prompting) join(p agent.Prompt, how string) bool {
	if how == "" {
		g.out.refuse(g.about, "the agent is already processing a prompt; streamingBehavior says how this one is queued: steer or followUp")
		return true
	}
	p.InPreflight = true
	accepted, err := g.agent.Enqueue(g.expanding(g.entry.ctx), p, queueOf(how))
	switch {
	case errors.Is(err, agent.ErrNoRun):
		if err = g.claims.waitFree(g.entry.ctx); err == nil {
			return false
		}
		g.refusePrompt(agent.ErrAborted)
	case err != nil:
		g.refusePrompt(err)
	case accepted:
		g.accept(agent.Queued)
	default:
		g.accept(agent.Handled)
	}
	return true
}

// queueOf is the queue that a streamingBehavior names.
func queueOf(how string) agent.Queue {
	if how == "steer" {
		return agent.Steer
	}
	return agent.FollowUp
}

// runClaimed runs a prompt that has the agent.
func (g *prompting) runClaimed(mine *claim, p agent.Prompt) {
	defer g.claims.end(mine)
	defer g.state.setStreaming(false)
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

// waitBusy waits for the end of the barrier that has the agent, and reports whether there
// was one and the prompt is still wanted. What else is no prompt and has the agent, such as a
// command that moves in the tree, is not waited for.
func (g *prompting) waitBusy() bool {
	changed := g.order.barrier()
	if changed == nil {
		return false
	}
	select {
	case <-changed:
		return g.entry.ctx.Err() == nil
	case <-g.entry.ctx.Done():
		return false
	}
}

// accept answers that the prompt is accepted, unless it was answered before. Where a look
// before the run has refused it, that is the answer.
func (g *prompting) accept(d agent.Disposition) {
	if g.answered.Swap(true) {
		return
	}
	if d == agent.Started {
		g.claims.accept()
		g.state.setStreaming(true)
	}
	if g.refusal != nil {
		g.out.refuse(g.about, promptErrorText(g.agent, g.refusal))
		return
	}
	g.out.succeed(g.about, disposition{d})
}

// refusePrompt answers that the prompt is not accepted.
func (g *prompting) refusePrompt(err error) {
	if !g.answered.Swap(true) {
		g.out.refuse(g.about, promptErrorText(g.agent, err))
	}
}

// promptErrorText says why a prompt was refused.
func promptErrorText(a *agent.Agent, err error) string {
	m := a.Model()
	switch missing := a.Models().KeyMissing(m.Provider); {
	case errors.Is(err, agent.ErrAborted), errors.Is(err, context.Canceled):
		return "Prompt aborted"
	case errors.Is(err, agent.ErrBusy):
		return "the agent is already processing something else"
	case lacksKey(err):
		return noKeyText("", errorText(err))
	case m.NeedsKey && missing != "":
		return noKeyText(m.Provider, errorText(err))
	}
	return errorText(err)
}

// show shows what a command has to say, and returns the prompt that it wants sent; an
// empty one if it wants none.
func (s *prompter) show(o command.Outcome) agent.Prompt {
	if o.Status != "" {
		s.person.Notify(o.Status, agent.LevelInfo)
	}
	if o.Draft != "" {
		s.person.SetEditorText(o.Draft)
	}
	if o.Quit {
		s.agent.Shutdown()
	}
	if o.Prompt != nil {
		return *o.Prompt
	}
	return agent.Prompt{}
}
