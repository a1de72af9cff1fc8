package cli

import (
	"os/exec"
	"strings"
	"testing"

	"pi/cli/app"
	"pi/docs"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manualRoot is the command line as the program has it.
func manualRoot() *cobra.Command {
	o := new(app.Options)
	root := newRoot(o)
	addCommands(root, o)
	return root
}

func TestTheManualHasEveryFlagAndCommand(t *testing.T) {
	root := manualRoot()
	page, err := manualPage(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.NewReplacer(`\-`, "-", `\:`, "", `\fB`, "", `\fR`, "", "\n", " ").Replace(page)
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if !c.IsAvailableCommand() {
			return
		}
		if !strings.Contains(said, c.CommandPath()) || !strings.Contains(said, strings.ReplaceAll(c.Short, "'", `\(aq`)) {
			t.Errorf("it lacks %s: %s", c.CommandPath(), c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(said, "--"+f.Name) {
				t.Errorf("it lacks --%s of %s", f.Name, c.CommandPath())
			}
		})
		for _, below := range c.Commands() {
			check(below)
		}
	}
	for _, c := range root.Commands() {
		check(c)
	}
	root.Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(said, "--"+f.Name) {
			t.Errorf("it lacks --%s", f.Name)
		}
	})
	for _, chapter := range []string{"SYNOPSIS", "OPTIONS", "COMMANDS", "EXAMPLES", "SEE ALSO", "IN SCRIPTS"} {
		if !strings.Contains(page, ".SH \""+chapter+"\"") {
			t.Errorf("it lacks the chapter %s", chapter)
		}
	}
}

func TestGroffHasNothingToSayOfTheManual(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("there is no groff")
	}
	pages := [][]string{nil}
	guides, err := docs.Guides()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range guides {
		pages = append(pages, []string{g.Name})
	}
	root := manualRoot()
	for _, guide := range pages {
		page, err := manualPage(root, guide)
		if err != nil {
			t.Fatal(err)
		}
		groff := exec.Command("groff", "-t", "-man", "-ww", "-z")
		groff.Stdin = strings.NewReader(page)
		if said, err := groff.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("pi man %v: %v: %s", guide, err, said)
		}
	}
}
