package main

import "pi/agent/command"

// What hooks get of the program besides the agent.

func (a *app) allCommands() []command.Command {
	if a.commands == nil {
		return a.chain.Commands()
	}
	return a.commands.All()
}
