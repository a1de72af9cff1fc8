package main

import (
	"encoding/json"
	"os"
)

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
