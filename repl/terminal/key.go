package terminal

import "pi/internal/keys"

// Key is a key as this package reads it.
type Key = keys.Key

// Keys have names: a character is its own name ("a", "é", "+"), others are
// "space", "enter", "esc", "tab", "backspace", "delete", "insert", "up", "down",
// "left", "right", "home", "end", "pageup", "pagedown", "f1" to "f12". Modifiers
// are written before them in this order: "ctrl+alt+shift+".

// KeysOf names the keys that type a line; those without a name are left out.
func KeysOf(line string) []string {
	var names keyNames
	d := decoder{handlers: &names}
	d.feed([]byte(line))
	for d.wait() > 0 {
		d.expire()
	}
	return names
}

// keyNames are the names of decoded keys.
type keyNames []string

func (n *keyNames) key(k Key)    { *n = append(*n, k.Name) }
func (n *keyNames) focus(bool)   {}
func (n *keyNames) reply(string) {}
