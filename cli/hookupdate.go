package cli

import (
	"pi/cli/app"
	"pi/luahooks/examples"

	"github.com/spf13/cobra"
)

func hooksUpdate(o *app.Options) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "update [NAME...]", Short: "Bring hooks that were added to the version of today, after a look at the difference",
		Long: "Looks whether the program has a newer version of the examples among your hooks, shows the difference, and asks.\n" +
			"Those that you have changed stay as they are.",
		RunE: func(cmd *cobra.Command, sources []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			names, err := exampleNames(sources)
			if err != nil {
				return err
			}
			return updateExamples(cmd, p, names, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "take what is newer, without a question")
	return c
}

func hooksRemove(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME...", Short: "Remove hooks that were added", Args: usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, sources []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			names, err := exampleNames(sources)
			if err != nil {
				return err
			}
			return removeExamples(cmd.OutOrStdout(), p, names)
		},
	}
}

// exampleNames are the names of examples, without their prefix.
func exampleNames(sources []string) (names []string, err error) {
	for _, s := range sources {
		e, err := examples.Find(s)
		if err != nil {
			return nil, app.UsageError{Err: err}
		}
		names = append(names, e.Name)
	}
	return names, nil
}
