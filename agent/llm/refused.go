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
	mu          sync.Mutex
	bySignature map[string]bool // replaced, never changed: requests have it
}

// Known returns the signatures of all that were refused, for [Request].Refused.
func (t *RefusedThoughts) Known() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bySignature
}

// Note notes the thoughts that r sends back to its model as refused, and reports whether
// there was one: what r was told to leave out did not go along.
func (t *RefusedThoughts) Note(r *Request) (fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := map[string]bool{}
	for _, m := range r.Messages {
		if m.Provider != r.Model.Provider || m.Model != r.Model.ID {
			continue // they went as text, if at all
		}
		for i := range m.Content {
			if b := &m.Content[i]; b.Type == message.BlockThinking && b.Signature != "" && !r.Refused[b.Signature] {
				next[b.Signature] = true
			}
		}
	}
	if fresh = len(next) > 0; fresh {
		maps.Copy(next, t.bySignature)
		t.bySignature = next
	}
	return fresh
}
