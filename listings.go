package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"pi/agent"
)

// listModels prints the models that can be used.
func listModels(_ context.Context, o options) error {
	a, err := newApp(o)
	if err != nil {
		return err
	}
	for _, problem := range providerProblems(a.cfg, a.keys) {
		fmt.Fprintln(os.Stderr, harmless(problem))
	}
	models := newModels(a.cfg, a.keys)
	models.Register(agent.ProviderSpec{Name: "demo", Models: agent.Listed(tourModel())})
	for _, m := range models.Available() {
		window := ""
		if m.ContextWindow > 0 {
			window = fmt.Sprintf("%dk", m.ContextWindow/1000)
		}
		fmt.Printf("%-44s %-20s %s\n", harmless(m.Ref()), m.API, window)
	}
	return nil
}

// printSettings prints what is in force.
func printSettings(cfg Config, origin bool) error {
	if origin {
		return PrintConfig(os.Stdout, cfg, cfg.Origins)
	}
	return PrintConfig(os.Stdout, cfg, nil)
}

// printJSON writes a value for programs.
func printJSON(v any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
