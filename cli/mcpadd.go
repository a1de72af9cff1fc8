package cli

import (
	"errors"
	"fmt"

	"pi/agent/mcp"
	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

// newServer is what `pi mcp add` is told of a server.
type newServer struct {
	url          string
	env, headers []string
	description  string
	ofProject    bool
}

func mcpAdd(o *app.Options) *cobra.Command {
	var s newServer
	c := &cobra.Command{
		Use: "add NAME [flags] (--url URL | -- COMMAND [ARGUMENT...])", Short: "Add a server to your mcp.json", Args: usageOf(cobra.MinimumNArgs(1)),
		Example: "  pi mcp add files -- npx -y @modelcontextprotocol/server-filesystem .\n" +
			"  pi mcp add docs --url https://example.com/mcp --header 'Authorization=!pass show docs'\n" +
			"  pi mcp add --project tracker --env 'TOKEN=${TRACKER_TOKEN}' -- ./bin/tracker",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			if dash := cmd.ArgsLenAtDash(); dash < 0 && len(args) > 1 || dash == 0 || dash > 1 {
				return app.UsageError{Err: errors.New("mcp add: one name, and the command behind --, as in: pi mcp add files -- npx -y PACKAGE")}
			}
			return s.add(p, args[0], args[1:])
		},
	}
	c.Flags().StringVar(&s.url, "url", "", "the `URL` of a server that speaks HTTP")
	c.Flags().StringArrayVar(&s.env, "env", nil, "a variable of the server, `NAME=VALUE`; repeatable")
	c.Flags().StringArrayVar(&s.headers, "header", nil, "sent with each request, `NAME=VALUE`; repeatable")
	c.Flags().StringVar(&s.description, "description", "", "the `TEXT` that the model is told of it")
	c.Flags().BoolVar(&s.ofProject, "project", false, "to the file of this project, which counts when it is approved")
	return c
}

// add writes the entry, if it is one that can be used.
func (s *newServer) add(p *app.Place, name string, command []string) error {
	entry, err := s.entry(command)
	if err != nil {
		return app.UsageError{Err: fmt.Errorf("mcp add: %w", err)}
	}
	path, err := changeServers(p, s.ofProject, func(text []byte, path string) ([]byte, error) {
		changed, err := mcpfile.Add(text, name, entry)
		if err != nil {
			return nil, err
		}
		kind := mcp.FromUser
		if s.ofProject {
			kind = mcp.FromProject
		}
		return changed, p.CheckServer(changed, name, kind, path)
	})
	if err != nil {
		return app.UsageError{Err: err}
	}
	fmt.Printf("%s is in %s; pi mcp list connects to it\n", name, printable.VisibleLine(config.Tilde(path)))
	if s.ofProject {
		fmt.Println("it is used when the file is approved: pi trust")
	}
	return nil
}

// entry makes an entry of the flags and the command.
func (s *newServer) entry(command []string) (entry mcpfile.New, err error) {
	entry.Description, entry.URL = s.description, s.url
	switch {
	case s.url != "" && len(command) > 0:
		return entry, errors.New("a server has an address or a command, not both")
	case s.url == "" && len(command) == 0:
		return entry, errors.New("it wants --url URL, or -- and a command")
	case s.url != "":
		entry.Type = "http"
	default:
		entry.Command, entry.Args = command[0], command[1:]
	}
	if entry.Env, err = pairs(s.env); err == nil {
		entry.Headers, err = pairs(s.headers)
	}
	return entry, err
}

func pairs(list []string) (map[string]string, error) {
	all := map[string]string{}
	for _, one := range list {
		name, value, err := mcpfile.ParsePair(one)
		if err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, nil
}

func mcpRemove(o *app.Options) *cobra.Command {
	var ofProject bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove a server from your mcp.json", Args: exactly(1),
		ValidArgsFunction: firstOnly(serverValues(o)),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			was, names := false, []string(nil)
			path, err := changeServers(p, ofProject, func(text []byte, _ string) (changed []byte, err error) {
				names = mcpfile.Names(text)
				changed, was, err = mcpfile.Remove(text, args[0])
				return changed, err
			})
			switch {
			case err != nil:
				return err
			case !was:
				return app.UsageError{Err: fmt.Errorf("%s has no server %q%s", config.Tilde(path), printable.Short(args[0]), hintOf(args[0], names))}
			}
			fmt.Printf("%s is no longer in %s\n", printable.VisibleLine(args[0]), printable.VisibleLine(config.Tilde(path)))
			return nil
		},
	}
	c.Flags().BoolVar(&ofProject, "project", false, "from the file of this project")
	return c
}
