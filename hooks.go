package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pi/agent/command"
	"pi/luahooks"
)

func hooksCommand(o *options) *cobra.Command {
	c := &cobra.Command{Use: "hooks", Short: "List hooks and the events they can listen to", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(hooksList(o), hooksEvents(), hooksTypes())
	return c
}

func hooksList(o *options) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the hooks in chain order, without running them", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(*o)
			if err != nil {
				return err
			}
			found := a.places().Discover(a.guard)
			for _, p := range found.Problems {
				fmt.Fprintln(os.Stderr, p)
			}
			if asJSON {
				return printJSON(listedHooks(found, a.mayRun))
			}
			for _, h := range listedHooks(found, a.mayRun) {
				fmt.Printf("%-12s %-10s %s\n", h.Scope, h.State, printable(h.Path))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

type listedHook struct {
	Name  string         `json:"name"`
	Path  string         `json:"path"`
	Scope luahooks.Scope `json:"scope"`
	State string         `json:"state"` // runs, untrusted
}

func listedHooks(f luahooks.Found, mayRun func(luahooks.Source) bool) []listedHook {
	hooks := []listedHook{}
	for _, s := range f.Sources {
		state := "runs"
		if !mayRun(s) {
			state = "untrusted"
		}
		hooks = append(hooks, listedHook{s.Name, s.Path, s.Scope, state})
	}
	for _, s := range f.Untrusted {
		hooks = append(hooks, listedHook{s.Name, s.Path, s.Scope, "untrusted"})
	}
	return hooks
}

// mayRun reports whether a hook is one's own or approved.
func (a *app) mayRun(s luahooks.Source) bool {
	return a.approveProject || a.guard.MayRun(s)
}

func hooksEvents() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "events", Short: "List the events, what they carry and what a handler may return", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(luahooks.Events())
			}
			for _, e := range luahooks.Events() {
				printEvent(e)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printEvent(e luahooks.EventInfo) {
	kind := "telling"
	if e.Asking {
		kind = "asking"
	}
	fmt.Printf("%s (%s)\n", e.Name, kind)
	printFields("  event   ", e.Fields)
	printFields("  returns ", e.Results)
	fmt.Printf("  rule    %s\n", e.Rule)
}

func printFields(label string, fields []luahooks.Field) {
	if len(fields) == 0 {
		return
	}
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.Name+": "+f.Type)
	}
	fmt.Println(label + strings.Join(parts, ", "))
}

// hookCommands are the slash commands about hooks.
func (a *app) hookCommands() []command.Command {
	return []command.Command{
		{Name: "hooks", Help: "list the hooks with their state", Run: func(context.Context, string) (command.Outcome, error) {
			return command.Outcome{Status: a.describeHooks()}, nil
		}},
		{Name: "reload", Help: "load all hooks anew", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
			a.chain.Reload(ctx, true)
			return command.Outcome{Status: "reloaded: " + a.chain.Summary()}, nil
		}},
	}
}

func (a *app) describeHooks() string {
	var lines []string
	for _, h := range a.chain.Hooks() {
		line := fmt.Sprintf("%-9s %-12s %s", h.State, h.Scope, h.Path)
		if has := hookParts(h); has != "" {
			line += "  " + has
		}
		if h.LastError != "" {
			line += "\n          " + h.LastError
		}
		lines = append(lines, line)
	}
	for _, s := range a.skipped {
		lines = append(lines, fmt.Sprintf("%-9s %-12s %s", "untrusted", s.Scope, s.Path))
	}
	if len(lines) == 0 {
		return "no hooks; a Lua file in " + a.places().GlobalDir() + " is one"
	}
	return strings.Join(lines, "\n")
}

func hookParts(h luahooks.Info) string {
	parts := append([]string{}, h.Events...)
	for _, c := range h.Commands {
		parts = append(parts, "/"+c)
	}
	for _, t := range h.Tools {
		parts = append(parts, "tool "+t)
	}
	return strings.Join(parts, " ")
}
