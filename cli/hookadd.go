package cli

import (
	"pi/cli/app"

	"github.com/spf13/cobra"
)

const hooksAddHelp = `Writes hooks that came with the program, each with its test, among the hooks of the
agent directory: example:NAME, of which pi hooks examples has the names. They are in force
at once, in sessions that run too.

Another file in the place of one stays, unless you say yes to the difference in a terminal,
or --replace. It is refused where a tool of the agent started it.`

// hookAdd is what the flags of pi hooks add.
type hookAdd struct {
	replace, dryRun bool
}

func hooksAdd(o *app.Options) *cobra.Command {
	var f hookAdd
	c := &cobra.Command{
		Use: "add SOURCE...", Short: "Add hooks: example:NAME is one that came with the program", Long: hooksAddHelp,
		Args: usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, sources []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			return addExamples(cmd, p, sources, f.replace, f.dryRun)
		},
	}
	c.Flags().BoolVar(&f.replace, "replace", false, "examples take the place of other hooks with their names")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be written, and write nothing")
	return c
}
