package repl

import (
	"errors"
	"slices"
	"strings"
	"time"

	"pi/agent"
	"pi/internal/cells"
	"pi/internal/printable"
)

// HasUI reports whether a person can be asked.
func (p *person) HasUI() bool { return isTerminal(p.opts.In) }

// Notify shows a line that is no part of the conversation, between two blocks of it.
func (p *person) Notify(text string, level agent.Level) { p.screen.notify(text, level) }

// SetStatus sets the words of a hook in the status line; "" removes them.
func (p *person) SetStatus(key, text string) {
	p.screen.change(func() { p.screen.status.set(key, text) })
}

// SetWidget sets lines that a hook shows around the line; nil removes them.
func (p *person) SetWidget(place agent.Place, key string, lines []string) {
	p.screen.change(func() { p.screen.widgets.set(place, key, lines) })
}

// SetPlan shows what is open of a plan above the line; none takes it away.
func (p *person) SetPlan(items []agent.PlanItem) {
	p.screen.change(func() { p.screen.widgets.plan = slices.Clone(items) })
}

// SetTitle names the terminal's window. Close puts the name from before back, where
// the terminal can remember it.
func (p *person) SetTitle(text string) {
	if p.opts.Dumb || !isTerminal(p.opts.Out) || p.begin() != nil {
		return
	}
	p.title.name(p.term.Control, cells.Cut(printable.Line(text), titleColumns))
}

const (
	titleColumns = 200
	titleSave    = "\x1b[22;2t"
	titleBack    = "\x1b[23;2t"
)

// SetWorking sets a text that is shown while the agent works, which may have colours of the
// theme; "" is the usual one.
func (p *person) SetWorking(text string) {
	if printable.Line(text) == "" {
		text = ""
	}
	p.screen.change(func() { p.screen.busy.text = text })
}

// SetIndicator sets the signs that turn while something runs, which may have colours of the
// theme; nil is the usual ones.
func (p *person) SetIndicator(frames []string, every time.Duration) {
	p.screen.change(func() { p.screen.busy.frames, p.screen.busy.every = slices.Clone(frames), every })
}

const indicatorColumns = 20

// SetEditorText replaces the text in the line.
func (p *person) SetEditorText(text string) {
	text = strings.Trim(printable.Text(text), "\n")
	p.screen.change(func() { p.screen.line.placeText(text) })
}

// EditorText is the text in the line.
func (p *person) EditorText() string {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.line.text()
}

// Sequence writes a sequence that moves nothing to the terminal. It is an error where
// none is to be written.
func (p *person) Sequence(sequence string) error {
	if err := p.begin(); err != nil {
		return err
	}
	if p.opts.Dumb || !isTerminal(p.opts.Out) {
		return errors.New("the terminal takes no sequences")
	}
	p.term.Control(sequence)
	return nil
}

// Adjusts reports whether a change of a setting holds at once.
func (p *person) Adjusts(key string) bool {
	switch key {
	case "ui.show_thinking", "ui.highlight", "ui.notify", "ui.menu", "ui.background":
		return true
	}
	return false
}

// Adjust makes another value of a setting hold.
func (p *person) Adjust(key, value string) {
	light := false
	if key == "ui.background" { // the screen is not locked while the terminal answers
		light = value == "light" || value == "auto" && p.begin() == nil && p.term.AskLight()
	}
	p.screen.change(func() {
		switch key {
		case "ui.background":
			p.screen.setLight(light)
		case "ui.show_thinking":
			p.screen.showThinking = value == "true"
		case "ui.highlight":
			p.screen.highlight = value == "true"
		case "ui.notify":
			p.screen.notifyWith = value
		case "ui.menu":
			p.screen.menuWith = value
		}
	})
}

// Theme paints for this terminal.
func (p *person) Theme() agent.Theme { return p.palette() }

var _ agent.UI = (*person)(nil)
