package terminal

import (
	"slices"
	"strings"

	"pi/internal/keys"
)

// Key is a key as this package reads it. [KeyName] writes what a user wrote as its Name is
// written.
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

// KeyName writes a key as [Key.Name] has it, however a hook wrote it:
// "Shift+Ctrl+X" is "ctrl+shift+x".
func KeyName(key string) string {
	parts := strings.Split(strings.ToLower(strings.TrimSpace(key)), "+")
	last := parts[len(parts)-1]
	if last == "" { // the plus itself
		last = "+"
	}
	for from, to := range map[string]string{"escape": "esc", "return": "enter", "del": "delete", "pgup": "pageup", "pgdn": "pagedown"} {
		if last == from {
			last = to
		}
	}
	name := ""
	for _, m := range []struct {
		name  string
		words []string
	}{{"ctrl", []string{"ctrl", "control"}}, {"alt", []string{"alt", "option", "meta"}}, {"shift", []string{"shift"}}} {
		if slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return slices.Contains(m.words, p) }) {
			name += m.name + "+"
		}
	}
	return name + last
}
