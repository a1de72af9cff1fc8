package trust

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pending is a file whose version on the disk waits for approval. Until then the
// one before is active.
type Pending struct {
	Name   string    `json:"name"`   // of the hook, else of the file
	Path   string    `json:"path"`   // absolute
	Kind   string    `json:"kind"`   // hook, module, settings, approvals, MCP servers, file of an MCP server, what is known of MCP servers, agent
	Change string    `json:"change"` // changed, added, removed
	Scope  Scope     `json:"scope,omitempty"`
	Since  time.Time `json:"since"`
	Diff   string    `json:"diff"`           // unified, hidden characters visible
	Lost   bool      `json:"lost,omitempty"` // there is no copy of the active version
	// Unmarked is of a file of a package that no tool changed, as far as is known: it is not what was
	// approved, and the package shuts the tools.
	Unmarked bool `json:"unmarked,omitempty"`

	now       Version // that waits
	elsewhere bool    // it is of a package that other projects name
	asking    bool    // somebody looks at it
}

// TakesAway reports whether what waits is no file, or one without a byte, as a file is for a moment
// while it is saved, or names other packages: with a yes to it hooks are gone for sure.
func (p *Pending) TakesAway() bool {
	return p.now.Sum == "" || p.now.Sum == Sum(nil) || p.Kind == kindTeam
}

// IsAgent reports whether the file defines an agent.
func (p *Pending) IsAgent() bool { return p.Kind == kindAgent }

// The [Pending.Kind] of a file that names MCP servers, of one that they are made of, of the index
// of what they have, and of one that defines an agent.
const (
	kindServers = "MCP servers"
	kindProgram = "file of an MCP server"
	kindIndex   = "what is known of MCP servers"
	kindAgent   = "agent" // a file that defines one
	kindLock    = "where packages came from"
	kindTeam    = "packages of this project"
)

// Effect is a clause for the user: what is active meanwhile.
func (p *Pending) Effect() string {
	switch {
	case p.Change == "lost":
		return "nothing is"
	case p.Kind == "approvals":
		return "what it held before stays in force"
	case p.Kind == "commands of keys":
		return "no command that is new there runs"
	case p.Change == "added" && (p.Kind == "settings" || p.Kind == kindServers || p.Kind == kindLock || p.Kind == kindTeam || p.Kind == kindIndex || p.Kind == kindAgent):
		return "it does not count"
	case p.Change == "added":
		return "it does not run"
	}
	return "the version before stays in force"
}

// Concerns reports whether a pending file can matter to a program with these places: it is
// settings or the store, or it lies where the program has hooks and modules.
func (p Pending) Concerns(places Places) bool {
	below := func(dir string) bool { return strings.HasPrefix(p.Path, dir+string(filepath.Separator)) }
	switch {
	case p.elsewhere:
		return false
	case p.Kind == "settings" || p.Kind == "approvals" || p.Kind == "commands of keys" || p.Kind == kindServers && p.Scope != ScopeProject:
		return below(places.AgentDir) || below(filepath.Join(places.Cwd, ".pi"))
	case p.Kind == kindServers || p.Kind == kindProgram:
		return !places.NoProject && below(places.Cwd)
	case p.Kind == kindAgent && p.Scope != ScopeProject:
		return !places.NoHooks
	case p.Scope == ScopeProject && below(places.PackagesDir()):
		return !places.NoHooks && !places.NoProject
	case p.Scope == ScopeCommand || slices.Contains(places.CommandLine, p.Path):
		return slices.ContainsFunc(places.CommandLine, func(path string) bool { return below(filepath.Dir(path)) })
	case places.NoHooks:
		return false
	case below(places.AgentDir):
		return true
	case p.Scope == ScopeProject || below(places.Cwd):
		return !places.NoProject && below(places.Cwd)
	}
	return slices.ContainsFunc(places.Configured, func(path string) bool { return below(filepath.Dir(path)) })
}

// ErrChangedAgain keeps what nobody has seen from being approved.
var ErrChangedAgain = errors.New("it has changed since it was shown; look again")
