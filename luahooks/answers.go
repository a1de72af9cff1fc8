package luahooks

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"pi/agent"
	"pi/internal/printable"
	"pi/luahooks/api"
)

// openPrompts are the dialogs of hooks that are open. Other hooks may answer them, if their user
// lets them. Questions of the program itself are never among them.
type openPrompts struct {
	mu   sync.Mutex // guards what follows
	last int        // id
	open map[string]*openPrompt
}

// openPrompt is one of them.
type openPrompt struct {
	api.Prompt
	end   context.CancelFunc
	by    string     // the hook that answered
	reply *api.Reply // nil: none has
}

// begin opens a dialog, which end closes.
func (o *openPrompts) begin(p api.Prompt, end context.CancelFunc) (id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		o.open = map[string]*openPrompt{}
	}
	o.last++
	id = strconv.Itoa(o.last)
	o.open[id] = &openPrompt{Prompt: p, end: end}
	return id
}

// take returns what became of a dialog, which is not open any more.
func (o *openPrompts) take(id string) *openPrompt {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.open[id]
	delete(o.open, id)
	return p
}

// OpenPrompt is that of [api.Answerer].
func (o *openPrompts) OpenPrompt(id string) (api.Prompt, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.open[id]; p != nil && p.reply == nil {
		return p.Prompt, true
	}
	return api.Prompt{}, false
}

// Answer is that of [api.Answerer]. The first answer counts.
func (o *openPrompts) Answer(id, hook string, r api.Reply) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.open[id]
	if p == nil || p.reply != nil {
		return false
	}
	p.by, p.reply = hook, &r
	p.end()
	return true
}

// AskPrompt is that of [api.Dialogs].
func (q *dialogQueue) AskPrompt(ctx context.Context, p api.Prompt, f func(context.Context) error) (*api.Reply, error) {
	var answered *openPrompt
	err := q.Ask(ctx, p.Kind, p.Title, func(ctx context.Context) error {
		shown, end := context.WithCancel(ctx)
		defer end()
		id := q.prompts.begin(p, end)
		if q.events.Wants(agent.KindUIPrompt) {
			_ = q.events.Handle(ctx, &agent.UIPrompt{ID: id, PromptKind: p.Kind, Title: p.Title, Message: p.Message, Choices: p.Choices, Multi: p.Multi, Hook: p.Hook})
		}
		err := f(shown)
		answered = q.prompts.take(id)
		return err
	})
	if answered == nil || answered.reply == nil {
		return nil, err
	}
	text := fmt.Sprintf("hook %s answered %q of hook %s: %s", answered.by, printable.Short(p.Title), p.Hook, printable.Short(answered.reply.Shown))
	q.ui().Notify(text, agent.LevelInfo) // as hooks notify, so that a client is told too
	return answered.reply, nil
}
