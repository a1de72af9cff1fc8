package cli

import (
	"os"

	"pi/cli/app"
	"pi/cli/config"

	"github.com/spf13/cobra"
)

// printSettings prints what is in force.
func printSettings(cfg config.Config, origin bool) error {
	if origin {
		return config.Print(os.Stdout, cfg, cfg.Origins)
	}
	return config.Print(os.Stdout, cfg, nil)
}

func configCommand() *cobra.Command {
	var origin bool
	c := &cobra.Command{
		Use: "config", Short: "Print the settings in force", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(app.Options{})
			if err != nil {
				return err
			}
			return printSettings(p.Config, origin)
		},
	}
	c.Flags().BoolVar(&origin, "origin", false, "with where each came from")
	return c
}
