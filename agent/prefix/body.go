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
