package provider_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// party is a model that takes part in a conversation: how its server answers,
// and what that server demands.
type party struct {
	name   string
	model  llm.Model
	api    string // as [wiretest.Carried] calls it
	client wiretest.API
	answer func(spoken) string // the stream of an answer
	check  func(body []byte) error
	thinks bool // its thoughts go back to it
	signs  bool // and are signed

	withholds bool // some of them
}

// spoken is what a model says.
type spoken struct {
	thought, signature, redacted, text string
	calls                              []spokenCall
}

type spokenCall struct{ id, name, arguments string }

func parties() []party {
	model := func(provider, id, api string) llm.Model {
		return llm.Model{Provider: provider, ID: id, API: api, Reasoning: true, MaxTokens: 32000, Input: []string{"text", "image"}}
	}
	const chat = "openai-completions"
	return []party{
		{"anthropic", model("anthropic", "claude-sonnet-4-5", "anthropic-messages"), "anthropic-messages", anthropic.New, messagesAnswer, wiretest.CheckMessages, true, true, true},
		{"chat", model("openai", "gpt-5-mini", chat), "openai-chat", openai.New, chatAnswer, wiretest.CheckChat, true, false, false},
		{"openrouter", model("openrouter", "anthropic/claude-sonnet-4.5", chat), "openai-chat", openai.New, routerAnswer, wiretest.CheckChat, true, true, true},
		{"deepseek", model("deepseek", "deepseek-reasoner", chat), "openai-chat", openai.New, chatAnswer, wiretest.CheckDeepSeek, true, false, false},
		{"mistral", model("mistral", "magistral-medium", chat), "openai-chat", openai.New, mistralAnswer, wiretest.CheckMistral, true, false, false},
		{"responses", model("openai", "gpt-5", "openai-responses"), "openai-responses", responses.New, responsesAnswer, wiretest.CheckResponses, true, true, false},
		{"lmstudio", model("lmstudio", "gpt-oss-20b", "openai-responses"), "openai-responses", responses.New, responsesAnswer, wiretest.CheckResponses, true, true, false},
		{"gemini", model("google", "gemini-3-pro-preview", "google-generative-ai"), "google-generative", google.New, geminiAnswer, wiretest.CheckSignedGemini, true, true, false},
		{"gemini 2.5", model("google", "gemini-2.5-pro", "google-generative-ai"), "google-generative", google.New, geminiAnswer, wiretest.CheckGemini, true, true, false},
	}
}

// decoded is what the party's client makes of an answer, as the message that the
// session holds.
func (p *party) decoded(t *testing.T, s spoken) *message.Message {
	t.Helper()
	if p.answer == nil {
		return p.told(s)
	}
	f := wiretest.Folder{Status: http.StatusOK, Headers: map[string]string{"Content-Type": "text/event-stream"}, API: p.api, Body: []byte(p.answer(s))}
	a := f.Whole(p.client)
	if a.Err != nil || len(a.Calls()) != len(s.calls) {
		t.Fatalf("%s: %s", p.name, a)
	}
	return &message.Message{Role: message.RoleAssistant, API: p.model.API, Provider: p.model.Provider, Model: p.model.ID, Content: a.Content, StopReason: a.Stop.Reason}
}

// told is an answer as it was said, with the ids and bytes that no client put
// right.
func (p *party) told(s spoken) *message.Message {
	m := &message.Message{Role: message.RoleAssistant, API: p.model.API, Provider: p.model.Provider, Model: p.model.ID, StopReason: message.StopToolUse}
	if s.thought != "" {
		m.Content = append(m.Content, message.Block{Type: message.BlockThinking, Text: s.thought, Signature: s.signature},
			message.Block{Type: message.BlockThinking, Redacted: true, Signature: s.redacted})
	}
	m.Content = append(m.Content, message.TextBlock(s.text))
	for _, c := range s.calls {
		m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: c.id, Name: c.name, Arguments: json.RawMessage(c.arguments)})
	}
	return m
}

// quoted is s as JSON; bytes that are no UTF-8 stay what they are.
func quoted(s string) string {
	b, err := provider.Encode(s)
	if err != nil {
		panic(err)
	}
	return strings.ReplaceAll(string(b), `\ufffd`, "\xff")
}

// events are data lines.
func events(all ...string) string {
	var s strings.Builder
	for _, e := range all {
		if e != "" {
			s.WriteString("data: " + e + "\n\n")
		}
	}
	return s.String()
}

func messagesAnswer(s spoken) string {
	var blocks []string
	if s.thought != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quoted(s.thought), quoted(s.signature)))
	}
	if s.redacted != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"redacted_thinking","data":%s}`, quoted(s.redacted)))
	}
	if s.text != "" {
		blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%s}`, quoted(s.text)))
	}
	for _, c := range s.calls {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quoted(c.id), quoted(c.name), c.arguments))
	}
	out := []string{`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`}
	for i, b := range blocks {
		out = append(out, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b), fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	return events(append(out, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)...)
}

// chatAnswer has its thoughts under the commonest name.
func chatAnswer(s spoken) string {
	return chatStream(s, `"content":`+quoted(s.text), fmt.Sprintf(`"reasoning_content":%s,`, quoted(s.thought)))
}

// routerAnswer has its thoughts in details.
func routerAnswer(s spoken) string {
	details := ""
	if s.thought != "" {
		details = fmt.Sprintf(`{"type":"reasoning.text","text":%s,"signature":%s,"index":0}`, quoted(s.thought), quoted(s.signature))
	}
	if s.redacted != "" {
		details += fmt.Sprintf(`,{"type":"reasoning.encrypted","data":%s,"index":1}`, quoted(s.redacted))
	}
	return chatStream(s, `"content":`+quoted(s.text), `"reasoning_details":[`+details+`],`)
}

// mistralAnswer has its thoughts in the content.
func mistralAnswer(s spoken) string {
	if s.thought == "" {
		return chatStream(s, `"content":`+quoted(s.text), "")
	}
	return chatStream(s, fmt.Sprintf(`"content":[{"type":"thinking","thinking":[{"type":"text","text":%s}]},{"type":"text","text":%s}]`, quoted(s.thought), quoted(s.text)), "")
}

func chatStream(s spoken, content, thought string) string {
	calls := ""
	for i, c := range s.calls {
		calls += fmt.Sprintf(`,{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, i, quoted(c.id), quoted(c.name), quoted(c.arguments))
	}
	delta := fmt.Sprintf(`{%s%s,"tool_calls":[%s]}`, thought, content, strings.TrimPrefix(calls, ","))
	return events(`{"choices":[{"index":0,"delta":`+delta+`,"finish_reason":"stop"}]}`, `[DONE]`)
}

func responsesAnswer(s spoken) string {
	var items []string
	if s.thought != "" {
		items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%s","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`, itemID(s.thought), quoted(s.thought), quoted(s.signature)))
	}
	if s.text != "" {
		items = append(items, fmt.Sprintf(`{"type":"message","id":"msg_%s","role":"assistant","content":[{"type":"output_text","text":%s}]}`, itemID(s.text), quoted(s.text)))
	}
	for _, c := range s.calls {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%s,"name":%s,"arguments":%s}`, itemID(c.arguments), quoted(c.id), quoted(c.name), quoted(c.arguments)))
	}
	var out []string
	for i, item := range items {
		out = append(out, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item))
	}
	return events(append(out, `{"type":"response.completed","response":{"status":"completed","output":[]}}`)...)
}

// itemID is what the id of an item ends in; no two are the same.
func itemID(said string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(said)))[:20] }

func geminiAnswer(s spoken) string {
	var parts []string
	signature := fmt.Sprintf(`,"thoughtSignature":%s`, quoted(s.signature))
	if s.signature == "" {
		signature = ""
	}
	if s.thought != "" {
		parts = append(parts, fmt.Sprintf(`{"text":%s,"thought":true}`, quoted(s.thought)))
	}
	if s.text != "" {
		text := fmt.Sprintf(`{"text":%s`, quoted(s.text))
		if len(s.calls) == 0 {
			text += signature
		}
		parts = append(parts, text+"}")
	}
	for i, c := range s.calls {
		id := ""
		if c.id != "" {
			id = `,"id":` + quoted(c.id)
		}
		if i > 0 {
			signature = "" // of parallel calls the first is signed
		}
		parts = append(parts, fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s%s}%s}`, quoted(c.name), c.arguments, id, signature))
	}
	return events(`{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]},"finishReason":"STOP"}]}`)
}
