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
	mu      sync.Mutex // guards what follows
	calls   []*seenCall
	notices []notice
	shown   []string // all that a person would have read, in its order
	status  map[string]string
}

// seenCall is a call of a tool.
type seenCall struct {
	id, name string
	input    json.RawMessage
	ran      bool
	ended    bool
	text     string // of its result
	isError  bool
}

// notice is a line for the person.
type notice struct {
	Level agent.Level `json:"level"`
	Text  string      `json:"text"`
}

// Wants reports whether events of kind k are remembered.
func (w *witness) Wants(k agent.Kind) bool {
	return slices.Contains([]agent.Kind{agent.KindToolExecutionStart, agent.KindToolResult, agent.KindToolExecutionEnd, agent.KindNotice,
		agent.KindCustomShow}, k)
}

// Handle remembers e. It never fails.
func (w *witness) Handle(_ context.Context, e agent.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case *agent.ToolExecutionStart:
		w.calls = append(w.calls, &seenCall{id: e.ID, name: e.Name, input: e.Input})
	case *agent.ToolResult:
		if c := w.callLocked(e.ID); c != nil {
			c.ran, c.input = true, e.Input
		}
	case *agent.ToolExecutionEnd:
		if c := w.callLocked(e.ID); c != nil {
			c.ended, c.isError, c.text = true, e.Result.IsError, textOf(e.Result)
		}
	case *agent.Notice:
		w.noticeLocked(notice{e.Level, e.Text})
	case *agent.CustomShow:
		w.shown = append(w.shown, e.Message.Text())
	}
	return nil
}

// callLocked returns the newest call of an id. mu is held.
func (w *witness) callLocked(id string) *seenCall {
	for _, c := range slices.Backward(w.calls) {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (w *witness) noticeLocked(n notice) {
	w.notices = append(w.notices, n)
	w.shown = append(w.shown, n.Text)
}

// notify remembers a notice that came past the agent.
func (w *witness) notify(text string, level agent.Level) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noticeLocked(notice{level, text})
}

// show remembers what a person reads.
func (w *witness) show(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = append(w.shown, text)
}

// setStatus remembers a part of the status line; "" removes it.
func (w *witness) setStatus(key, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == "" {
		delete(w.status, key)
		return
	}
	w.status[key] = text
	w.shown = append(w.shown, text)
}

// statuses returns the parts of the status line.
func (w *witness) statuses() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]string{}
	for key, text := range w.status {
		all[key] = text
	}
	return all
}

// called returns the calls of a tool so far; of all, if name is "".
func (w *witness) called(name string) (calls []seenCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if name == "" || c.name == name {
			calls = append(calls, *c)
		}
	}
	return calls
}

// told returns the notices so far.
func (w *witness) told() []notice {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.notices)
}

// seen returns all that a person would have read so far.
func (w *witness) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.shown)
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
