package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"pi/cli/app"
	"pi/cli/config"
	"pi/cli/packages"
	"pi/internal/printable"

	"github.com/spf13/cobra"
)

const hooksPublishHelp = `Says what is missing in FOLDER, or here, before others can add it as a package: a licence,
a description, tests, a version above the last tag, what is not committed, and what pi hooks add
would refuse. Each is a line, and the exit status is 1; it is 0 if nothing is missing. Nothing is
run, written or sent: a package is published by pushing its repository with a tag.`

func hooksPublish(o *app.Options) *cobra.Command {
	var check, asJSON bool
	c := &cobra.Command{
		Use: "publish --check [FOLDER]", Short: "Say what is missing before others can add a folder as a package", Long: hooksPublishHelp,
		ValidArgsFunction: firstOnly(folders),
		Args:              usageOf(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !check {
				return app.UsageError{Err: errors.New("hooks publish wants --check: it says what is missing; a package is published by pushing its repository with a tag")}
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			candidate, missing, err := packages.Fetcher{Watcher: o.Watcher}.Check(cmd.Context(), dir, app.ReservedCommands())
			if err != nil {
				return fmt.Errorf("check the package: %w", err)
			}
			return tellCandidate(cmd, candidate, missing, asJSON)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "say what is missing; all that there is to do")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// tellCandidate says what is missing of a package, or that it is ready and how it is published.
func tellCandidate(cmd *cobra.Command, c *packages.Candidate, missing []string, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		if err := printJSON(map[string]any{"ready": len(missing) == 0, "missing": append([]string{}, missing...)}); err != nil {
			return err
		}
	} else {
		for _, line := range missing {
			fmt.Fprintln(out, printable.VisibleLine(line))
		}
	}
	switch {
	case len(missing) > 0:
		return app.ErrReported
	case asJSON:
		return nil
	}
	fmt.Fprintf(out, "ready: %s %s, %s, sum %s\n", c.Name, printable.VisibleLine(c.Manifest.Version), printable.Count(len(c.Files.Files()), "file"), c.Sum())
	fmt.Fprintln(out, "    pi test "+printable.VisibleLine(config.Tilde(c.Source.Address))+" runs its tests")
	switch {
	case c.Tag == "":
		fmt.Fprintln(out, "    it is in no repository of its own; with one, the version is held against its tags")
	case c.Tagged:
		fmt.Fprintf(out, "    it has the tag %s; git push --tags publishes it\n", c.Tag)
	default:
		fmt.Fprintf(out, "    git tag %s && git push --tags publishes it\n", c.Tag)
	}
	return nil
}
