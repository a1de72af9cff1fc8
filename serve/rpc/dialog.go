package rpc

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"pi/agent"
	"pi/internal/printable"
)

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
	label, ok, err := p.askText(ctx, shown{Method: "select", Title: cleaned(title), Options: options}, o)
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
