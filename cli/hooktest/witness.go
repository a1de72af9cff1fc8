package hooktest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"pi/agent"
)

// witness is a front end that remembers what happens.
type witness struct {
	mu  sync.Mutex // guards all, and the calls in it
	all []any      // in its order: *seenCall, notice, statusPart, and texts that a user would have read otherwise
}

// seenCall is a call of a tool.
type seenCall struct {
	id, name string
	agent    string // that has made it; "" in the session of the user
	input    json.RawMessage
	ran      bool
	text     string // of its result
	isError  bool
}

// notice is a line for the user.
type notice struct {
	Level agent.Level
	Text  string
}

// statusPart is a part of the status line; without a text it is gone.
type statusPart struct{ key, text string }

// Wants reports whether events of kind k are remembered.
func (w *witness) Wants(k agent.Kind) bool {
	return slices.Contains([]agent.Kind{agent.KindToolExecutionStart, agent.KindToolResult, agent.KindToolExecutionEnd, agent.KindNotice,
		agent.KindCustomShow}, k)
}

// Handle remembers e. It never fails.
func (w *witness) Handle(_ context.Context, e agent.Event) error {
	w.noteCall("", e)
	switch e := e.(type) {
	case *agent.Notice:
		w.add(notice{e.Level, e.Text})
	case *agent.CustomShow:
		w.add(e.Message.Text())
	}
	return nil
}

// noteCall remembers what e says of a call of a tool; of is the agent that has made it.
func (w *witness) noteCall(of string, e agent.Event) {
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		w.add(&seenCall{id: e.ID, name: e.Name, agent: of, input: e.Input})
	case *agent.ToolResult:
		w.change(of, e.ID, func(c *seenCall) { c.ran, c.input = true, e.Input })
	case *agent.ToolExecutionEnd:
		w.change(of, e.ID, func(c *seenCall) { c.isError, c.text = e.Result.IsError, textOf(e.Result) })
	}
}

// ofAgent is what remembers the calls of an agent that a hook uses.
func (w *witness) ofAgent(who agent.Identity) agent.Listener { return childWitness{w, who.Name} }

// childWitness listens to such an agent.
type childWitness struct {
	witness *witness
	name    string
}

// Wants reports whether events of kind k are about calls.
func (c childWitness) Wants(k agent.Kind) bool {
	return k == agent.KindToolExecutionStart || k == agent.KindToolResult || k == agent.KindToolExecutionEnd
}

// Handle remembers a call. It never fails.
func (c childWitness) Handle(_ context.Context, e agent.Event) error {
	c.witness.noteCall(c.name, e)
	return nil
}

// add remembers something.
func (w *witness) add(one any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, one)
}

// change adds to what is known of the newest call of an id that an agent has made.
func (w *witness) change(of, id string, more func(c *seenCall)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range slices.Backward(w.all) {
		if c, ok := one.(*seenCall); ok && c.id == id && c.agent == of {
			more(c)
			return
		}
	}
}

// each calls f with all that happened so far.
func (w *witness) each(f func(one any)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		f(one)
	}
}

// statuses returns the parts of the status line.
func (w *witness) statuses() map[string]string {
	parts := map[string]string{}
	w.each(func(one any) {
		if part, ok := one.(statusPart); ok && part.text == "" {
			delete(parts, part.key)
		} else if ok {
			parts[part.key] = part.text
		}
	})
	return parts
}

// called returns the calls of a tool so far; of all, if name is "".
func (w *witness) called(name string) (calls []seenCall) {
	w.each(func(one any) {
		if c, ok := one.(*seenCall); ok && (name == "" || c.name == name) {
			calls = append(calls, *c)
		}
	})
	return calls
}

// told returns the notices so far.
func (w *witness) told() (notices []notice) {
	w.each(func(one any) {
		if n, ok := one.(notice); ok {
			notices = append(notices, n)
		}
	})
	return notices
}

// shown returns all that a user would have read so far.
func (w *witness) shown() (texts []string) {
	w.each(func(one any) {
		switch one := one.(type) {
		case string:
			texts = append(texts, one)
		case notice:
			texts = append(texts, one.Text)
		case statusPart:
			if one.text != "" {
				texts = append(texts, one.text)
			}
		}
	})
	return texts
}

func textOf(r agent.Result) string {
	var parts []string
	for _, b := range r.Content {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
