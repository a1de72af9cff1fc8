package luahooks

import (
	"context"
	"pi/agent"

	"slices"
)

// The tools of the program and of hooks, as the agent gets them.

func (c *Chain) isProgramTool(name string) bool {
	return slices.ContainsFunc(slices.Concat(c.opts.Tools, c.opts.Inactive), func(t agent.Tool) bool { return t.Spec().Name == name })
}

// allTools lists the program's tools, those of hooks in their place where the
// name is the same, and the others behind them. told hears of each that takes
// another's place; it may be nil.
func (c *Chain) allTools(told func(t *luaTool, before agent.Tool)) []offeredTool {
	var all []offeredTool
	for _, t := range c.opts.Tools {
		all = append(all, offeredTool{t, true})
	}
	for _, t := range c.opts.Inactive {
		all = append(all, offeredTool{t, false})
	}
	for _, h := range c.roster.list() {
		for _, t := range h.registered().Tools.All() {
			i := slices.IndexFunc(all, func(have offeredTool) bool { return have.spec().Name == t.spec.Name })
			if i < 0 {
				all = append(all, offeredTool{t, true})
				continue
			}
			if told != nil {
				told(t, all[i].Tool)
			}
			all[i] = offeredTool{t, true}
		}
	}
	for i := range all {
		name := all[i].spec().Name
		all[i].active = c.mayUse(name) && c.choice.of(name, all[i].active)
	}
	return all
}

// mayUse reports whether the person lets the model have a tool.
func (c *Chain) mayUse(tool string) bool {
	return c.opts.Only == nil || slices.Contains(c.opts.Only, tool)
}

// ToolNames lists all tools that there are, the program's own and those of hooks.
func (c *Chain) ToolNames() []string {
	var names []string
	for _, t := range c.allTools(nil) {
		names = append(names, t.spec().Name)
	}
	return names
}

// applyTools gives the host the tools in force. by is the hook that chose them, ""
// if they only are those that there are.
func (c *Chain) applyTools(by string) {
	host := c.audience.hostNow()
	if host == nil {
		return
	}
	c.inForce.Lock()
	var warnings []func()
	var tools []agent.Tool
	for _, t := range c.allTools(func(t *luaTool, before agent.Tool) {
		warnings = append(warnings, func() {
			c.audience.notifyOnce(context.Background(), "tool "+t.spec.Name+" "+t.in.hook.Path, agent.LevelWarning, replaces(t, before))
		})
	}) {
		if t.active {
			tools = append(tools, t.Tool)
		}
	}
	host.SetTools(tools, by)
	c.inForce.Unlock()
	for _, warn := range warnings {
		warn()
	}
}
