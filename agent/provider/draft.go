package provider

import (
	"bytes"
	"slices"
	"sync"
	"weak"

	"pi/agent/llm"
	"pi/session/message"
)

// A request of a conversation begins as the one before it did, so what was written for
// that one is kept in the client and only the rest is written. What is kept is a [Draft]
// behind the last answer of the request: what comes behind that may be another the next
// time, as what hooks add at the end. A request that begins otherwise, after a compaction,
// an edit or with another model, is written from its beginning.

// Draft is what an API makes of the messages of a request, one after the other. M is a
// message as it goes over the wire. A draft is used by one goroutine at a time.
type Draft[D, M any] interface {
	// Fits reports whether the draft is right for a request to the same model that goes on
	// from its messages.
	Fits(r *llm.Request) bool
	// Add writes the next message of the conversation.
	Add(m *message.Message)
	// TakeFinal takes out the messages that go over the wire as they are, whatever is added.
	TakeFinal() []M
	// Fork returns a copy that may be changed, and to which anything but an answer may be
	// added, while the draft stays as it is.
	Fork() D
}

// What a client keeps at most: a conversation that takes more is written from its
// beginning each time.
const (
	mostKept  = 32 << 20 // bytes
	mostKeeps = 64       // conversations
)

// Drafts are those of the conversations of a client. The zero value is ready; all methods
// may be called from any goroutine.
type Drafts[D Draft[D, M], M any] struct {
	mu   sync.Mutex
	kept []*written[D, M] // the one that was used last is the last
}

// written is a conversation of which the beginning was written.
type written[D Draft[D, M], M any] struct {
	session  string
	model    *llm.Model
	seen     []weak.Pointer[message.Message] // what draft has; weak, for the session may be closed
	draft    D
	elements [][]byte // what was final in it, see [AppendElements]
	size     int      // of what it says, in bytes
}

// Encode returns the body of a request. write makes it of the messages that were written
// already, see [AppendElements], and of a draft that has all that come behind them; begin
// makes an empty draft. Nothing is kept of a request outside of a session. The error is an
// *[llm.ProviderError].
func (k *Drafts[D, M]) Encode(r *llm.Request, begin func() D, write func(elements [][]byte, rest D) ([]byte, error)) ([]byte, error) {
	w := k.take(r)
	if w == nil {
		w = &written[D, M]{session: r.SessionID, model: r.Model, draft: begin()}
	}
	var err error
	if r.SessionID != "" {
		err = w.extend(r.Messages[:upToAnswer(r.Messages)])
	}
	var body []byte
	if err == nil {
		rest := w.draft
		if len(w.seen) > 0 {
			rest = w.draft.Fork()
		}
		for _, m := range r.Messages[len(w.seen):] {
			rest.Add(m)
		}
		body, err = write(w.elements, rest)
	}
	if err != nil {
		return nil, &llm.ProviderError{Provider: r.Model.Provider, Message: "encode the request", Err: err}
	}
	k.keep(w)
	return body, nil
}

// upToAnswer is how many messages there are up to the last answer.
func upToAnswer(messages []*message.Message) int {
	n := len(messages)
	for n > 0 && messages[n-1].Role != message.RoleAssistant {
		n--
	}
	return n
}

// extend writes those of messages that were not written yet.
func (w *written[D, M]) extend(messages []*message.Message) error {
	for _, m := range messages[len(w.seen):] {
		w.draft.Add(m)
		w.seen = append(w.seen, weak.Make(m))
		for i := range m.Content {
			b := &m.Content[i]
			w.size += len(b.Text) + len(b.Signature) + len(b.Arguments) + len(b.Data)
		}
	}
	elements, err := AppendElements(w.elements, w.draft.TakeFinal())
	w.elements = elements
	return err
}

// take takes out what is kept of the conversation that a request goes on with; nil if
// there is nothing that it can begin with.
func (k *Drafts[D, M]) take(r *llm.Request) *written[D, M] {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, w := range k.kept {
		if w.session == r.SessionID && w.model == r.Model {
			k.kept = slices.Delete(k.kept, i, i+1)
			if w.begins(r.Messages) && w.draft.Fits(r) {
				return w
			}
			return nil
		}
	}
	return nil
}

// begins reports whether messages begin with what was written. A message never changes,
// so the same one says the same.
func (w *written[D, M]) begins(messages []*message.Message) bool {
	if len(w.seen) > len(messages) {
		return false
	}
	for i := range w.seen {
		if w.seen[i].Value() != messages[i] {
			return false
		}
	}
	return true
}

// keep keeps what was written for the next request of its conversation. It forgets those
// that were used longest ago, where there is too much of them.
func (k *Drafts[D, M]) keep(w *written[D, M]) {
	if len(w.seen) == 0 || w.size > mostKept {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = slices.DeleteFunc(k.kept, func(other *written[D, M]) bool { return other.session == w.session && other.model == w.model })
	k.kept = append(k.kept, w)
	size := 0
	for _, kept := range k.kept {
		size += kept.size
	}
	for size > mostKept || len(k.kept) > mostKeeps {
		size -= k.kept[0].size
		k.kept = slices.Delete(k.kept, 0, 1)
	}
}

// ByModel keeps what a client makes of a model, which never changes. The zero value is
// ready; all methods may be called from any goroutine.
type ByModel[T any] struct {
	mu   sync.Mutex
	kept map[*llm.Model]T
}

// Of returns what build makes of a model. What it returns with an error is not kept.
func (k *ByModel[T]) Of(m *llm.Model, build func(*llm.Model) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if made, ok := k.kept[m]; ok {
		return made, nil
	}
	made, err := build(m)
	if err != nil {
		return made, err
	}
	if k.kept == nil || len(k.kept) >= mostKeeps {
		k.kept = map[*llm.Model]T{} // those that are still asked are made again
	}
	k.kept[m] = made
	return made, nil
}

// Described keeps what an API made of the tools of a conversation, which are the same in
// most of its requests. The zero value is ready.
type Described[T any] struct {
	specs []llm.ToolSpec
	tools []T
}

// Tools returns what encode makes of specs. Nobody changes it.
func (d *Described[T]) Tools(specs []llm.ToolSpec, encode func([]llm.ToolSpec) []T) []T {
	same := func(a, b llm.ToolSpec) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Parameters, b.Parameters)
	}
	if d.tools == nil || !slices.EqualFunc(d.specs, specs, same) {
		d.specs, d.tools = slices.Clone(specs), encode(specs)
	}
	return d.tools
}
