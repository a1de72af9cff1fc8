package app

import (
	"path/filepath"

	"pi/agent/tool"
	"pi/cli/mcpfile"
)

// Location is where something is.
type Location struct{ Name, Path string }

// Locations are the paths that hooks have as pi.paths, by the same names, and those of files of the
// user. They need not be there.
func (p *Place) Locations() []Location {
	at := p.paths()
	sessions := p.Sessions().Root
	if at.Sessions != nil {
		sessions = *at.Sessions
	}
	return []Location{
		{"agent", at.Agent}, {"sessions", sessions}, {"program", at.Program}, {"project", at.Project},
		{"config", filepath.Join(p.AgentDir, "config.toml")}, {"auth", filepath.Join(p.AgentDir, "auth.json")},
		{"mcp", mcpfile.UserFile(p.AgentDir)}, {"logs", p.hookLog()},
	}
}

// Shell is the path of the shell that runs commands.
func (p *Place) Shell() (string, error) { return tool.FindShell(p.Config.Tools.Shell) }
