package record

import (
	"cmp"
	"encoding/json"
	"net/url"

	"pi/agent"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
	"pi/session/rawjson"
)

// Schema is the version of the records.
const Schema = 1

// Header returns the first line of JSON mode: that of a session file, with the version of
// the records.
func Header(h session.Header) json.RawMessage {
	l := line(nil).begin(session.TypeSession).number("version", session.Version).text("id", h.ID)
	l = l.text("timestamp", h.Timestamp).text("cwd", h.Cwd).optional("parentSession", h.ParentSession)
	return json.RawMessage(l.number("schema", Schema).end())
}

// Entry returns an entry as it stands in the session file.
func Entry(e *session.Entry) json.RawMessage {
	if raw := e.Raw(); raw != nil {
		return clean(raw)
	}
	// Its line is gone from the file. Where it belongs is still known.
	l := line(nil).begin(e.Type).text("id", e.ID)
	if l = l.key("parentId"); e.ParentID == "" {
		l = append(l, "null"...)
	} else {
		l = appendQuoted(l, e.ParentID)
	}
	return json.RawMessage(l.text("timestamp", e.Timestamp).end())
}

// Message returns a message of any role. Its content is a list, but for custom messages
// that have a text.
func Message(m *message.Message) json.RawMessage {
	if m.Plain && m.Role != message.RoleCustom {
		m = m.Clone()
		m.Plain = false
	}
	raw, err := m.MarshalJSON()
	if err != nil { // numbers that JSON has no words for
		m = m.Clone()
		m.Usage = nil
		raw, _ = m.MarshalJSON()
	}
	if m.Role == message.RoleBranchSummary && m.FromID == "" {
		var was, now rawjson.Object
		was.Text("fromId", "")
		now.Nullable("fromId", "")
		raw = rawjson.Overlay(raw, was, now)
	}
	return clean(raw)
}

// Messages returns a list of messages.
func Messages(all []*message.Message) json.RawMessage {
	list := []byte{'['}
	for i, m := range all {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, Message(m)...)
	}
	return append(list, ']')
}

// Content returns the content of a message or of a result, as a list.
func Content(blocks []message.Block) json.RawMessage {
	return clean(message.EncodeContent(blocks, false))
}

// Usage returns what a call of a model took, with all numbers; nil is nothing.
func Usage(u *message.Usage) json.RawMessage {
	if u == nil {
		u = &message.Usage{}
	}
	raw, err := rawjson.Encode(u)
	if err != nil { // a price that is no number
		plain := *u
		plain.Cost = message.Cost{}
		raw, _ = rawjson.Encode(plain)
	}
	return raw
}

// Model returns what a program may know of a model: no key, no header, and of its address
// neither who asks nor what was added to it.
func Model(m *llm.Model) json.RawMessage {
	l := line(nil).open().text("id", m.ID).text("name", cmp.Or(m.Name, m.ID)).text("api", m.API).text("provider", m.Provider)
	l = l.text("baseUrl", publicURL(m.BaseURL)).flag("reasoning", m.Reasoning)
	input := m.Input
	if len(input) == 0 {
		input = []string{"text"}
	}
	l = l.texts("input", input)
	price := m.Cost
	if price == nil {
		price = &llm.Price{}
	}
	cost := line(nil).open().price("input", price.Input).price("output", price.Output)
	cost = cost.price("cacheRead", price.CacheRead).price("cacheWrite", price.CacheWrite).end()
	return json.RawMessage(l.raw("cost", cost).number("contextWindow", int64(m.ContextWindow)).number("maxTokens", int64(m.MaxTokens)).end())
}

// open begins an object without a type.
func (l line) open() line { return append(l[:0], '{') }

// price writes a field that is a price; one that is not known is 0.
func (l line) price(key string, p float64) line {
	if v, err := json.Marshal(max(p, 0)); err == nil {
		return l.raw(key, v)
	}
	return l.number(key, 0)
}

// publicURL returns an address without user, password, query and fragment, which may hold
// a token; "" if it is none.
func publicURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// Compaction returns what a compaction has done.
func Compaction(done *agent.Compacted) json.RawMessage {
	stored := &session.Compaction{TokensBefore: done.Before}
	if done.Entry != nil {
		if body, err := session.Body[session.Compaction](done.Entry); err == nil {
			stored = body
		}
	}
	l := line(nil).open().text("summary", stored.Summary).text("firstKeptEntryId", stored.FirstKeptEntryID)
	l = l.number("tokensBefore", int64(stored.TokensBefore)).number("estimatedTokensAfter", int64(done.After))
	if !done.FromHook {
		l = l.raw("usage", Usage(&done.Usage))
	}
	return json.RawMessage(l.foreign("details", stored.Details).end())
}

// Result returns the result of a tool. One that failed has details in any case.
func Result(r agent.Result) json.RawMessage {
	l := line(nil).open().raw("content", Content(r.Content))
	details := r.Details
	if len(details) == 0 && r.IsError {
		details = json.RawMessage("{}")
	}
	l = l.foreign("details", details)
	if r.Usage != nil {
		l = l.raw("usage", Usage(r.Usage))
	}
	if r.Terminate {
		l = l.flag("terminate", true)
	}
	return json.RawMessage(l.end())
}
