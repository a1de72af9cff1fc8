package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/examples"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// draftedExample is an example that is to be added, and what becomes of which file.
type draftedExample struct {
	examples.Example
	draft *trust.Draft
}

// draftExamples finds the examples that are named, with or without their prefix.
func draftExamples(p *app.Place, names []string) (all []draftedExample, err error) {
	for _, name := range names {
		e, err := examples.Find(name)
		if err != nil {
			return nil, app.UsageError{Err: err}
		}
		d, err := p.Guard.DraftOf(p.Places(), e.Name, e.Hook, e.Test)
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", examples.Prefix, e.Name, err)
		}
		all = append(all, draftedExample{e, d})
	}
	return all, nil
}

// addExamples writes examples among the hooks of the user. All that can be refused is, before the
// first is written.
func addExamples(cmd *cobra.Command, p *app.Place, names []string, replace, dryRun bool) error {
	all, err := draftExamples(p, names)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if dryRun {
		for _, e := range all {
			tellDrafted(out, e)
		}
		return nil
	}
	attended := term.IsTerminal(int(os.Stdin.Fd()))
	for _, e := range all {
		if e.draft.Replaces() && !replace && !attended {
			return fmt.Errorf("another hook is in %s; `pi hooks add --dry-run %s%s` shows the difference, --replace puts the example in its place", config.Tilde(e.draft.Hook()), examples.Prefix, e.Name)
		}
	}
	for _, e := range all {
		if e.draft.Replaces() && !replace && !app.Terminal().AskReplace(cmd.Context(), e.draft, app.DescribeReplaced(e.draft)) {
			fmt.Fprintln(out, e.Name+" stays as it is")
			continue
		}
		if err := writeExample(p, e); err != nil {
			return err
		}
		fmt.Fprintln(out, app.TellAdded(e.Example, e.draft))
	}
	return nil
}

// writeExample writes an example that is to be added, and remembers it.
func writeExample(p *app.Place, e draftedExample) error {
	if e.draft.Diff != "" {
		if err := p.Guard.Adopt(e.draft); err != nil {
			return fmt.Errorf("add %s%s: %w", examples.Prefix, e.Name, err)
		}
	}
	return examples.Note(p.Places(), e.Example)
}

// tellDrafted says what would become of an example.
func tellDrafted(out io.Writer, e draftedExample) {
	path := printable.VisibleLine(config.Tilde(e.draft.Hook()))
	switch {
	case e.draft.Diff == "":
		fmt.Fprintln(out, "is there already: "+path)
	case e.draft.Replaces():
		fmt.Fprint(out, app.DescribeReplaced(e.draft))
	default:
		fmt.Fprintf(out, "to be written: %s, %d bytes, and its test\n", path, len(e.Hook))
	}
	for _, line := range []string{e.About(), app.TellNeeds(e.Example)} {
		if line != "" {
			fmt.Fprintln(out, "    "+line)
		}
	}
}

// updateExamples brings the examples that are named, or all, to what the program has of them, where
// the user has not changed them since: it shows the difference and asks, unless yes is given. With
// dryRun it shows the difference alone.
func updateExamples(cmd *cobra.Command, p *app.Place, names []string, yes, dryRun bool) error {
	all, err := app.ListExamples(p.Places())
	if err != nil {
		return err
	}
	out, attended, waits := cmd.OutOrStdout(), term.IsTerminal(int(os.Stdin.Fd())) && !dryRun, false
	for _, e := range all {
		named := slices.Contains(names, e.Name)
		switch {
		case len(names) > 0 && !named:
			continue
		case e.State == examples.Absent && named:
			return fmt.Errorf("no package is called %[2]s, and %[1]s%[2]s is not among your hooks; `pi hooks add %[1]s%[2]s` adds it", examples.Prefix, e.Name)
		case e.State == examples.Current && (named || e.Known):
			fmt.Fprintln(out, examples.Prefix+e.Name+" is what the program has")
		case e.State == examples.Changed && (named || e.Known):
			fmt.Fprintf(out, "%s%s was changed since it was added, and stays as it is; `pi hooks add --dry-run %[1]s%[2]s` shows how it differs\n", examples.Prefix, e.Name)
		case e.State == examples.Older:
			waiting, err := updateExample(cmd, p, e.Example, yes, attended)
			if err != nil {
				return err
			}
			waits = waits || waiting
		}
	}
	if waits && !dryRun {
		return errors.New("nothing of that was taken: nobody can be asked here; --yes takes it")
	}
	return nil
}

// updateExample shows how an example that the user has not changed differs from what the program
// has, and puts that in its place. waits: it wants a yes, and nobody can be asked.
func updateExample(cmd *cobra.Command, p *app.Place, e examples.Example, yes, attended bool) (waits bool, err error) {
	drafted, err := draftExamples(p, []string{e.Name})
	if err != nil {
		return false, err
	}
	d, out := drafted[0], cmd.OutOrStdout()
	differs := "The program has a newer version of " + examples.Prefix + e.Name + ".\n" + d.draft.Diff
	if yes || !attended {
		fmt.Fprint(out, differs)
	} else if !app.Terminal().AskReplace(cmd.Context(), d.draft, differs) {
		fmt.Fprintln(out, e.Name+" stays as it is")
		return false, nil
	}
	if !yes && !attended {
		return true, nil
	}
	if err := writeExample(p, d); err != nil {
		return false, err
	}
	fmt.Fprintln(out, "updated: "+printable.VisibleLine(config.Tilde(d.draft.Hook()))+"; in force, in sessions that run too")
	return false, nil
}

// removeExamples removes examples from among the hooks of the user who has not changed them.
func removeExamples(out io.Writer, p *app.Place, names []string) error {
	added, err := examples.ReadAdded(p.Places())
	if err != nil {
		return err
	}
	drafted, err := draftExamples(p, names)
	if err != nil {
		return err
	}
	for _, d := range drafted {
		path := printable.VisibleLine(config.Tilde(d.draft.Hook()))
		switch added.State(d.Example) {
		case examples.Absent:
			return fmt.Errorf("no package is called %[2]s, and %[1]s%[2]s is not among your hooks", examples.Prefix, d.Name)
		case examples.Changed:
			return fmt.Errorf("%s is another hook than %s%s was: you made it, so remove the file yourself", path, examples.Prefix, d.Name)
		}
	}
	for _, d := range drafted {
		if err := p.Guard.Discard(d.draft); err != nil {
			return fmt.Errorf("remove %s%s: %w", examples.Prefix, d.Name, err)
		}
		if err := examples.Drop(p.Places(), d.Example); err != nil {
			return err
		}
		fmt.Fprintln(out, "removed: "+printable.VisibleLine(config.Tilde(d.draft.Hook()))+" and its test")
	}
	return nil
}

func hooksExamples(o *app.Options) *cobra.Command {
	var asJSON, test bool
	c := &cobra.Command{
		Use: "examples [NAME]", Short: "List the hooks that came with the program, or print one",
		ValidArgsFunction: firstOnly(exampleValues("")),
		Long: "Lists the hooks that came with the program, what each does, and whether you have it: added; older, if an\n" +
			"earlier program wrote it; changed, if you have another hook of that name. pi hooks add example:NAME adds one.",
		Args: usageOf(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return printExample(cmd.OutOrStdout(), args[0], test, asJSON)
			}
			if test {
				return app.UsageError{Err: errors.New("--test prints the test of one: pi hooks examples --test NAME")}
			}
			p, err := here(*o)
			if err != nil {
				return err
			}
			all, err := app.ListExamples(p.Places())
			if asJSON {
				return errors.Join(printJSON(listedExamples(all)), err)
			}
			fmt.Fprint(cmd.OutOrStdout(), app.ExampleRows(all))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&test, "test", false, "print the test of the hook")
	return c
}

// printExample prints the text of an example, or of its test.
func printExample(out io.Writer, name string, test, asJSON bool) error {
	e, err := examples.Find(name)
	switch {
	case err != nil:
		return app.UsageError{Err: err}
	case asJSON:
		return printJSON(e)
	case test:
		_, err = io.WriteString(out, e.Test)
	default:
		_, err = io.WriteString(out, e.Hook)
	}
	return err
}

// listedExample is an example in a list for programs.
type listedExample struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Needs       string         `json:"needs,omitempty"`
	State       examples.State `json:"state"` // "", added, older, changed
}

func listedExamples(all []app.ListedExample) []listedExample {
	list := []listedExample{}
	for _, e := range all {
		list = append(list, listedExample{e.Name, e.About(), e.Needs(), e.State})
	}
	return list
}
