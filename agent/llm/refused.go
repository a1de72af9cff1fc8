package llm

import (
	"maps"
	"sync"

	"pi/session/message"
)

// RefusedThoughts are the thoughts that servers have refused since the program was started,
// see [ProviderError].Unfit. They stay out of all later requests; thoughts that a model has
// from then on go back to it as usual. The zero value is ready; all methods may be called
// from any goroutine.
type RefusedThoughts struct {
	mu  sync.Mutex
	all map[Thought]bool // replaced, never changed: requests have it
}

// Thought tells a thought of an answer from others. Its signature alone does not: over Chat
// Completions that is the name of a field, which many thoughts have.
type Thought struct{ Signature, Text string }

// ThoughtOf is the thought in a block.
func ThoughtOf(b *message.Block) Thought { return Thought{b.Signature, b.Text} }

// Known returns all that were refused, for [Request].Refused.
func (t *RefusedThoughts) Known() map[Thought]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all
}

// Note notes the thoughts that r sends back to its model as refused, and reports whether
// there was one: what r was told to leave out did not go along.
func (t *RefusedThoughts) Note(r *Request) (fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := map[Thought]bool{}
	for _, m := range r.Messages {
		if m.Provider != r.Model.Provider || m.Model != r.Model.ID {
			continue // they went as text, if at all
		}
		for i := range m.Content {
			if b := &m.Content[i]; b.Type == message.BlockThinking && b.Signature != "" && !r.Refused[ThoughtOf(b)] {
				next[ThoughtOf(b)] = true
			}
		}
	}
	if fresh = len(next) > 0; fresh {
		maps.Copy(next, t.all)
		t.all = next
	}
	return fresh
}

// RefusedLevels are the levels of thinking that servers did not take for a model since the
// program was started, see [ProviderError].NoLevel. They are not asked for any more. The
// zero value is ready; all methods may be called from any goroutine.
type RefusedLevels struct{ all sync.Map }

// refusedLevel is a level of thinking of a model.
type refusedLevel struct{ provider, id, level string }

// Has reports whether the level that r asks for was refused.
func (t *RefusedLevels) Has(r *Request) bool {
	_, refused := t.all.Load(refusedLevel{r.Model.Provider, r.Model.ID, r.Thinking})
	return refused
}

// LevelOf returns the level for which r is answered; "" for one that was refused.
func (t *RefusedLevels) LevelOf(r *Request) string {
	if t.Has(r) {
		return ""
	}
	return r.Thinking
}

// Note notes that the level which r asks for was refused.
func (t *RefusedLevels) Note(r *Request) {
	t.all.Store(refusedLevel{r.Model.Provider, r.Model.ID, r.Thinking}, true)
}
