package agent

import (
	"bytes"
	"strconv"
	"sync"

	"pi/session"
	"pi/session/message"
)

// PrefixBreak says that the last request did not begin with the one before it,
// so that what the provider had cached was of no use from there on, and that a
// hook is why. What the session itself says otherwise (a compaction, another
// branch, an edit) is nobody's break.
type PrefixBreak struct {
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
func (b *PrefixBreak) String() string {
	switch b.Part {
	case PartTools:
		return b.Hook + " changed the tools"
	case PartSystem:
		return b.Hook + " changed the system prompt"
	}
	return b.Hook + " changed message " + strconv.Itoa(b.Message)
}

// PrefixBreak returns the break of the last request of this session; nil if that
// began with the one before it, or was the first.
func (a *Agent) PrefixBreak() *PrefixBreak { return a.sent.breakOf(a.Session()) }

// sentRequest is a request and what it was made of. Nothing in it changes.
type sentRequest struct {
	session  *session.Session
	tools    []Tool
	toolsBy  string // the hook that chose them
	system   promptText
	chain    chained
	messages []*message.Message
	answer   string // the id of its entry; "": none yet
}

// sentPrefix is what was sent last, and whether a hook made it begin otherwise than
// what was sent before. The zero value is ready; all methods may be called from any
// goroutine.
type sentPrefix struct {
	mu     sync.Mutex   // guards what follows
	last   *sentRequest // of a conversation
	body   *sentBody    // the last one that listeners saw
	broken *PrefixBreak // how the last request began otherwise than the one before
}

// lastOf returns the last request, or nil if it was of another session.
func (p *sentPrefix) lastOf(s *session.Session) *sentRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.session != s {
		return nil
	}
	return p.last
}

// breakOf returns the break of the last request, if that was of s.
func (p *sentPrefix) breakOf(s *session.Session) *PrefixBreak {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.session != s {
		return nil
	}
	return p.broken
}

// sending notes what is about to be sent, and whether a hook made it begin
// otherwise than the request before.
func (p *sentPrefix) sending(is *sentRequest) {
	p.mu.Lock()
	was := p.last
	p.last = is
	p.mu.Unlock()
	var broken *PrefixBreak
	if was != nil && was.session == is.session {
		broken = compared(was, is)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = broken
}

// answered notes the id of the answer to the last request.
func (p *sentPrefix) answered(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil {
		next := *p.last
		next.answer = id
		p.last = &next
	}
}

// compared names the hook because of which is does not begin with was.
func compared(was, is *sentRequest) *PrefixBreak {
	if !sameTools(was.tools, is.tools) {
		return brokenBy(toolsChangedBy(was, is), PartTools, 0)
	}
	if was.system.text != is.system.text {
		return brokenBy(promptChangedBy(was.system, is.system), PartSystem, 0)
	}
	if n := firstDifference(was.messages, is.messages); n > 0 {
		return brokenBy(messagesChangedBy(was.chain, is.chain), PartMessages, n)
	}
	return nil
}

func brokenBy(hook, part string, message int) *PrefixBreak {
	if hook == "" {
		return nil
	}
	return &PrefixBreak{Hook: hook, Part: part, Message: message}
}

// firstDifference is the position, from 1, of the first message of was that is
// does not have in its place; 0 if it has all of them.
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
		if !sentBlocksAlike(&a.Content[i], &b.Content[i]) {
			return false
		}
	}
	return true
}

func sentBlocksAlike(a, b *message.Block) bool {
	return a.Type == b.Type && a.Text == b.Text && a.Signature == b.Signature && a.Redacted == b.Redacted && a.ID == b.ID &&
		a.Name == b.Name && bytes.Equal(a.Arguments, b.Arguments) && a.Data == b.Data && a.MimeType == b.MimeType
}

func sameTools(a, b []Tool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !describedAlike(a[i], b[i]) {
			return false
		}
	}
	return true
}

func describedAlike(a, b Tool) bool {
	x, y := a.Spec(), b.Spec()
	return x.Name == y.Name && x.Description == y.Description && bytes.Equal(x.Parameters, y.Parameters)
}

// Sourced is a Tool that knows which hook brought it.
type Sourced interface{ Source() string }

func sourceOf(t Tool) string {
	if s, ok := t.(Sourced); ok {
		return s.Source()
	}
	return ""
}

// toolsChangedBy is the hook that chose the tools; else the one that brought the
// first new one, or took one away.
func toolsChangedBy(was, is *sentRequest) string {
	if is.toolsBy != "" {
		return is.toolsBy
	}
	if hook := sourceOfNew(is.tools, was.tools); hook != "" {
		return hook
	}
	if hook := sourceOfNew(was.tools, is.tools); hook != "" {
		return hook
	}
	return was.toolsBy
}

// sourceOfNew is the hook that brought the first tool that others have not.
func sourceOfNew(tools, others []Tool) string {
	for _, t := range tools {
		if hook := sourceOf(t); hook != "" && !hasAlike(others, t) {
			return hook
		}
	}
	return ""
}

func hasAlike(tools []Tool, t Tool) bool {
	for _, other := range tools {
		if describedAlike(other, t) {
			return true
		}
	}
	return false
}

func promptChangedBy(was, is promptText) string {
	return breaker(was, is, func(i, j int) bool { return was.after(i) == is.after(j) })
}

func (p promptText) count() int { return len(p.stages) }

func (p promptText) by(n int) string { return p.stages[n].By }

// after is the text after the first n stages.
func (p promptText) after(n int) string {
	if n == 0 {
		return p.base
	}
	return p.stages[n-1].System
}

func messagesChangedBy(was, is chained) string {
	return breaker(was, is, func(i, j int) bool {
		return firstDifference(session.ForModel(was.after(i)), session.ForModel(is.after(j))) == 0
	})
}

func (c chained) count() int { return len(c.stages) }

func (c chained) by(n int) string { return c.stages[n].By }

// after is the list after the first n stages.
func (c chained) after(n int) []session.Item {
	if n == 0 {
		return c.core
	}
	return c.stages[n-1].Items
}

// staged is something that hooks changed one after the other.
type staged interface {
	count() int
	by(n int) string // the hook, n counts from 0
}

// breaker walks along the stages of two requests and returns the hook of the first
// whose output is another one though its input is not. holds(i, j) reports whether
// what came of the first i stages of the one request is kept by what came of the
// first j of the other. A hook that answered only one of the two passed on its
// input in the other. It is "" if the requests differ before the first stage.
func breaker(was, is staged, holds func(i, j int) bool) string {
	if !holds(0, 0) {
		return ""
	}
	for i, j := 0, 0; i < was.count() || j < is.count(); {
		hook := ""
		switch {
		case i == was.count():
			hook, j = is.by(j), j+1
		case j < is.count() && was.by(i) == is.by(j):
			hook, i, j = was.by(i), i+1, j+1
		case !answersFrom(is, j, was.by(i)):
			hook, i = was.by(i), i+1
		default:
			hook, j = is.by(j), j+1
		}
		if !holds(i, j) {
			return hook
		}
	}
	return ""
}

// answersFrom reports whether the hook by has a stage from the n-th on.
func answersFrom(s staged, n int, by string) bool {
	for ; n < s.count(); n++ {
		if s.by(n) == by {
			return true
		}
	}
	return false
}
