// Package prefix tells whether a request begins with the one before it. Providers cache
// what requests begin with, so a hook that says something else each time costs money.
// Whoever sends the requests notes each in a [Log], with what every hook made of it,
// and reads there which hook is why the last one began otherwise.
package prefix

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
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

// outputOf returns the value as it was after the first n stages, that is, hooks; with 0,
// before all of them.
func (s Stages[T]) outputOf(n int) T {
	if n == 0 {
		return s.Base
	}
	return s.Each[n-1].Value
}

// last returns the value as it was sent, after all hooks.
func (s Stages[T]) last() T { return s.outputOf(len(s.Each)) }

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
		if !keeps(was.outputOf(i), is.outputOf(j)) {
			return hook
		}
	}
	return ""
}

// sentBody is the body of a request as it went over the wire.
type sentBody struct {
	session *session.Session
	model   *llm.Model
	stages  Stages[bodySums]
}

// bodySums is a body by the sums of its parts.
type bodySums struct {
	tools, system uint64
	messages      []uint64
}

// NoteBody looks for a break in the body of the last request, compared with the body
// before it to the same model, if NoteRequest has found none. messages tell which request
// the body is of: if they are not those of the last one noted, the body is none of the
// conversation and is ignored.
func (l *Log) NoteBody(m *llm.Model, messages []*message.Message, body Stages[json.RawMessage]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || !isSameList(l.last.Messages, messages) {
		return
	}
	is := &sentBody{session: l.last.Session, model: m, stages: Stages[bodySums]{Base: sumsOf(body.Base)}}
	for _, s := range body.Each {
		is.stages.Each = append(is.stages.Each, Stage[bodySums]{s.By, sumsOf(s.Value)})
	}
	was := l.body
	l.body = is
	if was != nil && was.session == is.session && was.model == is.model && l.broken == nil {
		l.broken = bodyBreak(was.stages, is.stages)
	}
}

// isSameList reports whether both are one slice.
func isSameList(a, b []*message.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// bodyBreak returns the break between two bodies, with the hook because of which it is
// there; nil if the second body begins with the first, or no hook is why.
func bodyBreak(was, is Stages[bodySums]) *Break {
	part, n := was.last().difference(is.last())
	if part == "" {
		return nil
	}
	return brokenBy(breaker(was, is, func(was, is bodySums) bool {
		part, _ := was.difference(is)
		return part == ""
	}), part, n)
}

// difference returns the first part of p that is different in is, and for messages which
// one, from 1. The part is "" if is has all of p at its beginning.
func (p bodySums) difference(is bodySums) (part string, message int) {
	switch {
	case p.tools != is.tools:
		return PartTools, 0
	case p.system != is.system:
		return PartSystem, 0
	}
	for i, m := range p.messages {
		if i >= len(is.messages) || m != is.messages[i] {
			return PartMessages, i + 1
		}
	}
	return "", 0
}

// sumsOf returns hashes of the parts of a body in the format of any API, without its cache
// markers. A body that cannot be read has none.
func sumsOf(body json.RawMessage) bodySums {
	var p bodySums
	var fields map[string]json.RawMessage
	if json.Unmarshal(withoutMarkers(body), &fields) != nil {
		return p
	}
	p.tools = sum(0, fields["tools"])
	for _, name := range []string{"system", "instructions", "systemInstruction"} {
		p.system = sum(p.system, fields[name])
	}
	for _, name := range []string{"messages", "input", "contents"} {
		var list []json.RawMessage
		if json.Unmarshal(fields[name], &list) == nil && len(list) > 0 {
			p.add(list)
			break
		}
	}
	return p
}

// add adds the hashes of the messages in list. Messages of the role system or developer at
// the beginning are hashed into the system prompt instead: some APIs put it there, and a
// change of it is to be reported as one of the system prompt.
func (p *bodySums) add(list []json.RawMessage) {
	for _, raw := range list {
		var m struct{ Role string }
		if len(p.messages) == 0 && json.Unmarshal(raw, &m) == nil && (m.Role == "system" || m.Role == "developer") {
			p.system = sum(p.system, raw)
			continue
		}
		p.messages = append(p.messages, sum(0, raw))
	}
}

// sum returns a hash of b that also depends on seed, the hash of what came before.
func sum(seed uint64, b []byte) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40), byte(seed >> 48), byte(seed >> 56)})
	h.Write(b)
	return h.Sum64()
}

// withoutMarkers returns body without its cache_control fields, which tell the provider
// what to cache and move from request to request. Text that mentions the field is not
// touched: in a JSON string the quotes of the name would be escaped.
func withoutMarkers(body []byte) []byte {
	const marker = `"cache_control":{`
	var out []byte
	for {
		at := bytes.Index(body, []byte(marker))
		if at < 0 {
			break
		}
		end := bytes.IndexByte(body[at:], '}')
		if end < 0 {
			break
		}
		head, rest := body[:at], body[at+end+1:]
		if n := len(head); n > 0 && head[n-1] == ',' {
			head = head[:n-1]
		} else if len(rest) > 0 && rest[0] == ',' {
			rest = rest[1:]
		}
		out, body = append(out, head...), rest
	}
	if out == nil {
		return body
	}
	return append(out, body...)
}
