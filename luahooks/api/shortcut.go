package api

import (
	"context"
	"fmt"
	"strings"

	"pi/agent"
	"pi/agent/command"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// Shortcut is a key of the keyboard to which a hook gave a function.
type Shortcut struct {
	Key         string // in one spelling: ctrl+x, alt+x, ctrl+alt+x, f5, esc esc
	Description string
	Hook        string
	Run         func(ctx context.Context) (command.Outcome, error)
}

// Keys are the keys of the front end.
type Keys struct {
	// Chord writes a key, or two with a blank between them, in one way. The error says what
	// is wrong with it: a key that types a character is one, unless it comes second.
	Chord func(key string) (string, error)
	// IsReserved reports whether the front end uses a key itself, as its keys are now.
	IsReserved func(chord string) bool
}

// shortcut is pi.shortcut(key, {description, handler}). A key that is reserved is
// refused with a warning, so that the rest of the hook works.
func (c *commands) shortcut(L *lua.LState) int {
	given := L.CheckString(1)
	s := &Command{home: c, isShortcut: true}
	luavm.Unpack(L, 2, "shortcut", luavm.Opt("description", &s.Description), luavm.Opt("handler", &s.handler).Required())
	chord, err := c.keys.Chord(given)
	if err != nil {
		if _, none := c.keys.Chord("f1 " + given); none != nil || strings.Contains(given, " ") {
			luavm.RaiseArg(L, 1, "shortcut", "%v", err)
		}
		chord = strings.ToLower(given) // a key that types
	}
	if s.Name = chord; err != nil || c.keys.IsReserved(chord) {
		c.notify(c.vm.Context(), agent.LevelWarning, fmt.Sprintf("hook %s: the key %s is reserved; its shortcut has no effect", c.hook, chord))
		L.Push(lua.LFalse)
		return 1
	}
	c.registered.Shortcuts.put(s)
	L.Push(lua.LTrue)
	return 1
}
