package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/instructions"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/session"
)

// banner returns the lines that the interactive front end begins with: version, model, a
// summary of the hooks, the instruction files, and which session goes on.
func (p *Place) banner(a *agent.Agent, hooks string, files []instructions.File) []string {
	m := a.Model()
	first := fmt.Sprintf("pi %s · %s:%s · %s", p.Version, m.Ref(), a.Thinking(), hooks)
	for _, f := range files {
		rel, err := filepath.Rel(p.Cwd, f.Path)
		if err != nil || strings.HasPrefix(rel, "..") {
			rel = f.Path
		}
		first += " · " + rel
	}
	lines := []string{first}
	if line := resumed(a.Session()); line != "" {
		lines = append(lines, line)
	}
	if m.Provider == "demo" {
		lines = append(lines, "demo/tour is a script, no model. For a real one: /login asks for a key; or export ANTHROPIC_API_KEY or OPENAI_API_KEY, or name a server in "+
			config.Tilde(filepath.Join(p.AgentDir, "config.toml"))+" (config.example.toml shows how). Try: help")
	}
	return lines
}

// resumed says which conversation goes on in s; "" if it has no messages yet.
func resumed(s *session.Session) string {
	messages, prompt := s.Glance()
	if name := s.Name(); name != "" {
		prompt = name
	}
	if messages == 0 {
		return ""
	}
	line := fmt.Sprintf("going on with %s: %s", command.ShortID(s.ID()), printable.Count(messages, "message"))
	if prompt = printable.FirstLine(prompt, 60); prompt != "" { // of a compacted conversation there may be a summary only
		line += fmt.Sprintf(", %q", prompt)
	}
	return line
}
