package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"pi/agent"
	"pi/agent/llm"
	"pi/agent/mcp"
	"pi/internal/printable"
	"pi/luahooks/api"
)

// ownChildren are the agents that hooks of a run use: each is a run of its own in this process, see
// child.go. It is an [api.Agents].
type ownChildren struct {
	run *run // whose hooks use them

	mu   sync.Mutex // guards what follows
	over bool       // the run ends
	all  map[*child]bool
}

func newChildren(r *run) *ownChildren { return &ownChildren{run: r, all: map[*child]bool{}} }

// agents are the children of the run as hooks come to them.
func (r *run) agents() api.Agents {
	if r.script != nil && r.script.Agents != nil {
		return r.script.Agents(r.children)
	}
	return r.children
}

// Start is that of [api.Agents].
func (cs *ownChildren) Start(ctx context.Context, request api.AgentRequest) (api.Child, error) {
	if cs.run.agent == nil {
		return nil, errors.New("there is no session yet")
	}
	request, mayHave, err := cs.run.withDefinition(ctx, request)
	if err != nil {
		return nil, err
	}
	plan, err := cs.plan(request, mayHave)
	if err != nil {
		return nil, err
	}
	c, err := newChild(ctx, cs.run, plan)
	if err != nil {
		return nil, err
	}
	cs.mu.Lock()
	if cs.over {
		cs.mu.Unlock()
		c.cancel(nil)
		c.End()
		return nil, errors.New("the session ends")
	}
	cs.all[c] = true
	cs.mu.Unlock()
	go func() {
		c.live()
		cs.mu.Lock()
		delete(cs.all, c)
		cs.mu.Unlock()
	}()
	return c, nil
}

// Wants is that of [agent.Listener]: children belong to the session in which they were started.
func (*ownChildren) Wants(k agent.Kind) bool { return k == agent.KindSessionShutdown }

// Handle ends the children when the session is left.
func (cs *ownChildren) Handle(ctx context.Context, _ agent.Event) error {
	cs.endAll(ctx)
	return nil
}

// close ends all children, and lets no others in.
func (cs *ownChildren) close(ctx context.Context) {
	cs.mu.Lock()
	cs.over = true
	cs.mu.Unlock()
	cs.endAll(ctx)
}

// endAll ends the children that there are, and waits for that until ctx ends, but not for long: what
// they have used counts in the session that uses them.
func (cs *ownChildren) endAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sessionEnd)
	defer cancel()
	cs.mu.Lock()
	all := slices.Collect(maps.Keys(cs.all))
	cs.mu.Unlock()
	for _, c := range all {
		c.Abort()
	}
	for _, c := range all {
		select {
		case <-c.Ended():
		case <-ctx.Done():
		}
	}
}

// childPlan is what a child is made of: what its parent had when the hook asked for it, cut by
// what the hook wants.
type childPlan struct {
	api.AgentRequest
	name     string // "": any
	cwd      string
	role     string // in the place of the usual one; "": that
	model    *llm.Model
	thinking string
	names    []string     // of the tools that it has, in the order of the parent
	servers  []agent.Tool // those of servers among them
	answer   *finalAnswer // nil: any words are an answer
	begin    *agent.Sent  // what its requests begin with; nil: with its own system prompt and tools
}

// plan returns the child that a hook wants. Nothing of what it says adds to what the parent has.
// mayHave reports which tools the agent's file leaves to it. The error is for the author of the hook.
func (cs *ownChildren) plan(request api.AgentRequest, mayHave func(tool string) bool) (p childPlan, err error) {
	parent := cs.run
	p = childPlan{AgentRequest: request, cwd: request.Cwd, role: request.SystemPrompt}
	p.name = cmp.Or(request.Name, request.Agent)
	if p.cwd, err = parent.cwdOfChild(request.Cwd); err != nil {
		return p, err
	}
	if err := cs.planContext(&p); err != nil {
		return p, err
	}
	if p.begin != nil {
		p.model, p.thinking = p.begin.Model(), p.begin.Wish()
	} else if p.model, p.thinking, err = parent.modelOfChild(request.Model, request.Thinking); err != nil {
		return p, err
	}
	if err := cs.planTools(&p, mayHave); err != nil {
		return p, err
	}
	if request.Schema != nil {
		p.answer, err = newFinalAnswer(request.Schema)
	}
	return p, err
}

// planContext says what the child goes on from.
func (cs *ownChildren) planContext(p *childPlan) error {
	if !p.FromParent {
		return nil
	}
	if p.begin = cs.run.agent.LastSent(); p.begin == nil {
		return errors.New(`context = "parent": no model was asked in this session yet`)
	}
	return nil
}

// cwdOfChild returns the directory that a child works in, which a hook names. With confine it
// lies within that of the parent.
func (r *run) cwdOfChild(cwd string) (string, error) {
	p := r.place
	if cwd == "" {
		return p.Cwd, nil
	}
	cwd = absolute(p.Cwd, cwd)
	info, err := os.Stat(cwd)
	switch {
	case err != nil:
		return "", fmt.Errorf("cwd: %w", err)
	case !info.IsDir():
		return "", fmt.Errorf("cwd: %s is no directory", printable.VisibleLine(cwd))
	case p.Config.Tools.Confine && !liesWithin(p.Cwd, cwd):
		return "", fmt.Errorf("cwd: %s lies outside of %s, and [tools] confine is set", printable.VisibleLine(cwd), printable.VisibleLine(p.Cwd))
	}
	return cwd, nil
}

// liesWithin reports whether a directory is another one or lies below it, whatever links lead
// there.
func liesWithin(dir, inner string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	if inner, err = filepath.EvalSymlinks(inner); err != nil {
		return false
	}
	rest, err := filepath.Rel(dir, inner)
	return err == nil && filepath.IsLocal(rest)
}

// modelOfChild returns the model of a child and how much it thinks, as a hook names them; "" is
// what the parent has.
func (r *run) modelOfChild(ref, thinking string) (*llm.Model, string, error) {
	model, level := r.agent.Model(), r.agent.ThinkingWish()
	if ref != "" {
		named, with, err := r.models.Match(ref)
		if err != nil {
			return nil, "", fmt.Errorf("model: %w", err)
		}
		model = named
		if with != "" {
			level = with
		}
	}
	if thinking != "" {
		if err := llm.CheckThinking(thinking); err != nil {
			return nil, "", fmt.Errorf("thinking: %w", err)
		}
		level = thinking
	}
	return model, level, nil
}

// planTools says which tools the child has: the active ones of the parent, as far as the hook names
// them and the agent's file leaves them to it.
func (cs *ownChildren) planTools(p *childPlan, mayHave func(tool string) bool) error {
	cut := ToolFlags{}
	if p.HasTools {
		cut = ToolFlags{Named: p.Tools, None: len(p.Tools) == 0}
		if unknown := unknownTool(p.Tools, cs.run.chain.ToolNames()); unknown != "" {
			return errors.New("tools: " + unknown)
		}
	}
	for _, t := range cs.run.agent.Tools() {
		name := t.Spec().Name
		if !cut.mayHave(name) || !mayHave(name) {
			continue
		}
		p.names = append(p.names, name)
		f, stands := t.(agent.Forwarder)
		_, isOfServer := t.(agent.ServerTool)
		switch {
		case stands:
			p.servers = append(p.servers, f.Within(func(tool string) bool { return cut.mayHave(tool) && mayHave(tool) }))
		case isOfServer:
			p.servers = append(p.servers, t)
		}
	}
	return nil
}

// mayHave reports whether the child may have the tool with a name at all, whatever its hooks
// choose.
func (p *childPlan) mayHave(name string) bool {
	switch {
	case p.answer != nil && name == finalAnswerName: // the name is taken
		return false
	case slices.Contains(p.names, name):
		return true
	}
	return mcp.IsName(name) && slices.Contains(p.names, mcp.ToolName)
}
