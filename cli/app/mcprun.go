package app

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"pi/agent"
	"pi/agent/mcp"
	"pi/cli/keyring/oauth"
	"pi/internal/printable"
)

// runServers are the servers of a run. The zero value has none.
type runServers struct {
	*mcp.Servers
	events serverEvents             // for hooks
	ui     atomic.Pointer[agent.UI] // who is asked; nil: there is no front end yet

	mu   sync.Mutex
	told map[string]mcp.State // the trouble that was told last of a server, until it is ready
}

// openServers opens the servers of the run. None is started.
func (r *run) openServers() {
	signIn := r.signIn // of who made the logins
	if r.logins == nil {
		command := "pi mcp login"
		if p := r.place; p.Attended() || p.Mode == ModeRPC || p.Mode == ModeACP {
			command = "/mcp login"
		}
		r.logins = r.place.Logins(command)
		signIn = r.mcp.signInFor(r.logins)
	}
	o := r.place.serverOptions(r.servers.Entries, r.logins)
	open := openPage
	if r.script != nil { // nothing of the world outside is there
		open = nil
	}
	o.SignIn = signIn
	o.Elicit = func(ctx context.Context, q mcp.Question) (mcp.Reply, error) {
		return mcp.Dialogs(r.mcp.user(), open)(ctx, q)
	}
	o.Approve = r.mcp.approve
	if r.script != nil {
		o.Play = r.script.Play
	}
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
		if text := changedText(e.Server, e.Changed); text != "" {
			r.agent.Notify(context.Background(), agent.LevelWarning, text)
		}
	case e.State == mcp.StateReady:
		r.mcp.noteReady(e.Server)
	case e.Trouble() != "" && r.mcp.noteTrouble(e.Server, e.State):
		r.agent.Notify(context.Background(), agent.LevelWarning, "MCP "+e.Trouble())
	}
}

// changedText tells of the tools that one listing showed to be others; "" for none.
func changedText(server string, names []string) string {
	const most = 3
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, printable.Line(name))
	}
	switch more := len(names) - len(shown); {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		return fmt.Sprintf("MCP server %s: the tool %s is another than when it was listed first; /mcp %s shows it", server, shown[0], server)
	case more > 0:
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("MCP server %s: these tools are others than when they were listed first: %s; /mcp %s shows them", server, strings.Join(shown, ", "), server)
}

// noteTrouble notes that a server cannot be used, and reports whether that is news.
func (s *runServers) noteTrouble(server string, state mcp.State) (isNews bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told[server] == state {
		return false
	}
	if s.told == nil {
		s.told = map[string]mcp.State{}
	}
	s.told[server] = state
	return true
}

// noteReady notes that a server can be used: what goes wrong from now on is news.
func (s *runServers) noteReady(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.told, server)
}

// openPage opens the page that a server wants its user to see.
func openPage(ctx context.Context, page string) error {
	address, err := url.Parse(page)
	if err == nil {
		err = oauth.CheckAddress(address)
	}
	if err != nil {
		return err
	}
	return oauth.Browser{}.Open(ctx, page)
}

// beginClient begins to start the servers that the client has handed over.
func (s *runServers) beginClient() {
	if s.Servers != nil {
		s.Begin(func(e *mcp.Entry) bool { return e.Source.Kind == mcp.FromClient })
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
	mu   sync.Mutex // held while the servers are waited for
	done bool
}

// Wants reports whether k is what comes first of a prompt.
func (*directTools) Wants(k agent.Kind) bool { return k == agent.KindInput }

// Handle waits for the servers. It never fails: a server that does not answer is told.
func (d *directTools) Handle(ctx context.Context, _ agent.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done || d.run.mcp.Servers == nil {
		return nil
	}
	silent, waited := d.run.mcp.AwaitDirect(ctx)
	if ctx.Err() != nil { // the next prompt waits again
		return nil
	}
	d.done = true
	for _, one := range silent {
		if s, err := d.run.mcp.Server(one.Server); err == nil && d.run.mcp.noteTrouble(one.Server, s.State) {
			d.run.agent.Notify(ctx, agent.LevelWarning, "MCP "+one.Err.Error())
		}
	}
	if waited {
		d.run.chain.ApplyTools()
	}
	return nil
}
