// Package prefix tells whether a request begins with the one before it. Providers cache
// what requests begin with, so a hook that says something else each time costs money.
// Whoever sends the requests notes each in a [Log], with what every hook made of it,
// and reads there which hook is why the last one began otherwise.
package prefix

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"sync"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// Break says that the last request did not begin with the one before it,
// so that what the provider had cached was of no use from there on, and that a
// hook is why. What the session itself says otherwise (a compaction, another
// branch, an edit) is nobody's break.
type Break struct {
	Hook    string
	Part    string // PartTools, PartSystem or PartMessages
	Message int    // of messages: the position of the first that differs, from 1; else 0
}

// The parts of a request, in the order in which providers cache them.
const (
	PartTools    = "tools"
	PartSystem   = "system"
	PartMessages = "messages"
)

// String is such as "pop changed message 3".
func (b *Break) String() string {
	switch b.Part {
	case PartTools:
		return b.Hook + " changed the tools"
	case PartSystem:
		return b.Hook + " changed the system prompt"
	}
	return b.Hook + " changed message " + strconv.Itoa(b.Message)
}

// Request is one of the conversation, and what it was made of. Nothing
// in it may change after it was noted.
type Request struct {
	Session  *session.Session
	Tools    []Tool
	ToolsBy  string // the hook that chose them; "": none did
	System   Stages[string]
	Items    Stages[[]session.Item] // what the messages are made of
	Messages []*message.Message     // as they are sent
}

// Tool is a tool as the model is told of it.
type Tool struct {
	Spec llm.ToolSpec
	By   string // the hook that brought it; "": none did
}

// Stages is a part of a request before the hooks, and as each of them left it
// that had something to say, in their order.
type Stages[T any] struct {
	Base T
	Each []Stage[T]
}

// Stage is a part of a request as one hook left it.
type Stage[T any] struct {
	By    string // the hook
	Value T
}

// after returns the value as it was after the first n stages, that is, hooks; with 0,
// before all of them.
func (s Stages[T]) after(n int) T {
	if n == 0 {
		return s.Base
	}
	return s.Each[n-1].Value
}

// last returns the value as it was sent, after all hooks.
func (s Stages[T]) last() T { return s.after(len(s.Each)) }

// Log compares each request with the one before it. The zero value is ready; all
// methods may be called from any goroutine.
type Log struct {
	mu     sync.Mutex // guards what follows
	last   *Request   // of a conversation
	body   *sentBody  // the last one that hooks saw
	broken *Break     // how the last request began otherwise than the one before
}

// BreakOf returns the break that was found at the last request; nil if that was not of s,
// was the first one, or began as the one before it.
func (l *Log) BreakOf(s *session.Session) *Break {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.Session != s {
		return nil
	}
	return l.broken
}

// NoteRequest notes is as the request that is sent now, and looks for a break: whether a
// hook is why it does not begin with the request before in the same session. BreakOf
// returns the result.
func (l *Log) NoteRequest(is *Request) {
	l.mu.Lock()
	was := l.last
	l.last = is
	l.mu.Unlock()
	var broken *Break
	if was != nil && was.Session == is.Session {
		broken = findBreak(was, is)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = broken
}

// findBreak returns the break between two requests: the first part of was that is different
// in is, and the hook that is why. It is nil without a difference, or if no hook is why.
func findBreak(was, is *Request) *Break {
	if !slices.EqualFunc(was.Tools, is.Tools, describedAlike) { // for who chose them, else who brought a new one or one that is gone
		by := cmp.Or(is.ToolsBy, bringerOfNew(is.Tools, was.Tools), bringerOfNew(was.Tools, is.Tools), was.ToolsBy)
		return brokenBy(by, PartTools, 0)
	}
	if was.System.last() != is.System.last() {
		return brokenBy(breaker(was.System, is.System, func(a, b string) bool { return a == b }), PartSystem, 0)
	}
	if n := firstDifference(was.Messages, is.Messages); n > 0 {
		return brokenBy(breaker(was.Items, is.Items, func(was, is []session.Item) bool {
			return firstDifference(session.ForModel(was), session.ForModel(is)) == 0
		}), PartMessages, n)
	}
	return nil
}

// brokenBy returns a break with these values; nil if hook is "", because what no hook
// changed is nobody's break.
func brokenBy(hook, part string, message int) *Break {
	if hook == "" {
		return nil
	}
	return &Break{Hook: hook, Part: part, Message: message}
}

// firstDifference returns the position, from 1, of the first message of was that is
// missing or different in is; 0 if is begins with all of was.
func firstDifference(was, is []*message.Message) int {
	for i, m := range was {
		if i >= len(is) || m != is[i] && !sentAlike(m, is[i]) {
			return i + 1
		}
	}
	return 0
}

// sentAlike reports whether two messages are the same to every provider. Where
// an answer is from counts: its thoughts go back to the same model only.
func sentAlike(a, b *message.Message) bool {
	if a.Role != b.Role || a.ToolCallID != b.ToolCallID || a.ToolName != b.ToolName || a.IsError != b.IsError ||
		a.API != b.API || a.Provider != b.Provider || a.Model != b.Model || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		x, y := &a.Content[i], &b.Content[i]
		if x.Type != y.Type || x.Text != y.Text || x.Signature != y.Signature || x.Redacted != y.Redacted || x.ID != y.ID ||
			x.Name != y.Name || !bytes.Equal(x.Arguments, y.Arguments) || x.Data != y.Data || x.MimeType != y.MimeType {
			return false
		}
	}
	return true
}

// describedAlike reports whether the model is told the same of two tools.
func describedAlike(a, b Tool) bool {
	return a.Spec.Name == b.Spec.Name && a.Spec.Description == b.Spec.Description && bytes.Equal(a.Spec.Parameters, b.Spec.Parameters)
}

// bringerOfNew returns the hook that brought the first tool that is in tools but not,
// described alike, in others; "" if no hook brought such a tool.
func bringerOfNew(tools, others []Tool) string {
	for _, t := range tools {
		if t.By != "" && !slices.ContainsFunc(others, func(other Tool) bool { return describedAlike(other, t) }) {
			return t.By
		}
	}
	return ""
}

// breaker walks along the stages of two requests and returns the hook of the first
// whose output is another one though its input is not; keeps reports whether what is
// sent now begins with what was sent. A hook that answered only one of
// the two passed on its input in the other. It is "" if the requests differ before the
// first stage.
func breaker[T any](was, is Stages[T], keeps func(was, is T) bool) string {
	if !keeps(was.Base, is.Base) {
		return ""
	}
	for i, j := 0, 0; i < len(was.Each) || j < len(is.Each); {
		hook := ""
		switch {
		case i == len(was.Each):
			hook, j = is.Each[j].By, j+1
		case j < len(is.Each) && was.Each[i].By == is.Each[j].By:
			hook, i, j = was.Each[i].By, i+1, j+1
		case !slices.ContainsFunc(is.Each[j:], func(s Stage[T]) bool { return s.By == was.Each[i].By }):
			hook, i = was.Each[i].By, i+1
		default:
			hook, j = is.Each[j].By, j+1
		}
		if !keeps(was.after(i), is.after(j)) {
			return hook
		}
	}
	return ""
}
