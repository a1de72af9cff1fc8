package agent

import (
	"context"
	"strings"

	"pi/agent/llm"
	"pi/agent/schema"
)

// Tools returns the active tools in the order the model sees them.
func (a *Agent) Tools() []Tool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Tool(nil), a.tools...)
}

// ToolNames lists the active tools.
func (a *Agent) ToolNames() []string {
	var names []string
	for _, t := range a.Tools() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// SetTools replaces the active tools from the next model call on. by is the hook
// that chose them, "" if none did.
func (a *Agent) SetTools(tools []Tool, by string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools, a.toolsBy = tools, by
	a.checkers = map[string]*schema.Checker{}
}

func (a *Agent) tool(name string) Tool {
	for _, t := range a.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

func (a *Agent) toolSpecs() []llm.ToolSpec { return specsOf(a.Tools()) }

func specsOf(tools []Tool) []llm.ToolSpec {
	var specs []llm.ToolSpec
	for _, t := range tools {
		specs = append(specs, t.Spec())
	}
	return specs
}

// checker returns the argument checker of t, compiled once.
func (a *Agent) checker(ctx context.Context, t Tool) (*schema.Checker, error) {
	name := t.Spec().Name
	a.mu.Lock()
	known := a.checkers // SetTools puts another in its place: what is stored below must not reach that
	c := known[name]
	a.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := schema.Compile(t.Spec().Parameters)
	if err != nil {
		return nil, err
	}
	if len(c.Dropped) > 0 {
		a.notifyf(ctx, LevelWarning, "tool %s: its schema does not resolve; ignoring %s", name, strings.Join(c.Dropped, ", "))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known[name] = c
	return c, nil
}
