package main

import "pi/agent/command"

// What hooks get of the program besides the agent.

func (r *run) allCommands() []command.Command {
	if r.commands == nil {
		return r.chain.Commands()
	}
	return r.commands.All()
}
