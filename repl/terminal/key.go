package terminal

// Key is one thing that a person did at the keyboard: a key that was pressed, alone or
// with modifiers, or a paste.
type Key struct {
	// Name is in lower case: "a", "é", "space", "enter", "esc", "backspace", "f5",
	// "ctrl+x", "alt+left", "shift+tab", and "paste". Modifiers are written in the order
	// "ctrl+alt+shift+". [KeyName] writes what a person wrote in this way.
	Name string

	// Text is what the key types: "a", "日", " ", or the whole text of a paste. It is ""
	// for a key that types nothing.
	Text string

	Release bool // the key was released, which only some terminals tell
}
