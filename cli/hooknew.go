package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/starter"

	"github.com/spf13/cobra"
)

const hooksNewHelp = `Writes a short hook that works, and its test, into the hooks of the agent
directory, for you to change. A file that is there is never changed.

The kinds are: %s.`

func hooksNew(o *app.Options) *cobra.Command {
	s := starter.Starter{}
	c := &cobra.Command{
		Use: "new NAME", Short: "Write a first version of a hook, and its test", Long: fmt.Sprintf(hooksNewHelp, strings.Join(starter.Kinds(), ", ")),
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.Name = strings.TrimSuffix(args[0], ".lua")
			if err := s.Check(app.ReservedCommands()); err != nil {
				return app.UsageError{Err: fmt.Errorf("hooks new: %w", err)}
			}
			p, err := here(*o)
			if err != nil {
				return err
			}
			s.Dir = p.Places().GlobalDir()
			if err := s.Write(); err != nil {
				return err
			}
			tellNew(cmd.OutOrStdout(), p, s)
			return nil
		},
	}
	c.Flags().StringVar(&s.Kind, "kind", starter.Kinds()[0], "one of "+strings.Join(starter.Kinds(), ", "))
	return c
}

// tellNew says what was written and how to try it.
func tellNew(out io.Writer, p *app.Place, s starter.Starter) {
	shown := func(path string) string { return printable.VisibleLine(config.Tilde(path)) }
	rows := [][2]string{
		{shown(s.Test()), "its test"},
		{shown(s.Hook()), "the hook; in force from now on, in sessions that run too"},
		{"pi test " + shown(s.Test()), "runs the test, with --watch on each save"},
		{"pi hooks check " + shown(s.Hook()), "says what it does, and what is wrong with it"},
	}
	if slices.Contains([]string{"gate", "context"}, s.Kind) {
		rows = append(rows, [2]string{"pi hooks replay " + s.Name + " --all", "says what it would have done in recorded sessions"})
	}
	if s.Kind == "model" {
		rows = append(rows, [2]string{"pi --model " + s.Name + "/parrot", "is a session with it"})
	}
	if _, err := os.Stat(filepath.Join(p.AgentDir, "types")); err != nil {
		rows = append(rows, [2]string{"pi hooks types", "lets an editor complete and check hooks; to be run once"})
	}
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(out, "%-*s   %s\n", width, row[0], row[1])
	}
}
