package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/luahooks/event"
	"pi/luahooks/trust"
	"pi/repl/terminal"
	"pi/stdlib/compat"

	"github.com/spf13/cobra"
)

func hooksList(o *app.Options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the hooks in chain order, without running them", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := here(*o)
			if err != nil {
				return err
			}
			found := p.Places().Discover(p.Guard)
			problems := found.Problems
			for _, s := range found.Sources {
				if s.Err != nil {
					problems = append(problems, s.Err)
				}
			}
			for _, err := range problems {
				fmt.Fprintln(os.Stderr, printable.VisibleLine(err.Error()))
			}
			if asJSON {
				return printJSON(listedHooks(p, found))
			}
			printHooks(paletteOf(p), listedHooks(p, found))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

type listedHook struct {
	Name  string      `json:"name"`
	Path  string      `json:"path"`
	Scope trust.Scope `json:"scope"`
	// Package is as whom the user knows the package that the hook is of.
	Package string `json:"package,omitempty"`
	State   string `json:"state"` // runs, untrusted, pending, disabled, failed
}

// printHooks prints a line for each hook; where one is of a package, with a column for that.
func printHooks(colours terminal.Palette, hooks []listedHook) {
	of := 0
	for _, h := range hooks {
		of = max(of, len(h.Package))
	}
	for _, h := range hooks {
		pack := ""
		if of > 0 {
			pack = fmt.Sprintf("%-*s ", of, cmp.Or(printable.VisibleLine(h.Package), "-"))
		}
		fmt.Printf("%-12s %s %s%s\n", h.Scope, paintState(colours, h.State, 10), pack, printable.VisibleLine(h.Path))
	}
}

// pendingPaths are the files that were changed while an agent worked and wait for a user.
func pendingPaths(p *app.Place) map[string]bool {
	pending := map[string]bool{}
	for _, w := range p.Guard.ShowPending() {
		pending[w.Path] = true
	}
	return pending
}

// listedHooks returns the hooks in f with their state: whether they would run, fail, wait
// for approval or are disabled.
func listedHooks(p *app.Place, f trust.Found) []listedHook {
	hooks, pending := []listedHook{}, pendingPaths(p)
	add := func(s trust.Source, state string) {
		hooks = append(hooks, listedHook{s.Name, s.Path, s.Scope, s.Package, state})
	}
	for _, s := range f.Sources {
		switch {
		case pending[s.Path]:
			add(s, "pending")
		case s.Err != nil:
			add(s, "failed")
		case p.Hooks.Approve || p.Guard.MayRun(s):
			add(s, "runs")
		default:
			add(s, "untrusted")
		}
	}
	for _, s := range slices.Concat(f.Untrusted, f.Wanted, p.Guard.UnapprovedPackages(p.Places())) {
		add(s, "untrusted")
	}
	for _, s := range f.Disabled {
		add(s, "disabled")
	}
	return hooks
}

func hooksEvents() *cobra.Command {
	var asJSON bool
	var other string
	c := &cobra.Command{
		Use: "events", Short: "List the events, what they carry and what a handler may return", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if other != "" {
				return foreignEvents(other, asJSON)
			}
			if asJSON {
				return printJSON(event.Infos())
			}
			for _, e := range event.Infos() {
				kind := "telling"
				if e.Asking {
					kind = "asking"
				}
				fmt.Printf("%s (%s)\n", e.Name, kind)
				printFields("  event   ", e.Fields)
				printFields("  returns ", e.Results)
				fmt.Printf("  rule    %s\n", e.Rule)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().StringVar(&other, "compat", "", "those of another program, as pi.compat.`NAME` has them")
	return c
}

// foreignEvents lists the events of another program, and what each is here.
func foreignEvents(name string, asJSON bool) error {
	module, err := compat.Find(name)
	if err != nil {
		return app.UsageError{Err: err}
	}
	about, err := compat.Describe(module)
	if err != nil {
		return fmt.Errorf("describe %s: %w", module, err)
	}
	if asJSON {
		return printJSON(about.Events)
	}
	for _, e := range about.Events {
		fmt.Printf("%s (here %s)\n", e.Name, e.Ours)
		printNames("  event   ", e.Fields)
		printNames("  returns ", e.Results)
		printNames("  rule    ", []string{cmp.Or(e.Rule, "as here")})
	}
	for _, missing := range slices.Sorted(maps.Keys(about.NoEvents)) {
		fmt.Printf("%s (not here: %s)\n", missing, about.NoEvents[missing])
	}
	return nil
}

func printNames(label string, names []string) {
	if len(names) > 0 {
		fmt.Println(label + strings.Join(names, ", "))
	}
}

func printFields(label string, fields []event.Field) {
	if len(fields) == 0 {
		return
	}
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.Name+": "+f.Type)
	}
	fmt.Println(label + strings.Join(parts, ", "))
}
