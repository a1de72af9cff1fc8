package cli

import (
	"errors"
	"fmt"

	"pi/cli/app"
	"pi/cli/packages"
	"pi/luahooks/examples"

	"github.com/spf13/cobra"
)

const hooksAddHelp = `Adds hooks from elsewhere, each SOURCE one of:

  example:NAME       one that came with the program; pi hooks examples has the names
  FOLDER             a package, or a plugin of Claude Code
  FILE.lua           a single hook, with the test beside it
  URL[@REF]          a git repository (https, ssh, user@host:path, or a path) at a tag,
                     a branch or a whole commit

A package is fetched without running anything of it and listed file by file. After your
yes its tests run, and then it is in force, in sessions that run too. Where no user is at
a terminal, --yes takes the package whose list had --sum HASH.

An example is written at once, with its test, among the hooks of the agent directory;
another file in its place stays, unless you say yes to the difference, or --replace.
Where a tool of the agent started it, nothing is changed.`

func hooksAdd(o *app.Options) *cobra.Command {
	var a answers
	var replace bool
	c := &cobra.Command{
		Use: "add SOURCE...", Short: "Add hooks: a package from a folder or repository, a file, or example:NAME", Long: hooksAddHelp,
		ValidArgsFunction: orFiles(exampleValues(examples.Prefix)),
		Args:              usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			sources, examples, err := sourcesOf(p, words)
			if err == nil {
				err = a.check("hooks add", len(sources))
			}
			switch {
			case err != nil:
				return err
			case replace && len(examples) == 0:
				return app.UsageError{Err: errors.New("hooks add: --replace is for examples; another version of a package asks by itself")}
			}
			if len(examples) > 0 {
				if err := addExamples(cmd, p, examples, replace, a.dryRun); err != nil {
					return err
				}
			}
			return addPackages(cmd, p, sources, &a)
		},
	}
	c.Flags().BoolVar(&replace, "replace", false, "examples take the place of other hooks with their names")
	a.flags(c)
	return c
}

// sourcesOf takes apart what is to be added. Examples are hooks of the program, all else is a package.
func sourcesOf(p *app.Place, words []string) (sources []packages.Source, examples []string, err error) {
	for _, word := range words {
		s, err := packages.ParseSource(word, p.Cwd, packages.LookAt)
		switch {
		case err != nil:
			return nil, nil, app.UsageError{Err: fmt.Errorf("hooks add: %w", err)}
		case s.Kind == packages.Example:
			examples = append(examples, s.Address)
		default:
			sources = append(sources, s)
		}
	}
	return sources, examples, nil
}
