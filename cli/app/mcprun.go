package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/agent/mcp"
	"pi/internal/printable"
)

// runServers are the servers of a run. The zero value has none.
type runServers struct {
	*mcp.Servers
	events serverEvents             // for hooks
	ui     atomic.Pointer[agent.UI] // who is asked; nil: there is no front end yet
}

// openServers opens the servers of the run. None is started.
func (r *run) openServers() {
	if r.logins == nil {
		command := "pi mcp login"
		if p := r.place; p.Attended() || p.Mode == modeRPC || p.Mode == modeACP {
			command = "/mcp login"
		}
		r.logins = r.place.Logins(command)
	}
	o := r.place.serverOptions(r.servers.Entries, r.logins)
	o.Elicit = func(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
		return mcp.Dialogs(r.mcp.user(), nil)(ctx, q)
	}
	o.Approve = r.mcp.approve
	o.Notify = func(e mcp.Event) {
		r.tellServer(e)
		r.mcp.events.put(serverEvent(e))
	}
	r.mcp.Servers = mcp.Open(o)
}

// user is who is asked.
func (s *runServers) user() agent.UI {
	if ui := s.ui.Load(); ui != nil {
		return *ui
	}
	return agent.NoUI{}
}

// approve asks whether a tool that has changed may be called.
func (s *runServers) approve(ctx context.Context, c mcp.Change) (bool, error) {
	before := "(not known)"
	if c.Before != nil {
		before = c.Before.Description
	}
	answer, err := s.user().Confirm(ctx, fmt.Sprintf("The tool %s of the MCP server %s is another than before. Call it?", printable.Line(c.Tool), c.Server),
		fmt.Sprintf("before: %s\nnow: %s", printable.Cut(printable.Line(before), 500), printable.Cut(printable.Line(c.After.Description), 500)), agent.DialogOptions{})
	return answer != agent.No, err
}

// tellServer tells the user what became of a server, if that is trouble or a surprise.
func (r *run) tellServer(e mcp.Event) {
	if r.agent == nil {
		return
	}
	switch {
	case e.Change != nil:
		r.agent.Notify(context.Background(), agent.LevelWarning, fmt.Sprintf("MCP server %s: the tool %s is another than when it was listed first; /mcp %s shows it",
			e.Server, printable.Line(e.Change.Tool), e.Server))
	case e.State == mcp.StateFailed && e.Err != nil:
		r.agent.Notify(context.Background(), agent.LevelWarning, fmt.Sprintf("MCP server %s: %v", e.Server, e.Err))
	}
}

// tools are the tools by which the model comes to those of servers.
func (s *runServers) tools() []agent.Tool {
	if s.Servers == nil {
		return nil
	}
	return s.Tools(nil)
}

// section is the section of the system prompt about servers.
func (s *runServers) section() string {
	if s.Servers == nil {
		return ""
	}
	return s.Section()
}

// end ends the servers.
func (s *runServers) end() {
	if s.Servers != nil {
		s.Close()
	}
}

// directTools is the listener that waits, at the first prompt, for servers whose tools the model
// gets directly and of which nothing is known yet.
type directTools struct {
	run  *run
	once sync.Once
}

// Wants reports whether k is what comes first of a prompt.
func (*directTools) Wants(k agent.Kind) bool { return k == agent.KindInput }

// Handle waits for the servers. It never fails: a server that does not answer is told.
func (d *directTools) Handle(ctx context.Context, _ agent.Event) error {
	d.once.Do(func() {
		if d.run.mcp.Servers == nil {
			return
		}
		silent, waited := d.run.mcp.AwaitDirect(ctx)
		if !waited {
			return
		}
		for _, why := range silent {
			d.run.agent.Notify(ctx, agent.LevelWarning, "MCP: "+why)
		}
		d.run.chain.ApplyTools()
	})
	return nil
}
