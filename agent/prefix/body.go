package prefix

import (
	"bytes"
	"encoding/json"
	"hash/fnv"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

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

// NoteBody compares what hooks made of a body with what they made of the one
// before it, where that was alike before they had it. messages are those of the
// request that the body is of: one that was not noted is none of the conversation.
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

// bodyBreak is the break between two bodies; nil if the second begins with the first.
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

// difference is the first part of p that is does not keep, and which message.
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

// sumsOf sums up a body of any of the APIs, cache markers removed. What some put
// among the messages as the system prompt counts as that.
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

// add adds the sums of a list of messages.
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

// sum is a hash of b, which goes on from seed.
func sum(seed uint64, b []byte) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40), byte(seed >> 48), byte(seed >> 56)})
	h.Write(b)
	return h.Sum64()
}

// withoutMarkers is a body without the fields that say what the provider should
// cache. In a string their name would not end in a bare quote.
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
