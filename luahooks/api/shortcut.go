package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Shortcut is a key of the keyboard to which a hook gave a function.
type Shortcut struct {
	Key         string // in one spelling: ctrl+x, alt+x, ctrl+alt+x, f5
	Description string
	Hook        string
	Run         func(ctx context.Context) (command.Outcome, error)
}

// reservedKeys are those that every front end needs for itself: to end, to
// interrupt, to type and to move.
func reservedKeys() []string {
	return []string{"ctrl+c", "ctrl+d", "ctrl+z", "ctrl+r", "ctrl+g", "ctrl+p", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m",
		"enter", "shift+enter", "alt+enter", "esc", "tab", "shift+tab", "backspace", "delete", "space",
		"up", "down", "left", "right", "home", "end", "pageup", "pagedown"}
}

// shortcut is pi.shortcut(key, {description, handler}). A key that is reserved is
// refused with a warning, so that the rest of the hook works.
func (c *commands) shortcut(L *lua.LState) int {
	given := L.CheckString(1)
	s := &Command{home: c, isShortcut: true}
	luavm.Unpack(L, 2, "shortcut", luavm.Opt("description", &s.Description), luavm.Opt("handler", &s.handler).Required())
	key, ok := normalKey(given)
	if !ok {
		luavm.RaiseArg(L, 1, "shortcut", "%q is no key; keys are like ctrl+x, alt+x, shift+f2, f5", given)
	}
	s.Name = key
	if slices.Contains(reservedKeys(), key) || len(strings.TrimPrefix(key, "shift+")) == 1 {
		c.notify(c.vm.Context(), agent.LevelWarning, fmt.Sprintf("hook %s: the key %s is reserved; its shortcut has no effect", c.hook, key))
		L.Push(lua.LFalse)
		return 1
	}
	c.registered.Shortcuts.put(s)
	L.Push(lua.LTrue)
	return 1
}

// normalKey writes a key in one way: modifiers in lower case and in the order ctrl, alt,
// shift, then the key. It returns false for what is no key.
func normalKey(given string) (string, bool) {
	parts := strings.Split(strings.ToLower(strings.TrimSpace(given)), "+")
	key, mods := parts[len(parts)-1], parts[:len(parts)-1]
	switch key {
	case "escape":
		key = "esc"
	case "return":
		key = "enter"
	}
	if !isKey(key) {
		return "", false
	}
	name := ""
	for _, mod := range []string{"ctrl", "alt", "shift"} {
		if slices.Contains(mods, mod) {
			name += mod + "+"
			mods = slices.DeleteFunc(slices.Clone(mods), func(m string) bool { return m == mod })
		}
	}
	return name + key, len(mods) == 0
}

func isKey(key string) bool {
	var n int
	if _, err := fmt.Sscanf(key, "f%d", &n); err == nil && key == fmt.Sprintf("f%d", n) {
		return n >= 1 && n <= 12
	}
	if len(key) == 1 {
		return key[0] > ' ' && key[0] < 0x7f
	}
	return slices.Contains(reservedKeys(), key)
}
