package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	var origin bool
	c := group("config", "Print the settings in force, or change one",
		&cobra.Command{
			Use: "set KEY VALUE", Short: "Write a setting into your config.toml; the rest of the file stays as it is", Args: exactly(2),
			ValidArgsFunction: settingValues(new(app.Options)),
			Example: "  pi config set thinking high\n  pi config set ui.notify bell\n  pi config set models \"anthropic/*, openai/gpt-6*\"\n" +
				"  pi config set providers.local.base_url http://localhost:8080/v1\n  pi config set max_turns -- -1   # a value that begins with a dash",
			RunE: func(_ *cobra.Command, args []string) error { return setSetting(args[0], args[1]) },
		},
		&cobra.Command{
			Use: "unset KEY", Short: "Remove a setting from your config.toml, so that it has its default", Args: exactly(1),
			ValidArgsFunction: firstOnly(settingValues(new(app.Options))),
			RunE:              func(_ *cobra.Command, args []string) error { return unsetSetting(args[0]) },
		})
	c.RunE = func(*cobra.Command, []string) error {
		p, err := here(app.Options{})
		if err != nil {
			return err
		}
		var origins config.Origins
		if origin {
			origins = p.Config.Origins
		}
		return config.Print(os.Stdout, p.Config, origins)
	}
	c.Flags().BoolVar(&origin, "origin", false, "with where each came from")
	return c
}

// setSetting writes a setting into the user's config.toml, and says so if another one
// counts here.
func setSetting(key, value string) error {
	p, err := here(app.Options{})
	if err != nil {
		return err
	}
	warnings, err := p.WriteSetting(key, value)
	if err != nil {
		return app.UsageError{Err: err}
	}
	for _, w := range warnings {
		tell("pi: " + w.Text)
	}
	file := filepath.Join(p.AgentDir, "config.toml")
	fmt.Printf("%s is set in %s\n", printable.Line(key), printable.Line(config.Tilde(file)))
	return tellOther(key, file)
}

// unsetSetting removes a setting from the user's config.toml.
func unsetSetting(key string) error {
	p, err := here(app.Options{})
	if err != nil {
		return err
	}
	was, err := p.RemoveSetting(key)
	if err != nil {
		return app.UsageError{Err: err}
	}
	file := printable.Line(config.Tilde(filepath.Join(p.AgentDir, "config.toml")))
	if !was {
		fmt.Printf("%s is not set in %s\n", printable.Line(key), file)
		return nil
	}
	fmt.Printf("%s is no longer set in %s\n", printable.Line(key), file)
	return tellOther(key, "")
}

// tellOther tells the user where the setting that is in force here comes from, if that is
// neither file nor the default.
func tellOther(key, file string) error {
	p, err := here(app.Options{})
	if err != nil {
		return err
	}
	if from := p.SettingFrom(key, file); from != "" {
		tell("pi: here " + printable.Line(key) + " is that of " + printable.Line(from))
	}
	return nil
}
