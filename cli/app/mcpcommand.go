package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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

	// reread brings the servers in line with the files that configure them, all or one, and says
	// what has changed.
	reread func(ctx context.Context, only string) []string
}

// mcpCommands returns /mcp.
func (r *run) mcpCommands(ui agent.UI) []command.Command {
	m := &mcpCommands{servers: r.mcp.Servers, logins: r.logins, ui: ui, apply: r.chain.ApplyTools,
		reread: func(ctx context.Context, only string) []string { return r.readServersAgain(ctx, ui, only) }}
	return m.list()
}

// list returns /mcp.
func (m *mcpCommands) list() []command.Command {
	return []command.Command{{
		Name: "mcp", Args: "[name | login|logout|refresh|on|off name]", Help: "list the MCP servers, tell about one, or do something about one",
		More: "login signs you in to a server, in a browser. refresh reads mcp.json again, lists the tools anew and accepts those that\n" +
			"changed.\non and off hold for this session; pi mcp, in a shell, adds and removes servers.",
		Complete: m.complete,
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			if args == "" {
				if status, ok, err := actOnRows(ctx, m.ui, m.view, m.do); ok {
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

// refresh reads how a server is configured, lists its tools anew, or those of all that are on, and
// says what that costs. That one of several cannot be used is no error.
func (m *mcpCommands) refresh(ctx context.Context, name string) (string, error) {
	rows := m.reread(ctx, name)
	defer m.apply() // of one that is gone too
	names := []string{name}
	if name == "" {
		names = ServersOn(m.servers)
	}
	listed, failed := RefreshServers(ctx, m.servers, names)
	rows = append(rows, listed...)
	for _, err := range failed {
		rows = append(rows, err.Error())
	}
	switch {
	case len(failed) > 0 && len(listed) == 0:
		return "", errors.New(strings.Join(rows, "\n"))
	case len(rows) == 0:
		return noServers, nil
	}
	return strings.Join(rows, "\n"), nil
}

// ServersOn are the names of the servers that are not turned off.
func ServersOn(servers *mcp.Servers) (names []string) {
	for _, s := range servers.List() {
		if s.State != mcp.StateOff {
			names = append(names, s.Entry.Name)
		}
	}
	return names
}

// RefreshServers starts servers anew, side by side, and accepts what they list. The rows say what
// each has and what that costs; of those that failed there are errors instead.
func RefreshServers(ctx context.Context, servers *mcp.Servers, names []string) (rows []string, failed []error) {
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { errs[i] = servers.Refresh(ctx, name) })
	}
	all.Wait()
	for i, name := range names {
		s, err := servers.Server(name)
		if err = cmp.Or(errs[i], err); err != nil {
			failed = append(failed, err)
			continue
		}
		rows = append(rows, fmt.Sprintf("%s: %s%s", name, printable.Count(s.Tools, "tool"), ServerCost(s)))
	}
	return rows, failed
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
		rows = append(rows, strings.TrimRight(fmt.Sprintf("%-16s %-8s %s", s.Entry.Name, s.State, about(s)), " "))
	}
	if len(rows) == 0 {
		return noServers
	}
	return strings.Join(rows, "\n")
}

const noServers = "there are no MCP servers; pi mcp add and pi mcp import configure some, and /mcp refresh reads them"

// about is how a server is offered, what it has, what that costs, where it comes from and what is
// wrong with it.
func about(s mcp.Status) string {
	parts := []string{string(s.Exposure)}
	if s.Known {
		parts = append(parts, printable.Count(s.Tools, "tool")+ServerCost(s))
	}
	parts = append(parts, sourceText(s.Entry.Source))
	if wrong := wrongWith(s); wrong != "" {
		parts = append(parts, wrong)
	}
	return printable.VisibleLine(strings.Join(parts, " · "))
}

// wrongWith is what is wrong with a server, or has changed in it; "" for nothing.
func wrongWith(s mcp.Status) string {
	var parts []string
	if s.Err != nil {
		parts = append(parts, printable.Line(s.Err.Error()))
	}
	if n := len(s.Changes); n > 0 {
		parts = append(parts, printable.Count(n, "changed tool"))
	}
	return strings.Join(parts, " · ")
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
	rows := []string{fmt.Sprintf("%s · %s · %s", s.Entry.Name, s.State, about(s)), mcpfile.Line(s.Entry)}
	if state := m.logins.State(*s.Entry); state != "" {
		rows = append(rows, state)
	}
	rows = append(rows, m.has(s)...)
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

// mostShown is how many tools and prompts of a server are shown in a session.
const mostShown = 100

// has are the tools of a server and the commands of its prompts, as far as they are known, each in a
// row.
func (m *mcpCommands) has(s mcp.Status) (rows []string) {
	name := s.Entry.Name
	row := func(what, how, about string) {
		rows = append(rows, strings.TrimRight(fmt.Sprintf("  %-24s %-6s %s", what, how, printable.FirstLine(about, 90)), " "))
	}
	for _, t := range m.servers.Known(name) {
		row(t.Tool, string(t.Exposure), t.Description)
	}
	for _, p := range m.servers.Prompts() {
		if p.Server == name {
			row("/"+promptPrefix+name+":"+typable(p.Name), "prompt", cmp.Or(p.Description, p.Title))
		}
	}
	if more := len(rows) - mostShown; more > 0 {
		rows = append(rows[:mostShown], fmt.Sprintf("  and %d more, all with `pi mcp tools %s`", more, name))
	}
	switch {
	case s.Resources > 0:
		rows = append(rows, "  "+printable.Count(s.Resources, "resource"))
	case !s.Known && s.State != mcp.StateOff:
		rows = append(rows, "what it has is not known before it has run; /mcp refresh "+name+" starts it")
	}
	return rows
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

// What can be done with a row of the list, by the words of /mcp.
const doTools = "tools"

func waysOf(word string) agent.Choice {
	means := map[string]string{
		doTools: "show its tools and all there is to know about it", "login": "sign in to it", "logout": "forget what you are signed in with",
		"refresh": "read its entry and list its tools anew, and accept those that changed", "on": "turn it on in this session", "off": "turn it off in this session"}
	return agent.Choice{Value: word, Description: means[word]}
}

// do does what the user wants with a row of the list, see [actOnRows].
func (m *mcpCommands) do(ctx context.Context, x command.Pressed, said string) (status string, ended bool, err error) {
	s, err := m.servers.Server(x.Row)
	if err != nil {
		return err.Error(), false, nil
	}
	ways := []agent.Choice{waysOf(doTools), waysOf("refresh"), waysOf("off")}
	if s.State == mcp.StateOff {
		ways = []agent.Choice{waysOf(doTools), waysOf("on"), waysOf("refresh")}
	}
	if s.Entry.IsHTTP() {
		ways = append(ways, waysOf("login"))
		if m.logins.State(*s.Entry) != "" {
			ways = append(ways, waysOf("logout"))
		}
	}
	way, ok, err := m.ui.Select(ctx, s.Entry.Name+" · "+string(s.State), ways, agent.DialogOptions{})
	if err != nil || !ok || len(way) != 1 {
		return said, false, err
	}
	if way[0] == doTools {
		status, err = m.describe(s.Entry.Name)
		return status, true, err
	}
	status, err = m.run(ctx, way[0]+" "+s.Entry.Name)
	return status, false, err
}

// view is the list as it is now.
func (m *mcpCommands) view() command.ListView {
	all := m.servers.List()
	v := command.ListView{Title: fmt.Sprintf("MCP servers · %d", len(all)), Right: "type to filter", Enter: "choose"}
	for _, s := range all {
		exposure, tools := string(s.Exposure), ""
		if s.Known {
			tools = printable.Count(s.Tools, "tool")
		}
		if s.Direct > 0 {
			tools += fmt.Sprintf(", %d direct: %s tokens", s.Direct, printable.Grouped(s.Tokens))
		}
		v.Rows = append(v.Rows, command.Row{ID: s.Entry.Name, Columns: []string{s.Entry.Name, string(s.State), exposure, tools, string(s.Entry.Source.Kind)},
			Description: printable.VisibleLine(cmp.Or(wrongWith(s), s.Description)), Search: s.Description, Dim: s.State == mcp.StateOff})
	}
	return v
}
