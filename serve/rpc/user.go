package rpc

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
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
	Default     string   `json:"default,omitempty"`
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

// dialogs are the questions that the client was asked and has not answered. Any number may be
// open. All methods may be called from any goroutine.
type dialogs struct {
	ended chan struct{} // closed when nobody answers any more
	close func()        // gives all questions, those to come too, their default answers

	mu     sync.Mutex // guards what follows
	open   map[string]chan *request
	opened chan struct{} // closed, and made anew, when a question is asked
}

func newDialogs() *dialogs {
	ended := make(chan struct{})
	return &dialogs{ended: ended, close: sync.OnceFunc(func() { close(ended) }), open: map[string]chan *request{}, opened: make(chan struct{})}
}

// nextOpen returns what is closed when the next question is asked.
func (d *dialogs) nextOpen() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

// begin makes room for an answer.
func (d *dialogs) begin(id string) <-chan *request {
	d.mu.Lock()
	defer d.mu.Unlock()
	answer := make(chan *request, 1)
	d.open[id] = answer
	close(d.opened)
	d.opened = make(chan struct{})
	return answer
}

// end forgets a question; an answer that comes later is dropped.
func (d *dialogs) end(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, id)
}

// answer hands an answer of the client to whoever asked. One that nobody waits for is
// dropped.
func (d *dialogs) answer(given *request) {
	id, err := given.string("id")
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if waits := d.open[id]; waits != nil {
		delete(d.open, id) // the first counts
		waits <- given
	}
}

// newID returns a random id in the form of a UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// ask asks the client and waits for its answer; nil if there is none: the user left, the
// time was up, or nobody answers any more. The end of ctx is its error.
func (p *user) ask(ctx context.Context, question shown, o agent.DialogOptions) (*request, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.dialogs.ended:
		return nil, nil
	default:
	}
	question.ID, question.Timeout = newID(), o.TimeoutMS
	answer := p.dialogs.begin(question.ID)
	defer p.dialogs.end(question.ID)
	p.put(question)
	var up <-chan time.Time
	if o.TimeoutMS > 0 {
		timer := time.NewTimer(time.Duration(o.TimeoutMS) * time.Millisecond)
		defer timer.Stop()
		up = timer.C
	}
	select {
	case given := <-answer:
		if string(given.fields["cancelled"]) == "true" {
			return nil, nil
		}
		return given, nil
	case <-up:
		return nil, nil
	case <-p.dialogs.ended:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// askText asks for a text.
func (p *user) askText(ctx context.Context, question shown, o agent.DialogOptions) (text string, ok bool, err error) {
	given, err := p.ask(ctx, question, o)
	if given == nil {
		return "", false, err
	}
	text, wrong := given.string("value")
	return text, wrong == nil, nil
}

// Select asks the client to choose one. It sees the labels; equal ones get a number. Several
// at once cannot be chosen over this protocol: then there is no answer.
func (p *user) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	if o.Multi {
		return nil, false, nil
	}
	options, values := labels(choices)
	question := shown{Method: "select", Title: cleaned(title), Options: options}
	if i := slices.IndexFunc(choices, func(c agent.Choice) bool { return slices.Contains(o.Default, c.Value) }); i >= 0 {
		question.Default = options[i]
	}
	label, ok, err := p.askText(ctx, question, o)
	if !ok {
		return nil, false, err
	}
	if value, offered := values[label]; offered {
		label = value
	}
	return []string{label}, true, nil
}

// labels returns what is shown of choices, each different, and the values by that.
func labels(choices []agent.Choice) (shown []string, values map[string]string) {
	shown, values = make([]string, 0, len(choices)), map[string]string{}
	for _, c := range choices {
		label := printable.Text(c.Text())
		for n := 2; ; n++ {
			if _, taken := values[label]; !taken {
				break
			}
			label = fmt.Sprintf("%s (%d)", printable.Text(c.Text()), n)
		}
		shown, values[label] = append(shown, label), c.Value
	}
	return shown, values
}

// Confirm asks the client a question; only true is Yes.
func (p *user) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	given, err := p.ask(ctx, shown{Method: "confirm", Title: cleaned(title), Message: cleaned(message)}, o)
	if given != nil && string(given.fields["confirmed"]) == "true" {
		return agent.Yes, nil
	}
	return agent.No, err
}

// Input asks the client for a text.
func (p *user) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	return p.askText(ctx, shown{Method: "input", Title: cleaned(title), Placeholder: printable.Text(placeholder)}, o)
}

// Editor asks the client for a text of several lines, which may begin with prefill.
func (p *user) Editor(ctx context.Context, title, prefill string, o agent.DialogOptions) (string, bool, error) {
	return p.askText(ctx, shown{Method: "editor", Title: cleaned(title), Prefill: prefill}, o)
}
