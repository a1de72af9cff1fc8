package agent

import (
	"encoding/json"
	"sync"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/session"
)

// sentRequest is a request of the conversation, and what it was made of. Nothing in
// it changes.
type sentRequest struct {
	session *session.Session
	system  promptText
	chain   chained
	answer  string // the id of its entry; "": none yet
}

// lastSent is what was sent last. The zero value is ready; all methods may be called
// from any goroutine.
type lastSent struct {
	prefix prefix.Log
	mu     sync.Mutex   // guards last
	last   *sentRequest // of a conversation
}

// of returns the last request, or nil if it was of another session.
func (l *lastSent) of(s *session.Session) *sentRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.session != s {
		return nil
	}
	return l.last
}

// noteRequest notes what is about to be sent as r. tools are those of r, by is the hook
// that chose them.
func (l *lastSent) noteRequest(is *sentRequest, r *llm.Request, tools []Tool, by string) {
	l.mu.Lock()
	l.last = is
	l.mu.Unlock()
	begin := &prefix.Request{Session: is.session, ToolsBy: by, Messages: r.Messages,
		System: prefix.Stages[string]{Base: is.system.base, Each: is.system.stages},
		Items:  prefix.Stages[[]session.Item]{Base: is.chain.core, Each: is.chain.stages}}
	for i, t := range tools {
		begin.Tools = append(begin.Tools, prefix.Tool{Spec: r.Tools[i], By: sourceOf(t)})
	}
	l.prefix.NoteRequest(begin)
}

// noteBody notes the body of r before the listeners, and as each left it.
func (l *lastSent) noteBody(r *llm.Request, body json.RawMessage, stages []PayloadStage) {
	l.prefix.NoteBody(r.Model, r.Messages, prefix.Stages[json.RawMessage]{Base: body, Each: stages})
}

// noteAnswer notes the id of the answer to the last request.
func (l *lastSent) noteAnswer(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		next := *l.last
		next.answer = id
		l.last = &next
	}
}

// Sourced is a Tool that knows which hook brought it.
type Sourced interface{ Source() string }

func sourceOf(t Tool) string {
	if s, ok := t.(Sourced); ok {
		return s.Source()
	}
	return ""
}
