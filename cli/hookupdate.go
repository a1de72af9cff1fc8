package cli

import (
	"errors"
	"fmt"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/internal/suggest"
	"pi/luahooks/examples"

	"github.com/spf13/cobra"
)

func hooksUpdate(o *app.Options) *cobra.Command {
	var a answers
	c := &cobra.Command{
		Use: "update [NAME...]", Short: "Bring hooks that were added to the version of today, after a look at the difference",
		ValidArgsFunction: packageValues(o),
		Long: "Fetches what the sources of packages have now, or those of the packages named, shows the difference, says if a\n" +
			"tag was moved or a history rewritten, and asks; the tests of a package run after the yes. What fails, or is not\n" +
			"agreed to, leaves the version that is there in force. Where no user is at a terminal, --yes takes the version\n" +
			"whose list had --sum HASH. Of the examples among your hooks, those that you have not changed become what the\n" +
			"program has.",
		RunE: func(cmd *cobra.Command, words []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			packs, others, err := cutPackages(p, words)
			if err != nil {
				return err
			}
			names, err := exampleNames(p, others)
			if err == nil {
				err = a.check("hooks update", len(packs))
			}
			if err != nil {
				return err
			}
			if added, err := addedExamples(p); err == nil && len(words) == 0 && len(packs)+len(added) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing to update: no package and no example was added")
				return nil
			}
			var ofExamples error
			if (len(words) == 0 || len(names) > 0) && !a.json && a.sum == "" {
				ofExamples = updateExamples(cmd, p, names, a.yes && !a.dryRun, a.dryRun)
			}
			return errors.Join(ofExamples, updatePackages(cmd, p, packs, &a))
		},
	}
	a.flags(c)
	return c
}

func hooksRemove(o *app.Options) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "remove NAME...", Short: "Remove hooks that were added: packages, and examples", Args: usageOf(cobra.MinimumNArgs(1)),
		ValidArgsFunction: packageValues(o),
		Long:              "Removes packages, and examples that you have not changed. Where a tool of the agent started it, nothing is removed.",
		RunE: func(cmd *cobra.Command, words []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			packs, others, err := cutPackages(p, words)
			if err != nil {
				return err
			}
			names, err := exampleNames(p, others)
			if err == nil && len(names) > 0 {
				err = removeExamples(cmd.OutOrStdout(), p, names)
			}
			if err != nil || len(packs) == 0 {
				return err
			}
			return removePackages(cmd, p, packs, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "also packages whose files were changed here")
	return c
}

// exampleNames are the names of examples, without their prefix.
func exampleNames(p *app.Place, words []string) (names []string, err error) {
	for _, word := range words {
		e, err := examples.Find(word)
		if err != nil {
			there := p.Packages().Names()
			if hint := suggest.Hint(word, there); hint != "" {
				return nil, app.UsageError{Err: fmt.Errorf("no package %q%s", printable.Short(printable.VisibleLine(word)), hint)}
			}
			return nil, app.UsageError{Err: fmt.Errorf("no package %q, and %w", printable.Short(printable.VisibleLine(word)), err)}
		}
		names = append(names, e.Name)
	}
	return names, nil
}
