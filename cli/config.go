package cli

import (
	"os"

	"pi/cli/app"
	"pi/cli/config"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	var origin bool
	c := &cobra.Command{
		Use: "config", Short: "Print the settings in force", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(app.Options{})
			if err != nil {
				return err
			}
			var origins config.Origins
			if origin {
				origins = p.Config.Origins
			}
			return config.Print(os.Stdout, p.Config, origins)
		},
	}
	c.Flags().BoolVar(&origin, "origin", false, "with where each came from")
	return c
}
