package repl

import (
	"strings"

	"pi/agent/command"
)

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
		return command.Front{Rows: append(rows, plainKeys()...), Columns: columns}
	}
	for _, r := range []struct{ actions, meaning string }{
		{"complete", "completes commands, arguments, files"},
		{"interrupt", "stops the work, or leaves a menu, a list, a question"},
		{"expand", "shows the newest folded output whole; again: the one before"},
		{"history_search", "searches what was typed before"},
		{"follow_up take_back", "queues the line for the end of the work; takes the last queued one back"},
		{"editor", "edits the line in $VISUAL or $EDITOR"},
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

// plainKeys are the keys of the plain mode, which [keys] does not bind.
func plainKeys() []command.HelpRow {
	return []command.HelpRow{
		{Typed: "Enter", Meaning: "sends the line; while the agent works: after the running tools"},
		{Typed: `\ Enter`, Meaning: "goes on with the line in a new row"},
		{Typed: "Ctrl+C", Meaning: "stops the work"},
		{Typed: "Ctrl+D", Meaning: "leaves, in an empty line"},
	}
}
