package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pi/agent/mcp"
	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/cli/mcplogin"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

func mcpCommand(o *app.Options) *cobra.Command {
	return group("mcp", "List, add and remove MCP servers, sign in to them, and call their tools",
		mcpList(o), mcpTools(o), mcpCall(o), mcpAdd(o), mcpRemove(o), mcpImport(o), mcpLogin(o), mcpLogout(o), mcpRefresh(o))
}

// listTime is how long `pi mcp list` waits for servers.
const listTime = 10 * time.Second

// mcpPlace is a place with the servers that may be used in it.
type mcpPlace struct {
	*app.Place
	configured app.MCPServers
	logins     *mcplogin.Logins
	servers    *mcp.Servers
}

// openMCP opens the servers of the working directory, and says what is wrong with their files. The
// caller closes them.
func openMCP(o *app.Options) (*mcpPlace, error) {
	endInOrder(o)
	p, err := here(*o)
	if err != nil {
		return nil, err
	}
	m := &mcpPlace{Place: p, configured: p.ServersAtStart(nil), logins: p.Logins("")}
	for _, problem := range m.configured.Problems {
		tell(config.Tilde(problem.File) + strings.TrimPrefix(problem.String(), problem.File))
	}
	if files := m.configured.Unapproved(); len(files) > 0 {
		tell("MCP servers of this project not used, not approved; `pi trust` shows and approves them")
	}
	if !p.Config.MCP.Enabled {
		tell("[mcp] enabled = false in config.toml: there are no servers")
	}
	m.servers = p.OpenServers(m.configured.Entries, m.logins)
	return m, nil
}

// endInOrder makes Ctrl+C the end of the context, so that servers are told of it and ended.
func endInOrder(o *app.Options) {
	if o.CatchInterrupts != nil {
		o.CatchInterrupts()
	}
}

// entry returns the entry of a server; the error is a usage error.
func (m *mcpPlace) entry(name string) (mcp.Entry, error) {
	status, err := m.servers.Server(name)
	if err != nil {
		return mcp.Entry{}, app.UsageError{Err: err}
	}
	return *status.Entry, nil
}

// listedServer is a server in `pi mcp list --json`.
type listedServer struct {
	Name      string       `json:"name"`
	State     mcp.State    `json:"state"`
	Exposure  mcp.Exposure `json:"exposure"`
	Source    string       `json:"source"`
	Server    string       `json:"server"` // command or address, without secrets
	Protocol  string       `json:"protocol,omitempty"`
	Tools     int          `json:"tools"`
	Resources int          `json:"resources"`
	Prompts   int          `json:"prompts"`
	Login     string       `json:"login,omitempty"`
	Error     string       `json:"error,omitempty"`
}

func mcpList(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "Connect to all servers and say what they have; status 1 if one cannot be used", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := openMCP(o)
			if err != nil {
				return err
			}
			defer m.servers.Close()
			m.connect(cmd.Context())
			return m.print(asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// connect starts all servers that are not turned off, side by side, and gives up after a while.
func (m *mcpPlace) connect(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime, fmt.Errorf("no answer within %v", listTime))
	defer cancel()
	var all sync.WaitGroup
	for _, s := range m.servers.List() {
		if s.State != mcp.StateOff {
			all.Go(func() { _, _, _, _ = m.servers.Definitions(ctx, s.Entry.Name) }) // the list has what came of it
		}
	}
	all.Wait()
}

// print writes the list of the servers. The error says that one of them cannot be used.
func (m *mcpPlace) print(asJSON bool) error {
	listed, failed := []listedServer{}, 0
	for _, s := range m.servers.List() {
		one := listedServer{Name: s.Entry.Name, State: s.State, Exposure: s.Entry.Exposure, Source: sourceOf(s.Entry.Source), Server: mcpfile.Line(s.Entry), Protocol: s.Version,
			Tools: s.Tools, Resources: s.Resources, Prompts: s.Prompts, Login: m.logins.State(*s.Entry)}
		if one.Exposure == "" {
			one.Exposure = mcp.Search
		}
		if s.Err != nil && !s.Entry.Disabled {
			one.Error = s.Err.Error()
			failed++
		} else if s.State != mcp.StateReady && s.State != mcp.StateOff {
			one.Error = fmt.Sprintf("no answer within %v", listTime)
			failed++
		}
		listed = append(listed, one)
	}
	if asJSON {
		if err := printJSON(listed); err != nil {
			return err
		}
	} else {
		printServers(listed)
	}
	if failed > 0 {
		return app.ErrReported
	}
	return nil
}

// sourceOf says where an entry comes from.
func sourceOf(s mcp.Source) string {
	s.Path = config.Tilde(s.Path)
	return s.String()
}

// printServers writes the list for people.
func printServers(listed []listedServer) {
	if len(listed) == 0 {
		fmt.Println("no MCP servers are configured; pi mcp add and pi mcp import do that")
	}
	for _, s := range listed {
		fmt.Printf("%-16s %-8s %-6s %-10s %s\n", s.Name, s.State, s.Exposure, printable.Count(s.Tools, "tool"), printable.VisibleLine(s.Server))
		for _, row := range []string{s.Error, s.Login, s.Source} {
			if row != "" {
				fmt.Println("    " + printable.VisibleLine(row))
			}
		}
	}
}

func mcpRefresh(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "refresh [NAME]", Short: "List the tools of servers anew, and accept those that changed", Args: usageOf(cobra.MaximumNArgs(1)),
		ValidArgsFunction: firstOnly(serverValues(o)),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := openMCP(o)
			if err != nil {
				return err
			}
			defer m.servers.Close()
			names := args
			if len(names) == 0 {
				names = app.ServersOn(m.servers)
			} else if _, err := m.entry(names[0]); err != nil {
				return err
			}
			rows, failed := app.RefreshServers(cmd.Context(), m.servers, names)
			for _, row := range rows {
				fmt.Println(row)
			}
			return errors.Join(failed...)
		},
	}
}

// errPendingServers says that the file of servers has changes that nobody approved.
var errPendingServers = errors.New("mcp.json was changed while the agent was at work (or pi had not ended in order) and waits for approval: `pi trust` shows the change and asks")

// changeServers edits the file of the user's servers, or that of the project, and returns it.
func changeServers(p *app.Place, ofProject bool, edit func(text []byte, path string) ([]byte, error)) (path string, err error) {
	path = mcpfile.UserFile(p.AgentDir)
	if ofProject {
		files := mcpfile.ProjectFiles(p.Cwd)
		path = files[0]
		if i := slices.IndexFunc(files, func(file string) bool { _, err := os.Stat(file); return err == nil }); i >= 0 {
			path = files[i]
		}
	}
	if p.Guard.IsPending(path) {
		return path, errPendingServers
	}
	if err := mcpfile.Change(path, func(text []byte) ([]byte, error) { return edit(text, path) }); err != nil {
		return path, fmt.Errorf("change %s: %w", config.Tilde(path), err)
	}
	return path, nil
}
