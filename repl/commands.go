package repl

import (
	"context"
	"fmt"
	"strings"

	"pi/agent/command"
	"pi/repl/terminal/keymap"
)

// Commands returns the commands that only this front end has.
func (r *REPL) Commands() []command.Command {
	return []command.Command{{
		Name: "quit", Aliases: []string{"exit"}, Help: "leave; Ctrl+D on an empty line does the same",
		Run: func(context.Context, string) (command.Outcome, error) { return command.Outcome{Quit: true}, nil },
	}, {
		Name: "hotkeys", Help: "list what the keys do, those of hooks too",
		Run: func(context.Context, string) (command.Outcome, error) {
			return command.Outcome{Status: r.keyboard.hotkeys()}, nil
		},
	}, {
		Name: "expand", Args: "[NUMBER]", Help: "show a folded result whole, by its number; Ctrl+O shows the newest",
		Run: r.keyboard.expandCommand,
	}}
}

// hotkeys is the table of the keys that is in force, those of hooks at the end.
func (k *keyboard) hotkeys() string {
	var own []keymap.Shortcut
	for _, s := range k.shortcuts() {
		own = append(own, keymap.Shortcut{Key: s.Key, Meaning: s.Help, Hook: s.Hook})
	}
	var lines []string
	for _, row := range k.table.table.Rows(own) {
		meaning := row.Meaning
		if row.Hook != "" {
			meaning += " (hook " + row.Hook + ")"
		}
		if row.Keys != "" {
			lines = append(lines, fmt.Sprintf("%-22s %s", row.Keys, meaning))
		}
	}
	return strings.Join(lines, "\n")
}
