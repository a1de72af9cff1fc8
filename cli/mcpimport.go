package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/mcpfile"
	"pi/internal/printable"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func mcpImport(o *app.Options) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "import [NAME...]", Short: "Take servers that other programs have configured into your mcp.json", Args: cobra.ArbitraryArgs,
		Long: `Shows the servers that other programs have configured: Claude Code, Cursor, VS Code and
codex, for you and for this directory. Those that are named are added to your
mcp.json; without names you are asked about each. Nothing of theirs is changed, and
their secrets are not shown.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			i := importing{place: p, names: args, all: all, asks: len(args) == 0 && !all && term.IsTerminal(int(os.Stdin.Fd())), user: app.Terminal()}
			return i.run(cmd.Context())
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all that can be taken")
	return c
}

// importing is one `pi mcp import`.
type importing struct {
	place *app.Place
	names []string
	all   bool
	asks  bool
	user  app.User

	added int
}

// run shows what others have and adds what is chosen.
func (i *importing) run(ctx context.Context) error {
	found := mcpfile.Foreign(i.place.ForeignPlaces())
	var missing, failed []error
	for _, name := range i.names {
		if !slices.ContainsFunc(found, func(f mcpfile.Found) bool { return f.Name == name }) {
			missing = append(missing, app.UsageError{Err: fmt.Errorf("mcp import: no other program has a server %q", printable.Short(name))})
		}
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	for _, f := range found {
		if len(i.names) > 0 && !slices.Contains(i.names, f.Name) {
			continue
		}
		i.show(f)
		if f.Problem == "" && i.isChosen(ctx, f) {
			failed = append(failed, i.add(f))
		}
	}
	switch {
	case len(found) == 0:
		fmt.Println("no servers of other programs were found")
	case i.added == 0 && !i.asks && len(i.names) == 0 && !i.all:
		fmt.Println("pi mcp import NAME takes one, --all takes all")
	}
	return errors.Join(failed...)
}

// show prints what another program has.
func (i *importing) show(f mcpfile.Found) {
	fmt.Println(strings.TrimSpace(printable.VisibleLine(f.Name) + "  " + printable.VisibleLine(f.Line)))
	fmt.Println("    of " + printable.VisibleLine(config.Tilde(f.Path)))
	for _, row := range f.Rows {
		fmt.Println("    " + printable.VisibleLine(row))
	}
	if f.Problem != "" {
		fmt.Println("    not taken: " + printable.VisibleLine(f.Problem))
	}
}

// isChosen reports whether a server is to be taken.
func (i *importing) isChosen(ctx context.Context, f mcpfile.Found) bool {
	if !i.asks {
		return i.all || slices.Contains(i.names, f.Name)
	}
	answer, err := i.user.Ask(ctx, "    take it? [y/N] ")
	return err == nil && (strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"))
}

// add writes a server into the user's file, unless there is one of its name.
func (i *importing) add(f mcpfile.Found) error {
	path, err := changeServers(i.place, false, func(text []byte, _ string) ([]byte, error) { return mcpfile.Add(text, f.Name, f.Entry) })
	if errors.Is(err, mcpfile.ErrThere) {
		fmt.Println("    not taken: you have a server of this name")
		return nil
	}
	if err == nil {
		i.added++
		fmt.Println("    is in " + printable.VisibleLine(config.Tilde(path)))
	}
	return err
}
