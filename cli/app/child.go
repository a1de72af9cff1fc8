package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pi/agent"
	"pi/agent/children"
	"pi/agent/command"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/session"
	"pi/session/message"
)

// child is an agent that works for a hook of another run, its parent: a run of its own. It is an
// [api.Child].
type child struct {
	*children.Child
	plan   childPlan
	parent *run
	ctx    context.Context // ends the child; its cause says how
	cancel context.CancelCauseFunc
	unwait func() bool // lets go of the context that it was asked for with
	result api.AgentResult
	before int          // how many entries its session began with
	turns  atomic.Int32 // that it has taken

	mu    sync.Mutex // guards what follows
	agent *agent.Agent
	said  []agent.Prompt // what steers it while it works on no prompt
	deaf  bool           // nothing steers it any more, but where it is asked again
}

// Why a child ends before it is done.
var (
	errTimeout  = errors.New("its time is up")
	errNoAnswer = fmt.Errorf("no answer that fits the schema in %d tries", answerTries)
)

// childGrace is the time between TERM and KILL for the commands of a child, which are gone two seconds
// after its end.
const childGrace = time.Second

// newChild returns a child of the family that ends with ctx. What ctx says of the call that it
// belongs to is none of the child's. The error says why there cannot be one.
func newChild(ctx context.Context, parent *run, plan childPlan) (*child, error) {
	c := &child{plan: plan, parent: parent}
	c.ctx, c.cancel = context.WithCancelCause(context.Background()) // first: from Begin on others may end it
	var err error
	if c.Child, err = parent.family.Begin(ctx, parent.child.member(), plan.name, children.Controls{Steer: c.Steer, Abort: c.Abort, Tell: parent.agent.TellChild}); err != nil {
		c.cancel(err)
		return nil, err
	}
	c.unwait = context.AfterFunc(ctx, func() { c.cancel(agent.ErrAborted) })
	return c, nil
}

// member is the place of the child in the family; nil is that of the user's own agent.
func (c *child) member() *children.Child {
	if c == nil {
		return nil
	}
	return c.Child
}

// Name is that of [api.Child].
func (c *child) Name() string { return c.Identity().Name }

// Wait is that of [api.Child].
func (c *child) Wait(ctx context.Context) (api.AgentResult, error) {
	if err := c.parent.child.member().WaitFor(ctx, c.Child); err != nil {
		return api.AgentResult{}, err
	}
	return c.result, nil
}

// Steer is that of [api.Child]. What comes while no prompt is worked on is one of its own, or part of
// the first.
func (c *child) Steer(ctx context.Context, text string) error {
	c.mu.Lock()
	a := c.agent
	c.mu.Unlock()
	origin, _ := agent.OriginOf(ctx)
	p := agent.Prompt{Text: text, Literal: true, Source: "hook", Origin: origin}
	if a != nil {
		if _, err := a.Enqueue(ctx, p, agent.Steer); !errors.Is(err, agent.ErrNoRun) {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deaf || c.ctx.Err() != nil {
		return errors.New("the agent has ended")
	}
	c.said = append(c.said, p)
	return nil
}

// takeSaid returns what steers the child and no prompt has taken along. After nothing, it takes no more.
func (c *child) takeSaid() (said []agent.Prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, c.said = c.said, nil
	c.deaf = len(said) == 0
	return said
}

// Abort is that of [api.Child].
func (c *child) Abort() { c.cancel(agent.ErrAborted) }

// live is the life of a child, from the queue to its result.
func (c *child) live() {
	defer c.End()
	defer c.cancel(nil)
	defer c.unwait()
	if limit := c.plan.Timeout; limit > 0 {
		timer := time.AfterFunc(limit, func() { c.cancel(errTimeout) })
		defer timer.Stop()
	}
	var r *run
	err := c.AwaitSlot(c.ctx)
	if err == nil {
		r, err = c.open()
	}
	if err != nil {
		c.result = c.outcome(err)
		return
	}
	c.tell(c.ctx, &agent.ChildStart{Name: c.Name(), Depth: c.Identity().Depth, Prompt: c.plan.Prompt, Call: c.Call()})
	err = r.guard(func() error { return c.work(r) })
	c.result = c.outcome(err)
	c.read(r.agent)
	defer func() {
		r := &c.result
		c.tell(context.Background(), &agent.ChildEnd{Name: c.Name(), StopReason: r.StopReason, Usage: r.Usage, Text: r.Text, Error: r.Error, Call: c.Call()})
	}()
	if err := r.close(context.Background()); err != nil {
		c.parent.agent.Notify(context.Background(), agent.LevelWarning, fmt.Sprintf("[%s] %v", c.Name(), err))
	}
}

// tell tells the hooks and the front end of the parent what becomes of the child, until ctx ends.
func (c *child) tell(ctx context.Context, e agent.Event) { c.parent.agent.TellChild(ctx, e) }

// outcome is the end of a child that err says: why it stopped.
func (c *child) outcome(err error) (r api.AgentResult) {
	limit, isLimit := errors.AsType[*agent.LimitError](err)
	switch cause := context.Cause(c.ctx); {
	case err == nil:
		r.StopReason = "completed"
		return r
	case errors.Is(cause, errTimeout):
		r.StopReason, r.Error = "timeout", fmt.Sprintf("%v after %v", errTimeout, c.plan.Timeout)
	case errors.Is(cause, errNoAnswer):
		r.StopReason, r.Error = "error", errNoAnswer.Error()
	case cause != nil, errors.Is(err, agent.ErrAborted):
		r.StopReason, r.Error = "aborted", agent.ErrAborted.Error()
	case isLimit:
		r.StopReason, r.Error = "limit", limit.Error()
	default:
		r.StopReason, r.Error = "error", err.Error()
	}
	return r
}

// read adds to the result what the session of a says.
func (c *child) read(a *agent.Agent) {
	s := a.Session()
	for _, e := range s.Branch()[min(c.before, len(s.Branch())):] {
		m := e.Message()
		if m == nil {
			continue
		}
		c.result.Messages = append(c.result.Messages, *m)
		if m.Role == message.RoleAssistant {
			c.result.Text = m.Text()
		}
	}
	c.result.Usage = a.Totals().Usage
	c.result.SessionFile = s.File()
	if c.plan.answer != nil {
		c.result.Value, _ = c.plan.answer.state()
	}
}

// open makes the run of the child.
func (c *child) open() (*run, error) {
	place := *c.parent.place
	place.Cwd = c.plan.cwd
	r := place.newRun()
	r.child, r.family = c, c.parent.family
	return r, r.beginChild(c.ctx)
}

// beginChild makes the run of a child ready to work, out of what its parent has: settings, keys and
// approvals are not read again.
func (r *run) beginChild(ctx context.Context) error {
	c, parent, p := r.child, r.child.parent, r.place
	r.mode, r.sessions, r.files, r.hookTables = parent.mode, parent.sessions, parent.files, parent.hookTables
	r.script = parent.script
	r.sessions.Cwd = p.Cwd
	r.end.life, r.end.isServed = ctx, true
	r.models = parent.models
	r.loadChildHooks(ctx)
	s, err := c.session(r.sessions)
	if err != nil {
		r.closeHooks(context.WithoutCancel(ctx))
		return err
	}
	c.before = len(s.Branch())
	r.prompt = r.promptOfChild()
	r.agent = agent.New(r.optionsOfChild(s))
	r.attach(ctx, front{childFront{c}, agent.ChildUI(parent.front.UI, c.Name())}, r.mode, nil)
	c.Is(r.agent)
	r.agent.Start(ctx)
	return nil
}

// root is the run of the user's own session, of whose tree the run is.
func (r *run) root() *run {
	for r.child != nil {
		r = r.child.parent
	}
	return r
}

// loadChildHooks loads the hooks of the parent, each in a VM of its own.
func (r *run) loadChildHooks(ctx context.Context) {
	plan := &r.child.plan
	active, others := r.place.tools(r.toolOptions())
	var tools []agent.Tool
	for _, name := range plan.names {
		for _, t := range slices.Concat(active, others) {
			if t.Spec().Name == name {
				tools = append(tools, t)
			}
		}
	}
	r.chain = r.child.parent.chain.Child(ctx, luahooks.ChildOptions{
		Agent: r.child.Identity(), Cwd: r.place.Cwd, Tools: tools, Active: plan.names, MayHave: plan.mayHave,
		ServerTools: func() []agent.Tool { return plan.servers }, Servers: r.forHooks, Agents: r.agents, Commands: r.allCommands,
	})
}

// session returns the session of a child: an empty one, or a copy of what it goes on from.
func (c *child) session(at Sessions) (*session.Session, error) {
	if !c.plan.Keep {
		at.Root = ""
	}
	o := at.Options()
	o.Agent = session.AgentMark{Name: c.Name(), Depth: c.Identity().Depth}
	if o.Dir != "" {
		o.Parent = c.parent.agent.Session().File()
	}
	if c.plan.begin != nil {
		return c.plan.begin.Copy(o)
	}
	return session.New(o), nil
}

// promptOfChild is what the system prompt of the child is made of: that of the parent, with the
// instruction files of its directory.
func (r *run) promptOfChild() agent.SystemPrompt {
	p, c := r.child.parent.prompt, r.child
	p.Skills, p.Servers = r.prompts.SkillList, r.root().mcp.section
	p.Role = cmp.Or(c.plan.role, p.Role)
	if r.place.Cwd != c.parent.place.Cwd {
		p.Files = nil
		r.place.readInstructions(&p, &r.later)
	}
	return p
}

// optionsOfChild are those of the agent of the child.
func (r *run) optionsOfChild(s *session.Session) agent.Options {
	c, parent := r.child, r.child.parent.agent
	o := r.agentOptions(s, c.plan.model, c.plan.thinking)
	o.Settings = parent.Settings()
	o.Settings.MaxCost, o.MaxCost = c.plan.MaxCost, 0 // what it costs counts above
	o.Child = &agent.ChildOptions{Identity: c.Identity(), Parent: parent, Turn: c.Ask}
	if o.Begin = c.plan.begin; c.plan.answer != nil && o.Begin == nil {
		o.Always = c.plan.answer
	}
	return o
}

// maxTurns is how many turns the next prompt of the child may take, where most is what the settings
// say of a prompt.
func (c *child) maxTurns(most int) int {
	if c.plan.MaxTurns == 0 {
		return most
	}
	left := c.plan.MaxTurns - int(c.turns.Load())
	if most == 0 {
		return left
	}
	return min(most, left)
}

// work has the child work on its prompt, until there is an answer as it is wanted.
func (c *child) work(r *run) error {
	c.mu.Lock()
	c.agent = r.agent
	early := c.said
	c.said = nil
	c.mu.Unlock()
	text := c.plan.Prompt
	for _, more := range early {
		text += "\n\n" + more.Text
	}
	first := agent.Prompt{Text: text, Literal: true, Source: "hook", Origin: c.plan.Origin}
	if c.plan.answer == nil {
		return c.ask(r, first)
	}
	return c.askForValue(r, first)
}

// askForValue asks until there is an answer that fits the schema. What its requests begin with has
// no tool for that, so that the answer is read from the words.
func (c *child) askForValue(r *run, p agent.Prompt) error {
	answer := c.plan.answer
	if c.plan.begin != nil {
		p.Text += "\n\nAnswer with JSON alone, without words around it, that fits this JSON Schema:\n" + string(answer.asked)
	}
	for {
		if err := c.ask(r, p); err != nil {
			return err
		}
		if value, _ := answer.state(); value != nil {
			return nil
		}
		text := "Give your answer by calling the tool " + finalAnswerName + ": words are not read."
		if c.plan.begin != nil {
			err := answer.read(lastWords(r.agent.Session()))
			if err == nil {
				return nil
			}
			text = "That does not fit the schema: " + err.Error() + "\nAnswer again, with JSON alone."
		}
		answer.fail()
		if _, isOver := answer.state(); isOver {
			return errNoAnswer
		}
		p = agent.Prompt{Text: text, Literal: true, Source: "hook"} // one of few, and of nobody's
	}
}

// lastWords is the text of the last answer in a session.
func lastWords(s *session.Session) string {
	for _, e := range slices.Backward(s.Branch()) {
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant {
			return m.Text()
		}
	}
	return ""
}

// ask has the agent work on a prompt, and on what hooks submit and what steers it meanwhile.
func (c *child) ask(r *run, first agent.Prompt) error {
	c.mu.Lock()
	c.deaf = false
	c.mu.Unlock()
	d := command.Driver{Agent: r.agent, Commands: r.commands, Ask: func(ctx context.Context, p agent.Prompt) error { return c.prompt(ctx, r.agent, p) }}
	d.Act = func(ctx context.Context, _ string, run command.Action) (command.Outcome, error) { return run(ctx) }
	err := d.Run(c.ctx, first)
	for err == nil && !d.IsStopped() {
		more := slices.Collect(d.Submitted())
		if len(more) == 0 {
			more = c.takeSaid()
		}
		if len(more) == 0 {
			break
		}
		for _, p := range more {
			if err == nil && !d.IsStopped() {
				err = d.Run(c.ctx, p)
			}
		}
	}
	return err
}

// prompt has the agent work on one prompt, within the turns that are left to the child.
func (c *child) prompt(ctx context.Context, a *agent.Agent, p agent.Prompt) error {
	if most := c.plan.MaxTurns; most > 0 && int(c.turns.Load()) >= most {
		return &agent.LimitError{Limit: "max_turns", Message: fmt.Sprintf("stopped after %d turns (max_turns)", most)}
	}
	settings := a.Settings()
	settings.MaxTurns = c.maxTurns(c.parent.agent.Settings().MaxTurns)
	a.SetSettings(settings)
	return a.Prompt(ctx, p)
}

// commandsOfChild are commands of the program as hooks have them in the session of a child: those that
// do something with its conversation. What session that is, and what the user decides, they leave alone.
func commandsOfChild(program []command.Command) (all []command.Command) {
	own := []string{"compact", "context", "label", "model", "name", "session", "thinking", "uncompact"}
	for _, c := range program {
		if !slices.Contains(own, c.Name) {
			c.Run = func(context.Context, string) (command.Outcome, error) {
				return command.Outcome{}, errors.New("in a child: it is for the session of the user")
			}
		}
		all = append(all, c)
	}
	return all
}

// childFront is the front end of a child: whoever started it.
type childFront struct{ *child }

// Wants reports whether k is for whoever follows the child, or counts as a try to answer.
func (f childFront) Wants(k agent.Kind) bool {
	return f.plan.OnEvent != nil || f.Child.Wants(k) || k == agent.KindNotice || k == agent.KindTurnStart || f.plan.answer != nil && k == agent.KindToolExecutionEnd
}

// Handle hands on what happens, and ends the child that has answered in a way that does not fit too often.
func (f childFront) Handle(ctx context.Context, e agent.Event) error {
	if f.Child.Wants(e.Kind()) { // first: who follows the child may ask at once what it does
		_ = f.Child.Handle(ctx, e)
	}
	if f.plan.OnEvent != nil {
		f.plan.OnEvent(ctx, e)
	}
	switch e := e.(type) {
	case *agent.TurnStart:
		f.turns.Add(1)
	case *agent.Notice:
		f.parent.agent.Notify(ctx, e.Level, fmt.Sprintf("[%s] %s", f.Name(), e.Text))
	}
	if end, ok := e.(*agent.ToolExecutionEnd); ok && f.plan.answer != nil && end.Name == finalAnswerName && end.Result.IsError {
		f.plan.answer.fail()
		if _, isOver := f.plan.answer.state(); isOver {
			f.cancel(errNoAnswer)
		}
	}
	return nil
}
