package session

import (
	"bytes"
	"errors"
	"strconv"
)

// MarshalJSON returns the message as it stands in a session file, camelCase and
// compact. A message that was decoded and not cloned has its original bytes. Of
// a changed clone every field that did not change keeps its bytes, those nobody
// knows among them.
//
// json.Marshal escapes <, > and & in what it returns; call MarshalJSON itself
// or an encoder with SetEscapeHTML(false) where bytes matter.
func (m *Message) MarshalJSON() ([]byte, error) {
	if m.raw != nil {
		return m.raw, nil
	}
	now, err := messageFields(m)
	if err != nil {
		return nil, err
	}
	if m.base == nil {
		return overlay(nil, nil, now)
	}
	was, err := messageFields(decodeMessage(m.base))
	if err != nil {
		return nil, err
	}
	return overlay(m.base, was, now)
}

// UnmarshalJSON accepts any object; what is missing or of another type is zero.
func (m *Message) UnmarshalJSON(data []byte) error {
	raw, err := compactJSON(data)
	if err != nil {
		return err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("decode message: not a JSON object")
	}
	*m = *decodeMessage(raw)
	return nil
}

// decodeMessage reads valid JSON and keeps it.
func decodeMessage(raw []byte) *Message {
	m := &Message{Role: Role(unquote(field(raw, "role"))), raw: raw}
	seen := fieldSet{}
	for k, v := range fields(raw) {
		if seen.first(k) {
			m.setField(string(k), v)
		}
	}
	return m
}

func (m *Message) setField(key string, v []byte) {
	switch key {
	case "content":
		m.Content, m.Plain = decodeContent(v)
	case "timestamp":
		m.Timestamp = int64(number(v))
	case "usage":
		m.Usage = decodeUsage(v)
	case "details":
		m.Details = v
	case "isError":
		m.IsError = isTrue(v)
	case "exitCode":
		m.ExitCode = decodeInt(v)
	case "cancelled":
		m.Cancelled = isTrue(v)
	case "truncated":
		m.Truncated = isTrue(v)
	case "excludeFromContext":
		m.ExcludeFromContext = isTrue(v)
	case "display":
		m.Display = isTrue(v)
	case "tokensBefore":
		m.TokensBefore = int(number(v))
	case "stopReason":
		m.StopReason = StopReason(unquote(v))
	default:
		if p := m.text(key); p != nil {
			*p = unquote(v)
		}
	}
}

// text returns where a field that is a plain string lives.
func (m *Message) text(key string) *string {
	switch key {
	case "api":
		return &m.API
	case "provider":
		return &m.Provider
	case "model":
		return &m.Model
	case "errorMessage":
		return &m.ErrorMessage
	case "toolCallId":
		return &m.ToolCallID
	case "toolName":
		return &m.ToolName
	case "command":
		return &m.Command
	case "output":
		return &m.Output
	case "fullOutputPath":
		return &m.FullOutputPath
	case "customType":
		return &m.CustomType
	case "summary":
		return &m.Summary
	case "fromId":
		return &m.FromID
	}
	return nil
}

func decodeContent(v []byte) ([]Block, bool) {
	if isString(v) {
		return []Block{{Type: BlockText, Text: unquote(v)}}, true
	}
	var blocks []Block
	for e := range elements(v) {
		blocks = append(blocks, decodeBlock(e))
	}
	return blocks, false
}

func decodeUsage(v []byte) *Usage {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	var u Usage
	for k, n := range fields(v) {
		switch string(k) {
		case "input":
			u.Input = int(number(n))
		case "output":
			u.Output = int(number(n))
		case "cacheRead":
			u.CacheRead = int(number(n))
		case "cacheWrite":
			u.CacheWrite = int(number(n))
		case "totalTokens":
			u.TotalTokens = int(number(n))
		case "cost":
			u.Cost = decodeCost(n)
		}
	}
	return &u
}

func decodeCost(v []byte) (c Cost) {
	for k, n := range fields(v) {
		switch string(k) {
		case "input":
			c.Input = number(n)
		case "output":
			c.Output = number(n)
		case "cacheRead":
			c.CacheRead = number(n)
		case "cacheWrite":
			c.CacheWrite = number(n)
		case "total":
			c.Total = number(n)
		}
	}
	return c
}

func decodeInt(v []byte) *int {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return nil
	}
	n := int(f)
	return &n
}

// number returns 0 for what is no number.
func number(v []byte) float64 {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0
	}
	return f
}

func isTrue(v []byte) bool { return string(v) == "true" }

// messageFields lists what a message of its role has, in the order of the file.
func messageFields(m *Message) ([]keyed, error) {
	w := fieldWriter{{"role", quote(string(m.Role))}}
	var err error
	switch m.Role {
	case RoleAssistant:
		err = w.assistant(m)
	case RoleToolResult:
		w.text("toolCallId", m.ToolCallID)
		w.text("toolName", m.ToolName)
		err = w.content(m)
		w.details(m)
		w.flag("isError", m.IsError)
	case RoleBashExecution:
		w.bash(m)
	case RoleCustom:
		w.text("customType", m.CustomType)
		err = w.content(m)
		w.flag("display", m.Display)
		w.details(m)
	case RoleBranchSummary:
		w.text("summary", m.Summary)
		w.text("fromId", m.FromID)
	case RoleCompactionSummary:
		w.text("summary", m.Summary)
		w.int("tokensBefore", int64(m.TokensBefore))
	default:
		err = w.content(m)
	}
	w.int("timestamp", m.Timestamp)
	return w, err
}

type fieldWriter []keyed

func (w *fieldWriter) put(key string, v []byte) { *w = append(*w, keyed{key, v}) }
func (w *fieldWriter) text(key, s string)       { w.put(key, quote(s)) }
func (w *fieldWriter) flag(key string, b bool)  { w.put(key, strconv.AppendBool(nil, b)) }
func (w *fieldWriter) int(key string, n int64)  { w.put(key, strconv.AppendInt(nil, n, 10)) }
func (w *fieldWriter) optional(key, s string) {
	if s != "" {
		w.text(key, s)
	}
}

func (w *fieldWriter) details(m *Message) {
	if m.Details != nil {
		w.put("details", orNull(m.Details))
	}
}

func (w *fieldWriter) content(m *Message) error {
	if m.Plain && len(m.Content) == 1 && m.Content[0].Type == BlockText && m.Content[0].Signature == "" {
		w.text("content", m.Content[0].Text)
		return nil
	}
	b := bytes.NewBufferString("[")
	for i := range m.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := m.Content[i].MarshalJSON()
		if err != nil {
			return err
		}
		b.Write(v)
	}
	b.WriteByte(']')
	w.put("content", b.Bytes())
	return nil
}

func (w *fieldWriter) assistant(m *Message) error {
	if err := w.content(m); err != nil {
		return err
	}
	w.text("api", m.API)
	w.text("provider", m.Provider)
	w.text("model", m.Model)
	usage := m.Usage
	if usage == nil {
		usage = &Usage{}
	}
	v, err := encode(usage)
	if err != nil {
		return err
	}
	w.put("usage", v)
	w.text("stopReason", string(m.StopReason))
	w.optional("errorMessage", m.ErrorMessage)
	return nil
}

func (w *fieldWriter) bash(m *Message) {
	w.text("command", m.Command)
	w.text("output", m.Output)
	if m.ExitCode != nil {
		w.int("exitCode", int64(*m.ExitCode))
	}
	w.flag("cancelled", m.Cancelled)
	w.flag("truncated", m.Truncated)
	w.optional("fullOutputPath", m.FullOutputPath)
	if m.ExcludeFromContext {
		w.flag("excludeFromContext", true)
	}
}
