package app

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/mcpfile"
	"pi/luahooks/api"
)

// What hooks have of the servers of a run: they use them beside the model, bring their own, and
// are told what becomes of all.

// hookServers are the servers of a run as hooks come to them. It is an [api.Servers].
type hookServers struct {
	*mcp.Servers
	place *Place
}

// checkOn returns an error where servers are turned off, those of hooks among them.
func (s hookServers) checkOn() error {
	switch {
	case s.place.NoMCP:
		return errors.New("MCP is turned off: --no-mcp")
	case !s.place.Config.MCP.Enabled:
		return errors.New("MCP is turned off: [mcp] enabled = false in config.toml")
	}
	return nil
}

// Put is that of [api.Servers].
func (s hookServers) Put(e mcp.Entry) (*mcp.Client, error) {
	if err := s.checkOn(); err != nil {
		return nil, err
	}
	return s.Servers.Put(e)
}

// Entry is that of [api.Servers].
func (s hookServers) Entry(hook api.HookInfo, name string, text json.RawMessage) (mcp.Entry, error) {
	return mcpfile.FromHook(name, text, s.place.originOf(mcp.FromHook, hook.Path))
}

// forHooks are the servers as hooks come to them.
func (r *run) forHooks() api.Servers {
	if r.child != nil {
		return r.child.servers()
	}
	if r.mcp.Servers == nil {
		return nil
	}
	return hookServers{r.mcp.Servers, r.place}
}

// childServers are the servers of the user's session as hooks of a child come to them.
type childServers struct{ hookServers }

// servers are those of the session that uses the child, in which none is started again.
func (c *child) servers() api.Servers {
	root := c.parent.root()
	if root.mcp.Servers == nil {
		return nil
	}
	return childServers{hookServers{root.mcp.Servers, root.place}}
}

// Put is that of [api.Servers]. A server that the hook has put there in the session above is the
// same one. None is added for the model: the child has the tools of that session.
func (s childServers) Put(e mcp.Entry) (*mcp.Client, error) {
	if c, ok := s.ClientOf(e.Source.Path, e.Name); ok {
		return c, nil
	}
	if !e.Private {
		return nil, errors.New("an agent has the servers of the session that uses it, and adds none")
	}
	return s.hookServers.Put(e)
}

// serverEvents passes on what becomes of servers, in order, on a goroutine of its own: who tells of
// it does not wait, and those who are told may ask the servers. What comes before there is anybody to
// be told waits. All methods may be called from any goroutine.
type serverEvents struct {
	mu      sync.Mutex // guards what follows
	emit    func(ctx context.Context, e agent.Event)
	waiting []agent.Event
	busy    bool // a goroutine passes them on
	over    bool
	cancel  context.CancelFunc
	passing sync.WaitGroup
}

// maxServerEvents is how many may wait: a server can say that ten thousand tools have changed.
const maxServerEvents = 1000

// put passes on an event. If too many wait, the oldest is dropped.
func (q *serverEvents) put(e agent.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == maxServerEvents {
		q.waiting = q.waiting[1:]
	}
	q.waiting = append(q.waiting, e)
	q.pass()
}

// begin sets who is told.
func (q *serverEvents) begin(emit func(ctx context.Context, e agent.Event)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.emit = emit
	q.pass()
}

// end drops what waits. It returns when nobody is told any more.
func (q *serverEvents) end() {
	q.mu.Lock()
	q.over = true
	if q.cancel != nil {
		q.cancel()
	}
	q.mu.Unlock()
	q.passing.Wait()
}

// pass starts the goroutine, if something waits, somebody is to be told, and none runs. The caller
// has the lock.
func (q *serverEvents) pass() {
	if q.busy || q.over || q.emit == nil || len(q.waiting) == 0 {
		return
	}
	var ctx context.Context
	ctx, q.cancel = context.WithCancel(context.Background())
	q.busy = true
	q.passing.Go(func() {
		for e := q.next(); e != nil; e = q.next() {
			q.emit(ctx, e)
		}
	})
}

// next takes the oldest event; nil: there is none, and the goroutine ends.
func (q *serverEvents) next() (e agent.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over || len(q.waiting) == 0 {
		q.busy = false
		q.cancel()
		return nil
	}
	e, q.waiting = q.waiting[0], q.waiting[1:]
	return e
}

// serverEvent is what became of a server, for listeners.
func serverEvent(e mcp.Event) agent.Event {
	if c := e.Change; c != nil {
		return &agent.MCPChange{Server: e.Server, Tool: c.Tool, Before: definitionOf(c.Before), After: definitionOf(c.After)}
	}
	told := &agent.MCPServer{Server: e.Server, State: string(e.State), Tools: e.Tools}
	if e.Err != nil {
		told.Error = e.Err.Error()
	}
	return told
}

// definitionOf is a tool as listeners are told of it; nil for none.
func definitionOf(t *mcp.Tool) *agent.Definition {
	if t == nil {
		return nil
	}
	return &agent.Definition{Name: t.Name, Description: t.Description, Parameters: t.Schema, Claims: t.Claims, Hash: t.Hash}
}
