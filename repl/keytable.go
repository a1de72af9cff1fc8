package repl

import (
	"pi/repl/terminal/keymap"
)

// keyTable says what the keys of the line do.
type keyTable struct {
	table  *keymap.Map
	reader *keymap.Reader
}

// meaning is what a key means to the line: an action of the program or of the text, or
// the shortcut of a hook. waiting is set for the first key of a chord, and for one that
// ended a chord that means nothing.
type meaning struct {
	action   string
	edits    bool
	shortcut string
	waiting  bool
}

// read understands a key. rests says that the line is empty and nothing runs.
func (t *keyTable) read(name string, rests bool) meaning {
	switch x := t.reader.Next(name, rests); x.State {
	case keymap.Waiting, keymap.Refused:
		return meaning{waiting: true}
	case keymap.Bound:
		return meaning{action: x.Action, edits: t.table.Edits(x.Action), shortcut: x.Shortcut}
	}
	return meaning{}
}

// usesAlt reports whether a key with Alt does something.
func (k *keyboard) usesAlt(name string) bool {
	k.screen.mu.Lock()
	component := len(k.screen.panels.components) > 0
	k.screen.mu.Unlock()
	const marks = "alt+space" // in a list
	return component || name == marks || k.table.reader.Uses(name)
}
