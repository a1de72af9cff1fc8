package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"pi/agent/command"
	"pi/repl/terminal"
)

// Shortcut is a key of a hook, or of the program if Hook is empty. It works while
// a prompt is open, and the text in the prompt is kept. Run is called between two
// prompts.
type Shortcut struct {
	Key, Help string
	Hook      string
	Run       func(context.Context) (command.Outcome, error)
}

// shortcut finds the shortcut of a key: one of the program's own, or else of a hook.
func (r *REPL) shortcut(name string) (Shortcut, bool) {
	// No hook can have these, since a person sends lines and gets out with them.
	reserved := []string{"enter", "esc", "tab", "backspace", "ctrl+c", "ctrl+d", "ctrl+z", "ctrl+j", "alt+enter", "shift+enter",
		"up", "down", "left", "right"}
	if slices.Contains(reserved, name) {
		return Shortcut{}, false
	}
	all := []Shortcut{
		{Key: "ctrl+p", Run: func(ctx context.Context) (command.Outcome, error) { return command.CycleModel(ctx, r.agent, 1) }},
		{Key: "shift+tab", Run: func(ctx context.Context) (command.Outcome, error) { return command.CycleThinking(ctx, r.agent) }},
	}
	if r.opts.Shortcuts != nil {
		all = append(all, r.opts.Shortcuts()...)
	}
	for _, s := range all {
		if terminal.KeyName(s.Key) == name {
			return s, true
		}
	}
	return Shortcut{}, false
}

// hotkey queues the shortcut that a key of the open prompt has, and reports whether it
// has one.
func (r *REPL) hotkey(name string) bool {
	s, ok := r.shortcut(name)
	if ok {
		r.queueShortcut(s)
	}
	return ok
}

// lateKey queues the shortcut of a key that was typed in the middle of a line while the
// agent works, if it is one of the program's own.
func (r *REPL) lateKey(name string) {
	if s, ok := r.shortcut(name); ok && s.Hook == "" && r.work.working() {
		r.queueShortcut(s)
	}
}

// queueShortcut has a shortcut run between two prompts, unless another one waits for that
// already.
func (r *REPL) queueShortcut(s Shortcut) {
	select {
	case r.hot <- s:
	default:
	}
}

// ranShortcut runs the oldest shortcut for which the prompt was closed, and reports
// whether there was one.
func (r *REPL) ranShortcut(ctx context.Context) bool {
	if len(r.pressed) == 0 {
		return false
	}
	s := r.pressed[0]
	r.pressed = r.pressed[1:]
	r.runAlone(ctx, s.Run)
	return true
}

// hotkeys is a list of what the keys do, those of hooks at the end.
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
		"Ctrl+P                 the next model of models in config.toml, else of those with a key",
		"Shift+Tab              the next thinking level",
		"Esc                    no answer to a question; cancel a compaction, or the wait to ask again",
	}
	if r.opts.Shortcuts == nil {
		return strings.Join(lines, "\n")
	}
	for _, s := range r.opts.Shortcuts() {
		lines = append(lines, fmt.Sprintf("%-22s %s (hook %s)", terminal.KeyName(s.Key), s.Help, s.Hook))
	}
	return strings.Join(lines, "\n")
}
