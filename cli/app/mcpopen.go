package app

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"

	"pi/agent/mcp"
	"pi/agent/provider"
	"pi/cli/mcpfile"
	"pi/cli/mcplogin"
)

// OpenServers opens servers as every run in the place has them. Nothing is started, and nobody is
// asked what they want to know. The caller closes them.
func (p *Place) OpenServers(entries []mcp.Entry, logins *mcplogin.Logins) *mcp.Servers {
	return mcp.Open(p.serverOptions(entries, logins))
}

// serverOptions are those that servers have in the place, whoever opens them.
func (p *Place) serverOptions(entries []mcp.Entry, logins *mcplogin.Logins) mcp.Options {
	return mcp.Options{
		Entries: entries, Dir: p.AgentDir, Cwd: p.Cwd, Version: p.Version, Watcher: p.Watcher, HTTP: provider.NewClient().Transport,
		Environ:   func() []string { return append(os.Environ(), p.Env.Variables...) },
		ReadIndex: func(path string) []byte { return p.Guard.Current(path).Code }, ChangeIndex: p.Guard.ChangeIndex,
		Authorize: logins.Handler, OnChange: mcp.OnChange(p.Config.MCP.OnChange),
	}
}

// ForeignPlaces are where other programs keep what they have configured.
func (p *Place) ForeignPlaces() mcpfile.ForeignPlaces {
	home := p.Env.home()
	places := mcpfile.ForeignPlaces{Home: home, Cwd: p.Cwd, Codex: p.Env.getenv("CODEX_HOME")}
	switch runtime.GOOS {
	case "darwin":
		places.Configs = filepath.Join(home, "Library", "Application Support")
	case "windows":
		places.Configs = p.Env.getenv("APPDATA")
	default:
		places.Configs = cmp.Or(p.Env.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	}
	return places
}
