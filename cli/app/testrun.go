package app

import (
	"context"
	"encoding/json"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/agent/mcp"
	"pi/luahooks"
	"pi/luahooks/api"
	"pi/session"
	"pi/stdlib"
)

// Script is what a test run has instead of the world outside.
type Script struct {
	Mode    string         // that hooks have for the front end: one of ctx.mode
	Before  agent.Listener // gets events before hooks do
	Watcher agent.Listener // gets them afterwards, as a front end
	// Child returns what gets those of an agent that a hook uses, afterwards; nil: nobody does.
	Child func(who agent.Identity) agent.Listener
	User  agent.UI // with an [AddressOpener] it has a browser
	// Clock is what hooks take for the time, and what messages and entries are stamped with.
	Clock stdlib.Clock
	// Started is told the process group of each program that tools, hooks with pi.exec and
	// commands of the user start.
	Started func(group int)
	// Reach returns an error for a host to which hooks do not connect with pi.http.
	Reach func(host string) error
	// MaxLua is how long the Lua of one handler may run, without what it waits for.
	MaxLua time.Duration
	// Emitted is told of each event that a hook emits for others, before they get it.
	Emitted func(ctx context.Context, name string, data json.RawMessage)
	// Servers are the MCP servers of the run in place of those that are configured; they, and what
	// hooks add, are played by Play.
	Servers []mcp.Entry
	Play    mcp.Player
	// Agents returns the agents that hooks of a run use, in the place of those that there are; nil:
	// they use these.
	Agents func(real api.Agents) api.Agents
	// Model is registered beside the providers of the catalogue and the settings, and its
	// Stream answers for all of theirs, without their keys.
	Model llm.ProviderSpec
}

// TestRun is a run that its caller drives step by step, such as a test of hooks: settings,
// hooks, session and agent are those that any run in its place has. Hook files are not
// watched; [luahooks.Chain.Reload] puts those in force that were saved. Several may be open
// in one process.
type TestRun struct{ run *run }

// OpenTest opens a run in p. If it fails, nothing is open.
func (p *Place) OpenTest(ctx context.Context, s Script) (*TestRun, error) {
	r := p.newRun()
	r.script = &s
	if err := r.approve(ctx); err != nil {
		return nil, err
	}
	r.sessions.now = s.Clock.Now
	if err := r.begin(ctx, front{s.Watcher, s.User}, s.Mode, nil); err != nil {
		return nil, err
	}
	r.agent.Start(ctx)
	return &TestRun{r}, nil
}

// Agent is the agent of the run.
func (r *TestRun) Agent() *agent.Agent { return r.run.agent }

// Chain is the hooks of the run.
func (r *TestRun) Chain() *luahooks.Chain { return r.run.chain }

// Session is the session that the run works on at this moment.
func (r *TestRun) Session() *session.Session { return r.run.agent.Session() }

// Servers are the MCP servers of the run.
func (r *TestRun) Servers() *mcp.Servers { return r.run.mcp.Servers }

// Commands are those of the program and of the hooks.
func (r *TestRun) Commands() *command.Set { return r.run.commands }

// Close tells the hooks that the session ends, and closes session and hooks. The error is
// one of saving.
func (r *TestRun) Close(ctx context.Context) error { return r.run.close(ctx) }
