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
	begin := &prefix.Request{Session: is.session, ToolsBy: by, System: is.system.byHook(), Items: is.chain.byHook(), Messages: r.Messages}
	for i, t := range tools {
		begin.Tools = append(begin.Tools, prefix.Tool{Spec: r.Tools[i], By: sourceOf(t)})
	}
	l.prefix.Sending(begin)
}

// noteBody notes the body of r before the listeners, and as each left it.
func (l *lastSent) noteBody(r *llm.Request, body json.RawMessage, stages []PayloadStage) {
	all := prefix.Stages[json.RawMessage]{Base: body}
	for _, s := range stages {
		all.Each = append(all.Each, prefix.Stage[json.RawMessage]{By: s.By, Left: s.Payload})
	}
	l.prefix.SendingBody(r.Model, r.Messages, all)
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

func (p promptText) byHook() prefix.Stages[string] {
	all := prefix.Stages[string]{Base: p.base}
	for _, s := range p.stages {
		all.Each = append(all.Each, prefix.Stage[string]{By: s.By, Left: s.System})
	}
	return all
}

func (c chained) byHook() prefix.Stages[[]session.Item] {
	all := prefix.Stages[[]session.Item]{Base: c.core}
	for _, s := range c.stages {
		all.Each = append(all.Each, prefix.Stage[[]session.Item]{By: s.By, Left: s.Items})
	}
	return all
}

// Sourced is a Tool that knows which hook brought it.
type Sourced interface{ Source() string }

func sourceOf(t Tool) string {
	if s, ok := t.(Sourced); ok {
		return s.Source()
	}
	return ""
}
