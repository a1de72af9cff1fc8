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

The kinds are: %s.

With --draft both are written into the drafts of the agent directory, where nothing
is loaded or watched: of a hook that is there they are copies. pi test tries a draft,
and /hooks adopt NAME, or pi hooks adopt NAME, puts it in force after a look at it.`

func hooksNew(o *app.Options) *cobra.Command {
	s, draft := starter.Starter{}, false
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
			if draft {
				if s.CopyOf = hookToCopy(p, s); s.CopyOf != "" && cmd.Flags().Changed("kind") {
					return app.UsageError{Err: fmt.Errorf("hooks new: %s is a hook already, so its draft begins as a copy of it, without --kind", s.Name)}
				}
				s.Dir = p.Places().DraftsDir()
			}
			if err := s.Write(); err != nil {
				return err
			}
			tellNew(cmd.OutOrStdout(), p, s, draft)
			return nil
		},
	}
	c.Flags().BoolVar(&draft, "draft", false, "beside the hooks, not in force until it is adopted")
	c.Flags().StringVar(&s.Kind, "kind", starter.Kinds()[0], "the `KIND`: "+strings.Join(starter.Kinds(), ", "))
	flagValues(c, "kind", among(starter.Kinds))
	return c
}

// hookToCopy is the folder of hooks, if the user has a hook of the name there; "" for none.
func hookToCopy(p *app.Place, s starter.Starter) string {
	dir := p.Places().GlobalDir()
	if _, err := os.Lstat(filepath.Join(dir, s.Name+".lua")); err != nil {
		return ""
	}
	return dir
}

// tellNew says what was written and how to try it.
func tellNew(out io.Writer, p *app.Place, s starter.Starter, draft bool) {
	shown := func(path string) string { return printable.VisibleLine(config.Tilde(path)) }
	state := "the hook; in force from now on, in sessions that run too"
	if draft {
		state = "the draft; not in force"
	}
	rows := [][2]string{
		{shown(s.Test()), "its test"},
		{shown(s.Hook()), state},
		{"pi test " + shown(s.Test()), "runs the test, with --watch on each save"},
		{"pi hooks check " + shown(s.Hook()), "says what it does, and what is wrong with it"},
	}
	switch {
	case draft:
		rows = append(rows, [2]string{"/hooks adopt " + s.Name, "typed in a session, shows it and puts it in force"},
			[2]string{"pi hooks adopt " + s.Name, "does so in a terminal"})
	case slices.Contains([]string{"gate", "context"}, s.Kind):
		rows = append(rows, [2]string{"pi hooks replay " + s.Name + " --all", "says what it would have done in recorded sessions"})
	case s.Kind == "model":
		rows = append(rows, [2]string{"pi --model " + s.Name + "/parrot", "is a session with it"})
	case s.Kind == "provider":
		rows = append(rows, [2]string{"pi --model " + s.Name + "/small", "is a session with it"})
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
