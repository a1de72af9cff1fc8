package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent/command"
)

// Shortcut is a key of a hook. It works while a prompt is open; what is typed
// there stays.
type Shortcut struct {
	Key, Help string
	Hook      string
	Run       func(context.Context) (command.Outcome, error)
}

// ownKeys are never a hook's: without them nobody gets out, or a line sent.
func ownKeys() []string {
	return []string{"enter", "esc", "tab", "backspace", "ctrl+c", "ctrl+d", "ctrl+z", "ctrl+j", "alt+enter", "shift+enter",
		"up", "down", "left", "right"}
}

// hotkey notes a key if it is a hook's.
func (r *REPL) hotkey(name string) bool {
	if r.opts.Shortcuts == nil || slices.Contains(ownKeys(), name) {
		return false
	}
	for _, s := range r.opts.Shortcuts() {
		if plainKey(s.Key) != name {
			continue
		}
		select {
		case r.hot <- s:
		default: // the one before has not even begun
		}
		return true
	}
	return false
}

// ranShortcut runs the shortcut that closed the prompt, if one did.
func (r *REPL) ranShortcut(ctx context.Context) bool {
	if len(r.pressed) == 0 {
		return false
	}
	s := r.pressed[0]
	r.pressed = r.pressed[1:]
	r.runAlone(ctx, s.Run)
	return true
}

// hotkeys lists what the keys do.
func (r *REPL) hotkeys() string {
	lines := []string{
		"Enter                  send the line",
		"Ctrl+J, Alt+Enter      a new line in it; so does \\ at its end",
		"Tab                    complete a command, its argument or an @path",
		"Up, Down, Ctrl+R       what was typed before",
		"Ctrl+C                 stop the work; clear the line; twice: quit",
		"Ctrl+D                 quit, on an empty line",
		"Ctrl+A, Ctrl+E         to the start, to the end of the line",
		"Ctrl+W, Ctrl+U, Ctrl+K delete a word, to the start, to the end",
		"Esc                    no answer to a question; cancel a compaction",
	}
	if r.opts.Shortcuts == nil {
		return strings.Join(lines, "\n")
	}
	for _, s := range r.opts.Shortcuts() {
		lines = append(lines, fmt.Sprintf("%-22s %s (hook %s)", plainKey(s.Key), s.Help, s.Hook))
	}
	return strings.Join(lines, "\n")
}
