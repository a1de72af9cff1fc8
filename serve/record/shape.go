package record

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

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
	l := begin(session.TypeSession).number("version", session.Version).text("id", h.ID)
	l = l.text("timestamp", h.Timestamp).text("cwd", h.Cwd).optional("parentSession", h.ParentSession)
	return l.number("schema", Schema).end()
}

// Entry returns an entry as it stands in the session file.
func Entry(e *session.Entry) json.RawMessage {
	if raw := e.Raw(); raw != nil {
		return clean(raw)
	}
	// Its line is gone from the file. Where it belongs is still known.
	parent := json.RawMessage("null")
	if e.ParentID != "" {
		parent = rawjson.Quote(e.ParentID)
	}
	return begin(e.Type).text("id", e.ID).raw("parentId", parent).text("timestamp", e.Timestamp).end()
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

// encodeUsage returns what a call of a model took, with all numbers; nil is nothing.
func encodeUsage(u *message.Usage) json.RawMessage {
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
	input := m.Input
	if len(input) == 0 {
		input = []string{"text"}
	}
	prices := cmp.Or(m.Cost, &llm.Price{})
	cost := line("{").price("input", prices.Input).price("output", prices.Output)
	cost = cost.price("cacheRead", prices.CacheRead).price("cacheWrite", prices.CacheWrite)
	l := line("{").text("id", m.ID).text("name", cmp.Or(m.Name, m.ID)).text("api", m.API).text("provider", m.Provider)
	l = l.text("baseUrl", publicURL(m.BaseURL)).flag("reasoning", m.Reasoning).texts("input", input).raw("cost", cost.end())
	return l.number("contextWindow", m.ContextWindow).number("maxTokens", m.MaxTokens).end()
}

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
	l := line("{").text("summary", stored.Summary).text("firstKeptEntryId", stored.FirstKeptEntryID)
	l = l.number("tokensBefore", stored.TokensBefore).number("estimatedTokensAfter", done.After)
	if !done.FromHook {
		l = l.raw("usage", encodeUsage(&done.Usage))
	}
	return l.foreign("details", stored.Details).end()
}

// result returns the result of a tool. One that failed has details in any case.
func result(r agent.Result) json.RawMessage {
	details := r.Details
	if len(details) == 0 && r.IsError {
		details = json.RawMessage("{}")
	}
	l := line("{").raw("content", clean(message.EncodeContent(r.Content, false))).foreign("details", details)
	if r.Usage != nil {
		l = l.raw("usage", encodeUsage(r.Usage))
	}
	if r.Terminate {
		l = l.flag("terminate", true)
	}
	return l.end()
}

// BashUpdate returns the record of output of a command that the program runs. id is that of
// its bash command, as it came; nil: it had none.
func BashUpdate(id json.RawMessage, delta string) json.RawMessage {
	return begin("bash_execution_update").foreign("id", id).text("delta", delta).end()
}

// extensionError is the record of a hook that failed.
func extensionError(f *agent.HookFailed) line {
	path, event := f.Path, f.Event
	if name, isCommand := strings.CutPrefix(event, "/"); isCommand {
		path, event = "command:"+name, "command"
	}
	return begin("extension_error").text("extensionPath", path).text("event", event).text("error", f.Message)
}

// compactionEnd is the record of how a compaction ended. One that was aborted says not why.
func compactionEnd(e *agent.CompactionEnd) line {
	l := begin("compaction_end").text("reason", e.Reason)
	if e.Done != nil {
		l = l.raw("result", Compaction(e.Done))
	}
	l = l.flag("aborted", e.Aborted).flag("willRetry", e.WillRetry)
	if !e.Aborted {
		l = l.optional("errorMessage", e.ErrorMessage)
	}
	return l
}
