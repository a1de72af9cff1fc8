package hooktest

import (
	"context"
	"sync"

	"pi/agent"
)

// question is what a hook asks the person.
type question struct {
	kind, title, message string // select, confirm, input, editor; the text below or in the field
	choices              []agent.Choice
	options              agent.DialogOptions
}

// reply is what the person says; the zero value is that of one who leaves the dialog.
type reply struct {
	given  bool
	yes    bool
	always bool
	texts  []string // the text, or what is selected
}

// person answers what hooks ask, by the functions of the case. Without them nobody is there.
type person struct {
	agent.NoUI
	witness *witness

	mu     sync.Mutex // guards what follows
	answer func(ctx context.Context, q question) (reply, error)
	typed  string
	views  []*view
	use    func(v *view) // plays with a component; nil: nothing does
}

// meet makes somebody be there, who answers as answer does.
func (p *person) meet(answer func(ctx context.Context, q question) (reply, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

func (p *person) answers() func(ctx context.Context, q question) (reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answer
}

// HasUI reports whether somebody is there.
func (p *person) HasUI() bool { return p.answers() != nil }

// ask shows a question and returns what the person says.
func (p *person) ask(ctx context.Context, q question) (reply, error) {
	answer := p.answers()
	if answer == nil {
		return reply{}, nil
	}
	for _, text := range []string{q.title, q.message} {
		if text != "" {
			p.witness.show(text)
		}
	}
	return answer(ctx, q)
}

// Select asks for choices.
func (p *person) Select(ctx context.Context, title string, choices []agent.Choice, o agent.DialogOptions) ([]string, bool, error) {
	r, err := p.ask(ctx, question{kind: "select", title: title, choices: choices, options: o})
	return r.texts, r.given, err
}

// Confirm asks for yes or no.
func (p *person) Confirm(ctx context.Context, title, message string, o agent.DialogOptions) (agent.Answer, error) {
	r, err := p.ask(ctx, question{kind: "confirm", title: title, message: message, options: o})
	switch {
	case r.always && o.Always != "":
		return agent.Always, err
	case r.yes:
		return agent.Yes, err
	}
	return agent.No, err
}

// Input asks for a line.
func (p *person) Input(ctx context.Context, title, placeholder string, o agent.DialogOptions) (string, bool, error) {
	return p.text(ctx, question{kind: "input", title: title, message: placeholder, options: o})
}

// Editor asks for a text.
func (p *person) Editor(ctx context.Context, title, prefill string, o agent.DialogOptions) (string, bool, error) {
	return p.text(ctx, question{kind: "editor", title: title, message: prefill, options: o})
}

func (p *person) text(ctx context.Context, q question) (string, bool, error) {
	r, err := p.ask(ctx, q)
	if len(r.texts) == 0 {
		return "", false, err
	}
	return r.texts[0], r.given, err
}

// Notify remembers a notice.
func (p *person) Notify(text string, level agent.Level) { p.witness.notify(text, level) }

// SetStatus remembers a part of the status line.
func (p *person) SetStatus(key, text string) { p.witness.setStatus(key, text) }

// SetWidget remembers the lines of a widget as read.
func (p *person) SetWidget(_ agent.Place, _ string, lines []string) {
	for _, line := range lines {
		p.witness.show(line)
	}
}

// SetPlan remembers the steps of a plan as read.
func (p *person) SetPlan(items []agent.PlanItem) {
	for _, item := range items {
		p.witness.show(item.Status + ": " + item.Content)
	}
}

// SetEditorText puts a text into the line being typed.
func (p *person) SetEditorText(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.typed = text
}

// EditorText is the line being typed.
func (p *person) EditorText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.typed
}
