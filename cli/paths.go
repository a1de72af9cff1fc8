package cli

import (
	"fmt"
	"os"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func pathsCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "paths", Short: "Print where things are: a name, a tab and a path on each line", Args: exactly(0),
		Long: "Prints where things are, a name, a tab and a path on each line: the names that pi.paths has for hooks (agent,\n" +
			"sessions, program, project), and config, auth, mcp (settings, keys and servers of the user) and logs (of hooks).\n" +
			"A path need not be there yet.",
		Example: "  cd \"$(pi paths | sed -n 's/^sessions\\t//p')\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			var lines strings.Builder
			for _, at := range p.Locations() {
				path := at.Path
				if term.IsTerminal(int(os.Stdout.Fd())) {
					path = printable.VisibleLine(path)
				}
				fmt.Fprintf(&lines, "%s\t%s\n", at.Name, path)
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), lines.String())
			return err
		},
	}
}
