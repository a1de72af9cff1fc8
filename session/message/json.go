package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"pi/session/rawjson"
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
		return now.Bytes(), nil
	}
	was, err := messageFields(Decode(m.base))
	if err != nil {
		return nil, err
	}
	return rawjson.Overlay(m.base, was, now), nil
}

// UnmarshalJSON accepts any object; fields that are missing or of another type are zero.
func (m *Message) UnmarshalJSON(data []byte) error {
	raw, err := rawjson.Compact(data)
	if err != nil {
		return err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("decode message: not a JSON object")
	}
	*m = *Decode(raw)
	return nil
}

// Decode reads an object, which has to be valid JSON, and keeps its bytes. Fields
// that are missing or of another type are zero.
func Decode(raw []byte) *Message {
	m := &Message{Role: Role(rawjson.Unquote(rawjson.Field(raw, "role"))), raw: raw}
	seen := rawjson.KeySet{}
	for k, v := range rawjson.Fields(raw) {
		if seen.First(k) {
			m.setField(string(k), v)
		}
	}
	return m
}

// setField decodes the value of a key of the message's JSON; keys that it does not know
// stay in raw.
func (m *Message) setField(key string, v []byte) {
	switch key {
	case "content":
		m.Content, m.Plain = DecodeContent(v)
	case "timestamp":
		m.Timestamp = int64(rawjson.Number(v))
	case "usage":
		m.Usage = decodeUsage(v)
	case "details":
		m.Details = v
	case "isError":
		m.IsError = isTrue(v)
	case "exitCode":
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			n := int(f)
			m.ExitCode = &n
		}
	case "cancelled":
		m.Cancelled = isTrue(v)
	case "truncated":
		m.Truncated = isTrue(v)
	case "excludeFromContext":
		m.ExcludeFromContext = isTrue(v)
	case "display":
		m.Display = isTrue(v)
	case "tokensBefore":
		m.TokensBefore = int(rawjson.Number(v))
	case "stopReason":
		m.StopReason = StopReason(rawjson.Unquote(v))
	default:
		if p := m.text(key); p != nil {
			*p = rawjson.Unquote(v)
		}
	}
}

// text returns where a field that is a plain string lives; nil if key is none.
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
	case "thinkingLevel":
		return &m.ThinkingLevel
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

// DecodeContent reads the content of a message from valid JSON: a list of blocks, or a
// bare string, which is one text block and plain. Anything else has no blocks.
func DecodeContent(v []byte) (blocks []Block, plain bool) {
	if rawjson.IsString(v) {
		return []Block{{Type: BlockText, Text: rawjson.Unquote(v)}}, true
	}
	for e := range rawjson.Elements(v) {
		blocks = append(blocks, decodeBlock(e))
	}
	return blocks, false
}

// decodeUsage reads a usage object; nil if v is no object. Fields of another type are 0.
func decodeUsage(v []byte) *Usage {
	if len(v) == 0 || v[0] != '{' {
		return nil
	}
	var u Usage
	for k, n := range rawjson.Fields(v) {
		switch string(k) {
		case "input":
			u.Input = int(rawjson.Number(n))
		case "output":
			u.Output = int(rawjson.Number(n))
		case "cacheRead":
			u.CacheRead = int(rawjson.Number(n))
		case "cacheWrite":
			u.CacheWrite = int(rawjson.Number(n))
		case "totalTokens":
			u.TotalTokens = int(rawjson.Number(n))
		case "cost":
			u.Cost = decodeCost(n)
		}
	}
	return &u
}

func decodeCost(v []byte) (c Cost) {
	for k, n := range rawjson.Fields(v) {
		switch string(k) {
		case "input":
			c.Input = rawjson.Number(n)
		case "output":
			c.Output = rawjson.Number(n)
		case "cacheRead":
			c.CacheRead = rawjson.Number(n)
		case "cacheWrite":
			c.CacheWrite = rawjson.Number(n)
		case "total":
			c.Total = rawjson.Number(n)
		}
	}
	return c
}

func isTrue(v []byte) bool { return string(v) == "true" }

// messageFields returns the known fields of a message of its role as JSON, in the order
// in which files have them.
func messageFields(m *Message) (rawjson.Object, error) {
	o := rawjson.Object{}
	var err error
	o.Text("role", string(m.Role))
	switch m.Role {
	case RoleAssistant:
		err = putAssistant(&o, m)
	case RoleToolResult:
		o.Text("toolCallId", m.ToolCallID)
		o.Text("toolName", m.ToolName)
		o.Put("content", EncodeContent(m.Content, m.Plain))
		putDetails(&o, m.Details)
		o.Flag("isError", m.IsError)
	case RoleBashExecution:
		putCommand(&o, m)
	case RoleCustom:
		o.Text("customType", m.CustomType)
		o.Put("content", EncodeContent(m.Content, m.Plain))
		o.Flag("display", m.Display)
		putDetails(&o, m.Details)
	case RoleBranchSummary:
		o.Text("summary", m.Summary)
		o.Text("fromId", m.FromID)
	case RoleCompactionSummary:
		o.Text("summary", m.Summary)
		o.Int("tokensBefore", int64(m.TokensBefore))
	default:
		o.Put("content", EncodeContent(m.Content, m.Plain))
	}
	o.Int("timestamp", m.Timestamp)
	return o, err
}

// EncodeContent writes blocks as the content of a message: as a list, or, if plain
// is set and they are one text, as a bare string. [DecodeContent] reads it.
func EncodeContent(blocks []Block, plain bool) []byte {
	if plain && len(blocks) == 1 && blocks[0].Type == BlockText && blocks[0].Signature == "" {
		return rawjson.Quote(blocks[0].Text)
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

func putDetails(o *rawjson.Object, details json.RawMessage) {
	if details != nil {
		o.Put("details", rawjson.OrNull(details))
	}
}

// putAssistant adds the fields of an assistant message; usage is written even if it is
// not known.
func putAssistant(o *rawjson.Object, m *Message) error {
	o.Put("content", EncodeContent(m.Content, m.Plain))
	o.Text("api", m.API)
	o.Text("provider", m.Provider)
	o.Text("model", m.Model)
	usage := m.Usage
	if usage == nil {
		usage = &Usage{}
	}
	v, err := rawjson.Encode(usage)
	if err != nil {
		return err
	}
	o.Put("usage", v)
	o.Text("stopReason", string(m.StopReason))
	o.Optional("errorMessage", m.ErrorMessage)
	o.Optional("thinkingLevel", m.ThinkingLevel)
	return nil
}

// putCommand adds the fields of a command that the user ran.
func putCommand(o *rawjson.Object, m *Message) {
	o.Text("command", m.Command)
	o.Text("output", m.Output)
	if m.ExitCode != nil {
		o.Int("exitCode", int64(*m.ExitCode))
	}
	o.Flag("cancelled", m.Cancelled)
	o.Flag("truncated", m.Truncated)
	o.Optional("fullOutputPath", m.FullOutputPath)
	if m.ExcludeFromContext {
		o.Flag("excludeFromContext", true)
	}
}
