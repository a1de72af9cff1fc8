package rpc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

// lines writes lines for a user beside the records. Any goroutine may write; the lines
// never mix.
type lines struct {
	mu sync.Mutex // guards writes to w
	w  io.Writer
}

// notice writes a notice, with its level in front if that is a warning or an error.
func (b *lines) notice(text string, level agent.Level) {
	text = strings.TrimRight(printable.Text(text), "\n")
	if level == agent.LevelWarning || level == agent.LevelError {
		text = string(level) + ": " + text
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = fmt.Fprintln(b.w, text) // what cannot be shown here has nowhere else to go
}

// user is the user interface of hooks: the client. It may be used by any goroutine.
type user struct {
	out     *output
	dialogs *dialogs
}

var _ agent.UI = (*user)(nil)

// tellError tells the client of an error that is no answer to a command.
func (p *user) tellError(err error) { p.Notify(errorText(err), agent.LevelError) }

// shown is a record of what a hook shows, or asks.
type shown struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Method string `json:"method"`

	Title       *string  `json:"title,omitempty"`
	Message     *string  `json:"message,omitempty"`
	Options     []string `json:"options,omitzero"`
	Placeholder string   `json:"placeholder,omitempty"`
	Prefill     string   `json:"prefill,omitempty"`
	Timeout     int      `json:"timeout,omitempty"`
	NotifyType  string   `json:"notifyType,omitempty"`
	StatusKey   *string  `json:"statusKey,omitempty"`
	StatusText  string   `json:"statusText,omitempty"`
	WidgetKey   *string  `json:"widgetKey,omitempty"`
	WidgetLines []string `json:"widgetLines,omitzero"`
	Placement   string   `json:"widgetPlacement,omitempty"`
	Text        *string  `json:"text,omitempty"`
}

// put writes a record of what a hook shows or asks.
func (p *user) put(r shown) {
	r.Type = "extension_ui_request"
	if r.ID == "" {
		r.ID = newID()
	}
	record, err := encode(r)
	if err == nil { // strings can always be encoded
		p.out.write(record)
	}
}

// cleaned is a text of a hook without what commands a terminal.
func cleaned(text string) *string {
	text = printable.Text(text)
	return &text
}

// HasUI reports true: the client answers.
func (p *user) HasUI() bool { return true }

// IsClient reports true: some clients answer yes to everything.
func (p *user) IsClient() bool { return true }

// SeveralDialogs reports true: a question that the client leaves open keeps no other from
// being asked.
func (p *user) SeveralDialogs() bool { return true }

// Notify shows a notice.
func (p *user) Notify(text string, level agent.Level) {
	p.put(shown{Method: "notify", Message: cleaned(text), NotifyType: string(level)})
}

// SetStatus shows a part of the status line; "" removes it.
func (p *user) SetStatus(key, text string) {
	p.put(shown{Method: "setStatus", StatusKey: cleaned(key), StatusText: printable.Line(text)})
}

// SetWidget shows lines above or below the line being typed; nil removes them. Other places
// are none of a client.
func (p *user) SetWidget(place agent.Place, key string, lines []string) {
	r := shown{Method: "setWidget", WidgetKey: cleaned(key)}
	switch place {
	case agent.Above:
	case agent.Below:
		r.Placement = "belowEditor"
	default:
		return
	}
	if lines != nil {
		r.WidgetLines = make([]string, len(lines))
		for i, line := range lines {
			r.WidgetLines[i] = printable.Text(line)
		}
	}
	p.put(r)
}

// SetPlan shows a plan above the line being typed; without items it takes it away.
func (p *user) SetPlan(items []agent.PlanItem) {
	marks := map[string]string{"completed": "[x] ", "in_progress": "[>] "}
	var lines []string
	for _, it := range items {
		lines = append(lines, cmp.Or(marks[it.Status], "[ ] ")+printable.Line(it.Content))
	}
	p.SetWidget(agent.Above, "plan", lines)
}

// SetTitle shows the title of the window.
func (p *user) SetTitle(text string) {
	p.put(shown{Method: "setTitle", Title: cleaned(text)})
}

// SetEditorText replaces the line being typed.
func (p *user) SetEditorText(text string) {
	p.put(shown{Method: "set_editor_text", Text: cleaned(text)})
}

// EditorText returns nothing: only the client knows its line.
func (p *user) EditorText() string { return "" }

// SetWorking does nothing: the protocol has no place for it.
func (p *user) SetWorking(string) {}

// SetIndicator does nothing, likewise.
func (p *user) SetIndicator([]string, time.Duration) {}

// Custom shows nothing: a component draws for a terminal.
func (p *user) Custom(agent.Component, agent.SurfaceOptions) (agent.Surface, error) {
	return nil, nil
}

// Lend runs nothing: there is no terminal.
func (p *user) Lend(context.Context, agent.Program) (agent.Exit, error) {
	return agent.Exit{}, agent.ErrNoTerminal
}

// Theme paints nothing.
func (p *user) Theme() agent.Theme { return agent.PlainTheme{} }
