package repl

import (
	"os"

	"pi/agent"
	"pi/agent/attach"
)

// attached adds to a prompt the files that its text names, and tells which.
func (r *REPL) attached(p agent.Prompt) agent.Prompt {
	found := attach.Find(p.Text, namedFrom(r.agent.Cwd()))
	p.Attachments = found.Blocks()
	for _, problem := range found.Problems {
		r.Notify(problem, agent.LevelWarning)
	}
	if words := found.Words(); words != "" {
		r.Notify(words, agent.LevelInfo)
	}
	return p
}

// namedFrom returns how a name that a person types in cwd is understood.
func namedFrom(cwd string) attach.Options {
	home, _ := os.UserHomeDir() // without one, ~ is a name like any other
	return attach.Options{Cwd: cwd, Home: home}
}
