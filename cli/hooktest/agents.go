package hooktest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pi/agent/children"
	"pi/luahooks/api"
	"pi/session/message"

	lua "github.com/yuin/gopher-lua"
)

// playedAgents are the agents that hooks of a case use: those that t.agent plays answer from their
// scripts, the others work as always. Any goroutine may use them.
type playedAgents struct {
	// answer makes the answer of one that is a function. It is called while the case waits.
	answer func(ctx context.Context, a agentAnswer, asked agentAsked) (agentAnswer, error)
	// lacking is told of an agent for which there is no answer.
	lacking func(text string)
	clock   *clock
	lives   sync.WaitGroup

	mu     sync.Mutex // guards what follows
	played []*playedAgent
	asked  []*agentAsked
}

// playedAgent is what t.agent says of the agents of a name.
type playedAgent struct {
	name    string // "": of all that no other one has
	answers []agentAnswer
	taken   int
}

// agentAnswer is what comes of an agent that is played.
type agentAnswer struct {
	result   api.AgentResult
	refuse   string         // not "": it does not start, and why
	waits    bool           // it works until it is ended, or its time is over
	function *lua.LFunction // makes the answer; nil: this is it
}

// agentAsked is what a hook has asked an agent.
type agentAsked struct {
	api.AgentRequest
	name   string // that it has
	played bool
	steers []string
}

// add appends answers to those of the agents of a name.
func (p *playedAgents) add(name string, answers []agentAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.of(name); one != nil && one.name == name {
		one.answers = append(one.answers, answers...)
		return
	}
	p.played = append(p.played, &playedAgent{name: name, answers: answers})
}

// of returns what plays the agents of a name; nil: they work as always. mu is held.
func (p *playedAgents) of(name string) (found *playedAgent) {
	for _, one := range p.played {
		if one.name == name {
			return one
		}
		if one.name == "" {
			found = one
		}
	}
	return found
}

// calls returns what was asked so far; of the agents of a name, if that is not "".
func (p *playedAgents) calls(name string) (all []agentAsked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.asked {
		if name == "" || one.name == name {
			c := *one
			c.steers = slices.Clone(c.steers)
			all = append(all, c)
		}
	}
	return all
}

// around returns the agents of a run, which are real but for those that are played.
func (p *playedAgents) around(real api.Agents) api.Agents { return casting{p, real} }

// casting is an [api.Agents].
type casting struct {
	*playedAgents
	real api.Agents
}

// Start is that of [api.Agents].
func (c casting) Start(ctx context.Context, r api.AgentRequest) (api.Child, error) {
	asked := &agentAsked{AgentRequest: r, name: children.Name(cmp.Or(r.Name, r.Agent))}
	answer, err := c.take(asked)
	switch {
	case err != nil:
		c.lacking(err.Error())
		return nil, err
	case !asked.played:
		return c.real.Start(ctx, r)
	case answer.refuse != "":
		return nil, errors.New(answer.refuse)
	}
	one := &playedChild{agents: c.playedAgents, asked: asked, over: make(chan struct{})}
	one.ctx, one.abort = context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, one.abort)
	c.lives.Go(func() {
		defer one.abort()
		defer stop()
		one.work(answer)
	})
	return one, nil
}

// take notes what is asked, and returns the next answer if somebody plays the agent. The error says
// that there is none left.
func (p *playedAgents) take(asked *agentAsked) (answer agentAnswer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, asked)
	one := p.of(asked.name)
	if asked.played = one != nil; !asked.played {
		return answer, nil
	}
	if one.taken == len(one.answers) {
		return answer, fmt.Errorf("call %d of the agent %s has no answer: t.agent has %d; it was asked: %s", one.taken+1, asked.name, one.taken, firstLine(asked.Prompt))
	}
	one.taken++
	return one.answers[one.taken-1], nil
}

// playedChild is an [api.Child].
type playedChild struct {
	agents *playedAgents
	asked  *agentAsked
	ctx    context.Context // ends when it is aborted
	abort  context.CancelFunc
	over   chan struct{}   // closed when there is a result
	result api.AgentResult // once it is
}

// work makes the result.
func (c *playedChild) work(a agentAnswer) {
	defer close(c.over)
	if a.function != nil {
		made, err := c.agents.answer(c.ctx, a, c.now())
		if a = made; err != nil {
			a = agentAnswer{result: api.AgentResult{StopReason: "error", Error: err.Error()}}
		}
	}
	switch {
	case a.waits:
		c.result = c.await()
	case c.ctx.Err() != nil:
		c.result = aborted()
	default:
		c.result = a.result
	}
	if c.result.Messages == nil {
		c.result.Messages = []message.Message{said(message.RoleUser, c.asked.Prompt)}
		if c.result.Text != "" {
			c.result.Messages = append(c.result.Messages, said(message.RoleAssistant, c.result.Text))
		}
	}
}

func said(role message.Role, text string) message.Message {
	return message.Message{Role: role, Content: []message.Block{message.TextBlock(text)}}
}

// now is what it was asked, and told since.
func (c *playedChild) now() agentAsked {
	c.agents.mu.Lock()
	defer c.agents.mu.Unlock()
	asked := *c.asked
	asked.steers = slices.Clone(asked.steers)
	return asked
}

// await waits until it is ended, or its time is over.
func (c *playedChild) await() api.AgentResult {
	limit := time.Duration(-1)
	if c.asked.Timeout > 0 {
		limit = c.asked.Timeout
	}
	over, stop := c.agents.clock.Wait(limit)
	defer stop()
	select {
	case <-over:
		return api.AgentResult{StopReason: "timeout", Error: fmt.Sprintf("its time is up after %v", limit)}
	case <-c.ctx.Done():
		return aborted()
	}
}

func aborted() api.AgentResult { return api.AgentResult{StopReason: "aborted", Error: "aborted"} }

// Name is that of [api.Child].
func (c *playedChild) Name() string { return c.asked.name }

// Ended is that of [api.Child].
func (c *playedChild) Ended() <-chan struct{} { return c.over }

// Wait is that of [api.Child].
func (c *playedChild) Wait(ctx context.Context) (api.AgentResult, error) {
	select {
	case <-c.over:
		return c.result, nil
	case <-ctx.Done():
		return api.AgentResult{}, ctx.Err()
	}
}

// Steer is that of [api.Child].
func (c *playedChild) Steer(_ context.Context, text string) error {
	select {
	case <-c.over:
		return errors.New("the agent has ended")
	default:
	}
	c.agents.mu.Lock()
	defer c.agents.mu.Unlock()
	c.asked.steers = append(c.asked.steers, text)
	return nil
}

// Abort is that of [api.Child].
func (c *playedChild) Abort() { c.abort() }
