package cli

import (
	"fmt"
	"os"
	"strings"

	"pi/cli/app"
	"pi/internal/printable"
	"pi/luahooks/event"
	"pi/luahooks/trust"

	"github.com/spf13/cobra"
)

func hooksCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{Use: "hooks", Short: "List and check hooks, and list the events they can listen to", Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(hooksList(o), hooksCheck(o), hooksEvents(), hooksApprove(o), hooksTypes())
	return c
}

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
			for _, err := range append(found.Problems, errorsOf(found.Sources)...) {
				fmt.Fprintln(os.Stderr, printable.VisibleLine(err.Error()))
			}
			if asJSON {
				return printJSON(listedHooks(p, found))
			}
			for _, h := range listedHooks(p, found) {
				fmt.Printf("%-12s %-10s %s\n", h.Scope, h.State, printable.VisibleLine(h.Path))
			}
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
	State string      `json:"state"` // runs, untrusted, pending, disabled, failed
}

func errorsOf(sources []trust.Source) (errs []error) {
	for _, s := range sources {
		if s.Err != nil {
			errs = append(errs, s.Err)
		}
	}
	return errs
}

func listedHooks(p *app.Place, f trust.Found) []listedHook {
	hooks, pending := []listedHook{}, map[string]bool{}
	for _, w := range p.Guard.ShowPending() {
		pending[w.Path] = true
	}
	add := func(s trust.Source, state string) {
		hooks = append(hooks, listedHook{s.Name, s.Path, s.Scope, state})
	}
	for _, s := range f.Sources {
		switch {
		case pending[s.Path]:
			add(s, "pending")
		case s.Err != nil:
			add(s, "failed")
		case mayRun(p, s):
			add(s, "runs")
		default:
			add(s, "untrusted")
		}
	}
	for _, s := range f.Untrusted {
		add(s, "untrusted")
	}
	for _, s := range f.Disabled {
		add(s, "disabled")
	}
	return hooks
}

// mayRun reports whether a hook is one's own or approved.
func mayRun(p *app.Place, s trust.Source) bool {
	return p.Hooks.Approve || p.Guard.MayRun(s)
}

func hooksEvents() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "events", Short: "List the events, what they carry and what a handler may return", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(event.Infos())
			}
			for _, e := range event.Infos() {
				printEvent(e)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printEvent(e event.Info) {
	kind := "telling"
	if e.Asking {
		kind = "asking"
	}
	fmt.Printf("%s (%s)\n", e.Name, kind)
	printFields("  event   ", e.Fields)
	printFields("  returns ", e.Results)
	fmt.Printf("  rule    %s\n", e.Rule)
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
