package cli

import (
	"fmt"
	"io"
	"strings"

	"pi/cli/app"
	"pi/docs"

	"github.com/spf13/cobra"
)

const docsHelp = `Prints the guides that are inside of the program: without a name a list of them, with one
the whole guide, or what --section names of it: a heading, its beginning or a word of it,
a function such as pi.spawn, or a type such as pi.ExecResult.`

func docsCommand() *cobra.Command {
	var sections []string
	var list bool
	c := &cobra.Command{
		Use: "docs [GUIDE]", Short: "Print the guides, such as pi docs hooks --section brief", Long: docsHelp,
		ValidArgsFunction: firstOnly(guideValues),
		Args:              usageOf(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				guides, err := docs.Guides()
				for _, g := range guides {
					fmt.Fprintf(out, "%-13s %s\n", g.Name, g.Title)
				}
				return err
			}
			g, err := docs.Find(args[0])
			if err != nil {
				return app.UsageError{Err: err}
			}
			if !list {
				return printGuide(out, g, sections)
			}
			for _, s := range g.Sections() {
				fmt.Fprintln(out, strings.Repeat("  ", s.Level-1)+s.Title)
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&sections, "section", nil, "only the section of this `HEADING`; repeatable")
	flagValues(c, "section", headingValues)
	c.Flags().BoolVar(&list, "sections", false, "list the headings")
	return c
}

// printGuide prints a guide, or the sections of it that are named.
func printGuide(out io.Writer, g docs.Guide, sections []string) error {
	if len(sections) == 0 {
		fmt.Fprint(out, g.Text())
	}
	for i, name := range sections {
		text, err := g.Section(name)
		if err != nil {
			return app.UsageError{Err: fmt.Errorf("%w\n`pi docs %s --sections` lists them", err, g.Name)}
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprint(out, text)
	}
	return nil
}
