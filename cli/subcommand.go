package cli

import (
	"fmt"
	"os"
	"strings"

	"pi/cli/app"
	"pi/internal/suggest"

	"github.com/spf13/cobra"
)

// here returns what the settings and approvals say in the working directory.
func here(o app.Options) (*app.Place, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return app.New(o, cwd)
}

// group returns a command that does nothing but hold subcommands; it shows its help.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		return app.UsageError{Err: fmt.Errorf("%s: no command %q%s\nthere are: %s", cmd.CommandPath(), args[0], suggest.Hint(args[0], names), strings.Join(names, ", "))}
	}
	c.AddCommand(below...)
	return c
}

// exactly wants n arguments; another number is a mistake in the usage.
func exactly(n int) cobra.PositionalArgs { return usageOf(cobra.ExactArgs(n)) }

// usageOf wraps the errors of check, which checks the arguments of a command, as usage
// errors.
func usageOf(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return app.UsageError{Err: fmt.Errorf("%s: %w\nusage: %s", cmd.CommandPath(), err, cmd.UseLine())}
		}
		return nil
	}
}
