package cli

import (
	"fmt"
	"strings"

	"pi/cli/app"
	"pi/docs"
	"pi/internal/roff"
	"pi/internal/version"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manual is made of what is there already: pi(1) of the table of flags, of what the commands say of
// themselves, and of the guides `flags` and `using`; pi-NAME(7) is a guide as it stands.

const manHelp = `Prints a page of the manual for man(1): pi(1), or a guide, such as pi-hooks(7).

  pi man | man -l -
  pi man hooks > ~/.local/share/man/man7/pi-hooks.7`

func manCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "man [GUIDE]", Short: "Print a page of the manual: pi(1), or of a guide, such as pi-hooks(7)", Long: manHelp,
		Args: usageOf(cobra.MaximumNArgs(1)), ValidArgsFunction: firstOnly(guideValues),
		RunE: func(cmd *cobra.Command, args []string) error {
			page, err := manualPage(root, args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), page)
			return err
		},
	}
}

// manualPage returns the page of the program, or that of the guide that is named.
func manualPage(root *cobra.Command, guide []string) (string, error) {
	h := roff.Head{Name: "pi", Section: 1, Source: "pi " + version.Program(), Manual: "pi", About: lowerFirst(strings.TrimSuffix(root.Short, "."))}
	if len(guide) == 0 {
		text, err := describeProgram(root)
		return roff.Page(h, text), err
	}
	g, err := docs.Find(guide[0])
	if err != nil {
		return "", app.UsageError{Err: err}
	}
	h.Name, h.Section, h.About = "pi-"+g.Name, 7, g.Title
	return roff.Page(h, g.Text()), nil
}

// describeProgram is pi(1) in Markdown.
func describeProgram(root *cobra.Command) (string, error) {
	flags, err := docs.Find("flags")
	if err != nil {
		return "", fmt.Errorf("make the manual: %w", err)
	}
	using, err := docs.Find("using")
	if err != nil {
		return "", fmt.Errorf("make the manual: %w", err)
	}
	guides, err := docs.Guides()
	if err != nil {
		return "", fmt.Errorf("make the manual: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Synopsis\n\n```\n%s\npi COMMAND [ARGUMENT...]\n```\n\n## Examples\n\n```\n%s\n```\n\n", root.UseLine(), root.Example)
	b.WriteString("## Options\n\n" + deeper(body(flags)) + "\n## Commands\n\n")
	for _, c := range root.Commands() {
		describeCommand(&b, c)
	}
	_, chapters, _ := strings.Cut(using.Text(), "\n## ") // what stands before them is the way through the page
	b.WriteString("## " + chapters + "\n## See also\n\n")
	for _, g := range guides {
		fmt.Fprintf(&b, "- `pi-%s`(7): %s\n", g.Name, g.Title)
	}
	return b.String(), nil
}

// body is a guide without its title.
func body(g docs.Guide) string {
	_, text, _ := strings.Cut(g.Text(), "\n")
	return strings.TrimSpace(text) + "\n"
}

// deeper puts the chapters of a text one level below.
func deeper(text string) string { return strings.ReplaceAll("\n"+text, "\n## ", "\n### ") }

// describeCommand writes what a command says of itself, and then those below it.
func describeCommand(b *strings.Builder, c *cobra.Command) {
	if !c.IsAvailableCommand() {
		return
	}
	fmt.Fprintf(b, "### %s\n\n%s.\n\n", c.UseLine(), c.Short)
	for text := range strings.SplitSeq(strings.TrimPrefix(c.Long+"\n\n"+c.Example, "\n\n"), "\n\n") {
		if strings.HasPrefix(text, " ") || strings.Contains(text, "\n ") {
			text = "```\n" + text + "\n```"
		}
		b.WriteString(text + "\n\n")
	}
	flags := 0
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if flags++; flags == 1 {
			b.WriteString("| flag | |\n|---|---|\n")
		}
		value, about := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.TrimSpace("--"+f.Name+" "+value), strings.ReplaceAll(about, "|", `\|`))
	})
	b.WriteString("\n")
	for _, below := range c.Commands() {
		describeCommand(b, below)
	}
}

// lowerFirst is a sentence as it goes on behind a dash.
func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
