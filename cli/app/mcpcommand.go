package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/mcp"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/cli/mcplogin"
	"pi/internal/printable"
)

// mcpCommands are what a user does about servers in a session.
type mcpCommands struct {
	servers *mcp.Servers
	logins  *mcplogin.Logins
	ui      agent.UI
	apply   func() // gives the model the tools as they are now
}

// mcpCommands returns /mcp.
func (r *run) mcpCommands(ui agent.UI) []command.Command {
	m := &mcpCommands{servers: r.mcp.Servers, logins: r.logins, ui: ui, apply: r.chain.ApplyTools}
	return m.list()
}

// list returns /mcp.
func (m *mcpCommands) list() []command.Command {
	return []command.Command{{
		Name: "mcp", Args: "[name | login|logout|refresh|on|off name]", Help: "list the MCP servers, tell about one, or do something about one",
		More:     "login signs you in to a server, in a browser. refresh lists its tools anew and accepts those that changed.\non and off hold for this session; pi mcp, in a shell, adds and removes servers.",
		Complete: m.complete,
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			if args == "" {
				if status, ok, err := m.pick(ctx); ok {
					return command.Outcome{Status: status}, err
				}
			}
			status, err := m.run(ctx, args)
			return command.Outcome{Status: status}, err
		},
	}}
}

func mcpActions() []string { return []string{"login", "logout", "refresh", "on", "off"} }

// complete returns what the words behind /mcp can be completed to: an action or a server, or behind
// an action a server.
func (m *mcpCommands) complete(prefix string) []string {
	action, _, second := strings.Cut(prefix, " ")
	var words []string
	if !second {
		words = mcpActions()
	}
	for _, s := range m.servers.List() {
		if second {
			words = append(words, action+" "+s.Entry.Name)
		} else {
			words = append(words, s.Entry.Name)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, prefix) })
}

// run carries out /mcp and returns the text for the user.
func (m *mcpCommands) run(ctx context.Context, args string) (string, error) {
	action, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	switch {
	case action == "":
		return m.describeAll(), nil
	case !slices.Contains(mcpActions(), action):
		return m.describe(args)
	case name == "" && action != "refresh":
		return "", fmt.Errorf("/mcp %s wants the name of a server; /mcp lists them", action)
	}
	switch action {
	case "login":
		return m.login(ctx, name)
	case "logout":
		return m.logout(name)
	case "refresh":
		return m.refresh(ctx, name)
	}
	if err := m.servers.SetOn(name, action == "on"); err != nil {
		return "", err
	}
	m.apply()
	return fmt.Sprintf("%s is %s in this session", name, action), nil
}

// login signs the user in, after which the session uses the server at once.
func (m *mcpCommands) login(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	state, err := SignInTo(ctx, m.servers, m.logins, name, signsInBy(m.ui, cancel))
	if errors.Is(err, errGivenUp) {
		return "not signed in to " + name, nil
	}
	if err != nil {
		return "", err
	}
	m.apply()
	return name + ": " + state, nil
}

func (m *mcpCommands) logout(name string) (string, error) {
	was, err := m.logins.SignOut(name)
	switch {
	case err != nil:
		return "", err
	case !was:
		return "you are not signed in to " + name, nil
	}
	_ = m.servers.SignedIn(name) // it ends what is open; one that is gone has nothing open
	return name + ": the login is forgotten here", nil
}

// refresh lists the tools of a server anew, or of all that are on, and says what that costs.
func (m *mcpCommands) refresh(ctx context.Context, name string) (string, error) {
	var rows []string
	var failed []error
	for _, s := range m.servers.List() {
		if name == "" && s.State == mcp.StateOff || name != "" && s.Entry.Name != name {
			continue
		}
		if err := m.servers.Refresh(ctx, s.Entry.Name); err != nil {
			failed = append(failed, err)
			continue
		}
		now, err := m.servers.Server(s.Entry.Name)
		if err != nil {
			return "", err
		}
		rows = append(rows, fmt.Sprintf("%s: %s%s", s.Entry.Name, printable.Count(now.Tools, "tool"), ServerCost(now)))
	}
	if len(rows)+len(failed) == 0 {
		_, err := m.servers.Server(name)
		return "there are no servers", err
	}
	m.apply()
	return strings.Join(rows, "\n"), errors.Join(failed...)
}

// ServerCost says what the direct tools of a server cost with each request; "" for none.
func ServerCost(s mcp.Status) string {
	if s.Direct == 0 {
		return ""
	}
	return fmt.Sprintf(", %d direct for %s tokens with each request", s.Direct, printable.Grouped(s.Tokens))
}

// describeAll is the list of the servers as text.
func (m *mcpCommands) describeAll() string {
	var rows []string
	for _, s := range m.servers.List() {
		rows = append(rows, strings.TrimRight(fmt.Sprintf("%-16s %-8s %s", s.Entry.Name, s.State, m.about(s)), " "))
	}
	if len(rows) == 0 {
		return "there are no MCP servers; pi mcp add and pi mcp import configure some"
	}
	return strings.Join(rows, "\n")
}

// about is what a server has, what that costs, where it comes from and what is wrong with it.
func (m *mcpCommands) about(s mcp.Status) string {
	parts := []string{string(exposureOf(s.Entry))}
	if s.Known {
		parts = append(parts, printable.Count(s.Tools, "tool")+ServerCost(s))
	}
	parts = append(parts, sourceText(s.Entry.Source))
	if s.Err != nil {
		parts = append(parts, printable.Line(s.Err.Error()))
	}
	if n := len(s.Changes); n > 0 {
		parts = append(parts, printable.Count(n, "changed tool"))
	}
	return printable.VisibleLine(strings.Join(parts, " · "))
}

func exposureOf(e *mcp.Entry) mcp.Exposure {
	if e.Exposure == "" {
		return mcp.Search
	}
	return e.Exposure
}

// sourceText says where an entry comes from.
func sourceText(s mcp.Source) string {
	s.Path = config.Tilde(s.Path)
	return s.String()
}

// describe tells all there is to know of one server, without starting it.
func (m *mcpCommands) describe(name string) (string, error) {
	s, err := m.servers.Server(name)
	if err != nil {
		return "", err
	}
	rows := []string{fmt.Sprintf("%s · %s · %s", s.Entry.Name, s.State, m.about(s)), mcpfile.Line(s.Entry)}
	if state := m.logins.State(*s.Entry); state != "" {
		rows = append(rows, state)
	}
	for _, t := range m.servers.Known(name) {
		rows = append(rows, strings.TrimRight(fmt.Sprintf("  %-24s %-6s %s", t.Tool, t.Exposure, printable.FirstLine(t.Description, 90)), " "))
	}
	for _, c := range s.Changes {
		rows = append(rows, "changed: "+describeChange(c))
	}
	for _, left := range s.LeftOut {
		rows = append(rows, "left out: "+left)
	}
	if len(s.Stderr) > 0 {
		rows = append(rows, "it wrote last:")
		for _, row := range s.Stderr {
			rows = append(rows, "  "+row)
		}
	}
	for i := range rows {
		rows[i] = printable.VisibleLine(rows[i])
	}
	return strings.Join(rows, "\n"), nil
}

// describeChange says how a tool differs from what it was.
func describeChange(c mcp.Change) string {
	switch {
	case c.Before == nil:
		return c.Tool + " is new"
	case c.After == nil:
		return c.Tool + " is gone"
	case c.Before.Description != c.After.Description:
		return fmt.Sprintf("%s said %q, and says %q", c.Tool, printable.Cut(printable.Line(c.Before.Description), 200), printable.Cut(printable.Line(c.After.Description), 200))
	}
	return c.Tool + " has other arguments, or claims other things of itself"
}

// mcpList is the list of servers in a terminal with arrows.
type mcpList struct {
	*mcpCommands
	ctx   context.Context // dialogs in it stand above the list
	panel command.List
	said  string // what was done last
}

// What can be done with a row of the list.
const (
	doTell    = "show its tools and all there is to know about it"
	doLogin   = "sign in to it"
	doLogout  = "forget what you are signed in with"
	doRefresh = "list its tools anew, and accept those that changed"
	doOn      = "turn it on in this session"
	doOff     = "turn it off in this session"
)

// pick shows the servers until the user leaves the list, or asks for more than fits there. ok is
// false where there is no such list, or no server.
func (m *mcpCommands) pick(ctx context.Context) (status string, ok bool, err error) {
	p := &mcpList{mcpCommands: m}
	v := p.view()
	if len(v.Rows) == 0 {
		return "", false, nil
	}
	p.ctx, p.panel = command.OpenList(ctx, m.ui, v)
	if p.panel == nil {
		return "", false, nil
	}
	defer p.panel.Close()
	for {
		x, err := p.panel.Next()
		if err != nil || x.Key == "" {
			return p.said, true, err
		}
		status, ended, err := p.do(x)
		if err != nil && ctx.Err() == nil {
			status, err = err.Error(), nil
		}
		if err != nil || ended {
			return status, true, err
		}
		p.said = status
		p.panel.Show(p.view())
	}
}

// do does what the user wants with a row. ended is true if status is for the transcript.
func (p *mcpList) do(x command.Pressed) (status string, ended bool, err error) {
	s, err := p.servers.Server(x.Row)
	if err != nil {
		return err.Error(), false, nil
	}
	ways := []string{doTell, doRefresh, doOff}
	if s.State == mcp.StateOff {
		ways = []string{doTell, doOn}
	}
	if s.Entry.IsHTTP() {
		ways = append(ways, doLogin)
		if p.logins.State(*s.Entry) != "" {
			ways = append(ways, doLogout)
		}
	}
	way, ok, err := p.ui.Select(p.ctx, s.Entry.Name+" · "+string(s.State), agent.Choices(ways...), agent.DialogOptions{})
	if err != nil || !ok || len(way) != 1 {
		return p.said, false, err
	}
	if way[0] == doTell {
		status, err = p.describe(s.Entry.Name)
		return status, true, err
	}
	words := map[string]string{doLogin: "login ", doLogout: "logout ", doRefresh: "refresh ", doOn: "on ", doOff: "off "}
	status, err = p.run(p.ctx, words[way[0]]+s.Entry.Name)
	return status, false, err
}

// view is the list as it is now: below the title stands what was done last.
func (p *mcpList) view() command.ListView {
	all := p.servers.List()
	v := command.ListView{Title: fmt.Sprintf("MCP servers · %d", len(all)), Right: "type to filter", Enter: "choose"}
	if p.said != "" {
		v.Title += "\n" + p.said
	}
	for _, s := range all {
		v.Rows = append(v.Rows, command.Row{ID: s.Entry.Name, Columns: []string{s.Entry.Name, string(s.State), p.about(s)}, Description: printable.VisibleLine(s.Description), Dim: s.State == mcp.StateOff})
	}
	return v
}
