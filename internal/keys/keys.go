// Package keys says what a key is for everybody who is given one. Who reads keys from a
// terminal makes them; panels, fields and components get them.
//
// It knows nothing of the rest of the program.
package keys

// Key is one thing that a user did at the keyboard: a key that was pressed, alone or
// with modifiers, or a paste.
type Key struct {
	// Name is in lower case: "a", "é", "space", "enter", "esc", "backspace", "f5",
	// "ctrl+x", "alt+left", "shift+tab", and "paste". Modifiers are written in the order
	// "ctrl+alt+shift+".
	Name string

	// Text is what the key types: "a", "日", " ", or the whole text of a paste. It is ""
	// for a key that types nothing.
	Text string

	Release bool // the key was released, which only some terminals tell
}
