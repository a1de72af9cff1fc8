package main

import (
	"slices"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/tool"
)

// What hooks get of the program besides the agent.

// inactiveTools are the program's other tools, which hooks may choose.
func (a *app) inactiveTools() []agent.Tool {
	if a.noTools {
		return nil
	}
	active := a.cfg.Tools.Active
	if a.options.tools != nil {
		active = a.options.tools
	}
	return slices.DeleteFunc(tool.All(a.modelToolOptions()), func(t agent.Tool) bool { return slices.Contains(active, t.Spec().Name) })
}

func (a *app) allCommands() []command.Command {
	if a.commands == nil {
		return a.chain.Commands()
	}
	return a.commands.All()
}
