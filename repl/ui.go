package repl

import (
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
)

// HasUI reports whether a person can be asked.
func (r *REPL) HasUI() bool { return isTerminal(r.opts.In) }

// Notify shows a line that is no part of the conversation, between two blocks of it.
func (r *REPL) Notify(text string, level agent.Level) { r.screen.notify(text, level) }

// SetStatus sets the words of a hook in the status line; "" removes them.
func (r *REPL) SetStatus(key, text string) {
	r.screen.change(func() { r.screen.status.set(key, text) })
}

// SetWidget sets lines that a hook shows around the line; nil removes them.
func (r *REPL) SetWidget(place agent.Place, key string, lines []string) {
	r.screen.change(func() { r.screen.widgets.set(place, key, lines) })
}

// SetTitle names the terminal's window. Close puts the name from before back, where
// the terminal can remember it.
func (r *REPL) SetTitle(text string) {
	if r.opts.Dumb || !isTerminal(r.opts.Out) || r.begin() != nil {
		return
	}
	r.title.name(r.term.Control, cells.Cut(printable.Line(text), titleColumns))
}

const (
	titleColumns = 200
	titleSave    = "\x1b[22;2t"
	titleBack    = "\x1b[23;2t"
)

// SetWorking sets a text that is shown while the agent works; "" is the usual one.
func (r *REPL) SetWorking(text string) {
	r.screen.change(func() { r.screen.busy.text = printable.Line(text) })
}

// SetIndicator sets the signs that turn while something runs; nil is the usual ones.
func (r *REPL) SetIndicator(frames []string, every time.Duration) {
	var clean []string
	for _, f := range frames {
		clean = append(clean, cells.Cut(printable.Line(f), indicatorColumns))
	}
	if frames != nil && clean == nil {
		clean = []string{}
	}
	r.screen.change(func() { r.screen.busy.frames, r.screen.busy.every = clean, every })
}

const indicatorColumns = 20

// SetEditorText replaces the text in the line.
func (r *REPL) SetEditorText(text string) {
	text = strings.Trim(printable.Text(text), "\n")
	r.screen.change(func() { r.screen.line.set(text) })
}

// EditorText is the text in the line.
func (r *REPL) EditorText() string {
	r.screen.mu.Lock()
	defer r.screen.mu.Unlock()
	return r.screen.line.text()
}

// Theme paints for this terminal.
func (r *REPL) Theme() agent.Theme { return r.screen.palette }

var _ agent.UI = (*REPL)(nil)
