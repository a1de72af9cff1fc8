package repl

import (
	"context"
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

// hotkeys is the table of the keys that is in force, with the names of actions in [keys];
// those of hooks are at the end.
func (k *keyboard) hotkeys() string {
	var own []keymap.Shortcut
	for _, s := range k.shortcuts() {
		own = append(own, keymap.Shortcut{Key: s.Key, Meaning: s.Help, Hook: s.Hook})
	}
	var rows []command.HelpRow
	for _, row := range k.table.table.Rows(own) {
		meaning := row.Meaning
		if row.Hook != "" {
			meaning += " (hook " + row.Hook + ")"
		} else {
			meaning += " (" + row.Action + ")" // the name that [keys] has for it
		}
		if row.Keys != "" {
			rows = append(rows, command.HelpRow{Typed: row.Keys, Meaning: meaning})
		}
	}
	k.screen.mu.Lock()
	defer k.screen.mu.Unlock()
	return command.HelpTable(rows, k.screen.columns)
}

// helpFront is what /help says first: the ten things one needs, with the keys as they are
// bound now.
func (k *keyboard) helpFront() command.Front {
	k.screen.mu.Lock()
	columns, plain := k.screen.columns, k.screen.plain
	k.screen.mu.Unlock()
	rows := []command.HelpRow{
		{Typed: "!command", Meaning: "runs in the shell; the model sees what it printed"},
		{Typed: "!!command", Meaning: "the same, and the model does not see it"},
		{Typed: "@file", Meaning: "sends a file along; also @file:10-40, a folder, an image"},
		{Typed: "/name", Meaning: "a command; /help NAME tells about one"},
	}
	if plain {
		rows = append(rows, // [keys] does not bind these
			command.HelpRow{Typed: "Enter", Meaning: "sends the line; while the agent works: after the running tools"},
			command.HelpRow{Typed: `\ Enter`, Meaning: "goes on with the line in a new row"},
			command.HelpRow{Typed: "Ctrl+C", Meaning: "stops the work"},
			command.HelpRow{Typed: "Ctrl+D", Meaning: "leaves, in an empty line"})
		return command.Front{Rows: rows, Columns: columns}
	}
	for _, r := range []struct{ actions, meaning string }{
		{"complete", "completes commands, arguments, files"},
		{"interrupt", "stops the work, or leaves a menu, a list, a question"},
		{"expand", "shows the newest folded output whole; again: the one before"},
		{"history_search", "searches what was typed before"},
		{"follow_up take_back", "queues the line for the end of the work; takes the last queued one back"},
		{"editor", "edits the line in $VISUAL, $EDITOR or vi"},
	} {
		if keys := k.labels(r.actions); keys != "" {
			rows = append(rows, command.HelpRow{Typed: keys, Meaning: r.meaning})
		}
	}
	return command.Front{Rows: rows, More: "/hotkeys lists all keys.", Columns: columns}
}

// labels are the first keys of some actions; "" if one of them has none.
func (k *keyboard) labels(actions string) string {
	var keys []string
	for action := range strings.FieldsSeq(actions) {
		label := k.table.table.Label(action)
		if label == "" {
			return ""
		}
		keys = append(keys, label)
	}
	return strings.Join(keys, ", ")
}
