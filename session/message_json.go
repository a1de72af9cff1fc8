package session

import (
	"bytes"
	"encoding/json"
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
		return now.bytes(), nil
	}
	was, err := messageFields(decodeMessage(m.base))
	if err != nil {
		return nil, err
	}
	return overlay(m.base, was, now), nil
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
	seen := keySet{}
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
func messageFields(m *Message) (object, error) {
	o := object{}
	var err error
	o.text("role", string(m.Role))
	switch m.Role {
	case RoleAssistant:
		err = putAssistant(&o, m)
	case RoleToolResult:
		o.text("toolCallId", m.ToolCallID)
		o.text("toolName", m.ToolName)
		o.put("content", encodeContent(m.Content, m.Plain))
		putDetails(&o, m.Details)
		o.flag("isError", m.IsError)
	case RoleBashExecution:
		putCommand(&o, m)
	case RoleCustom:
		o.text("customType", m.CustomType)
		o.put("content", encodeContent(m.Content, m.Plain))
		o.flag("display", m.Display)
		putDetails(&o, m.Details)
	case RoleBranchSummary:
		o.text("summary", m.Summary)
		o.text("fromId", m.FromID)
	case RoleCompactionSummary:
		o.text("summary", m.Summary)
		o.int("tokensBefore", int64(m.TokensBefore))
	default:
		o.put("content", encodeContent(m.Content, m.Plain))
	}
	o.int("timestamp", m.Timestamp)
	return o, err
}

// encodeContent writes blocks as the content of a message: as a list, or, if plain
// is set and they are one text, as a bare string.
func encodeContent(blocks []Block, plain bool) []byte {
	if plain && len(blocks) == 1 && blocks[0].Type == BlockText && blocks[0].Signature == "" {
		return quote(blocks[0].Text)
	}
	b := bytes.NewBufferString("[")
	for i := range blocks {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(blocks[i].encode())
	}
	b.WriteByte(']')
	return b.Bytes()
}

func putDetails(o *object, details json.RawMessage) {
	if details != nil {
		o.put("details", orNull(details))
	}
}

func putAssistant(o *object, m *Message) error {
	o.put("content", encodeContent(m.Content, m.Plain))
	o.text("api", m.API)
	o.text("provider", m.Provider)
	o.text("model", m.Model)
	usage := m.Usage
	if usage == nil {
		usage = &Usage{}
	}
	v, err := encode(usage)
	if err != nil {
		return err
	}
	o.put("usage", v)
	o.text("stopReason", string(m.StopReason))
	o.optional("errorMessage", m.ErrorMessage)
	return nil
}

func putCommand(o *object, m *Message) {
	o.text("command", m.Command)
	o.text("output", m.Output)
	if m.ExitCode != nil {
		o.int("exitCode", int64(*m.ExitCode))
	}
	o.flag("cancelled", m.Cancelled)
	o.flag("truncated", m.Truncated)
	o.optional("fullOutputPath", m.FullOutputPath)
	if m.ExcludeFromContext {
		o.flag("excludeFromContext", true)
	}
}
