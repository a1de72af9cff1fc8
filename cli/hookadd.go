package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"pi/cli/app"
	"pi/cli/config"
	"pi/internal/printable"
	"pi/luahooks/examples"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

const hooksAddHelp = `Writes hooks that came with the program, each with its test, among the hooks of the
agent directory: example:NAME, of which pi hooks examples has the names. They are in force
at once, in sessions that run too.

Another file in the place of one stays, unless you say yes to the difference in a terminal,
or --replace. It is refused where a tool of the agent started it.`

// hookAdd is what the flags of pi hooks add.
type hookAdd struct {
	replace, dryRun bool
}

func hooksAdd(o *app.Options) *cobra.Command {
	var f hookAdd
	c := &cobra.Command{
		Use: "add SOURCE...", Short: "Add hooks: example:NAME is one that came with the program", Long: hooksAddHelp,
		Args: usageOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, sources []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			return f.addExamples(cmd, p, sources)
		},
	}
	c.Flags().BoolVar(&f.replace, "replace", false, "examples take the place of other hooks with their names")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be written, and write nothing")
	return c
}

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
func (f hookAdd) addExamples(cmd *cobra.Command, p *app.Place, names []string) error {
	all, err := draftExamples(p, names)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.dryRun {
		for _, e := range all {
			tellDrafted(out, e)
		}
		return nil
	}
	attended := term.IsTerminal(int(os.Stdin.Fd()))
	for _, e := range all {
		if e.draft.Replaces() && !f.replace && !attended {
			return fmt.Errorf("another hook is in %s; `pi hooks add --dry-run %s%s` shows the difference, --replace puts the example in its place", config.Tilde(e.draft.Hook()), examples.Prefix, e.Name)
		}
	}
	for _, e := range all {
		if e.draft.Replaces() && !f.replace && !app.Terminal().AskReplace(cmd.Context(), e.draft) {
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

func hooksExamples(o *app.Options) *cobra.Command {
	var asJSON, test bool
	c := &cobra.Command{
		Use: "examples [NAME]", Short: "List the hooks that came with the program, or print one",
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
