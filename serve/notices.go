package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"pi/agent"
	"pi/internal/printable"
)

// notices is the user interface where nobody can be asked: every question gets
// its default answer, and notices go to a stream beside the output.
type notices struct {
	agent.NoUI
	mu sync.Mutex
	w  io.Writer
}

// Notify writes one notice, with its level in front if that is a warning or an error.
func (n *notices) Notify(text string, level agent.Level) {
	text = strings.TrimRight(printable.Text(text), "\n")
	if level == agent.LevelWarning || level == agent.LevelError {
		text = string(level) + ": " + text
	}
	n.line(text)
}

// progress writes which tool is called, in at most 120 characters.
func (n *notices) progress(e *agent.ToolExecutionStart) {
	text := []rune(printable.Text(e.Name + " " + compact(e.Input)))
	if len(text) > 120 {
		text = append(text[:119], '…')
	}
	n.line(string(text))
}

func compact(input json.RawMessage) string { return strings.Join(strings.Fields(string(input)), " ") }

func (n *notices) line(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	// Progress that cannot be shown has nowhere else to go.
	_, _ = fmt.Fprintln(n.w, text)
}
