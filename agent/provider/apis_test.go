package provider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/wire"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// The wire APIs are held to the same promises by the same tests, each with a column of
// its own where it says something in its own way:
//
//	request_fields_test.go    what a request says beside the conversation, where it goes, with which key
//	request_messages_test.go  what becomes of the messages
//	answer_test.go            what becomes of the events of an answer
//	turns_test.go             requests that go on from answers and from one another
//	speed_test.go             how long it takes, and what is kept

// apis are the names of the wire APIs.
func apis() (names []string) {
	for _, api := range wire.APIs() {
		names = append(names, api.Name)
	}
	return names
}

// wireAPI is an API, by its own name or the one that recordings have for it.
func wireAPI(t testing.TB, name string) wire.API {
	t.Helper()
	api, ok := wire.Find(wiretest.APIName(name))
	if !ok {
		t.Fatalf("no API is called %q", name)
	}
	return api
}

// client is the client of an API.
func client(t testing.TB, api string) wiretest.API {
	t.Helper()
	return wireAPI(t, api).New
}

// Models, one of each API.

func claude(id string) *llm.Model {
	return &llm.Model{Provider: "anthropic", ID: id, API: "anthropic-messages", BaseURL: "https://api.anthropic.com", MaxTokens: 64000, Reasoning: true}
}

func gemini(id string) *llm.Model {
	return &llm.Model{Provider: "google", ID: id, API: "google-generative-ai", BaseURL: "https://generativelanguage.googleapis.com/v1beta", MaxTokens: 65536, Reasoning: true}
}

func chatModel(provider, id, base string) *llm.Model {
	return &llm.Model{Provider: provider, ID: id, API: "openai-completions", BaseURL: base}
}

func itemModel(provider, id, base string) *llm.Model {
	return &llm.Model{Provider: provider, ID: id, API: "openai-responses", BaseURL: base}
}

// modelOf is some model of an API.
func modelOf(api string) *llm.Model {
	return &llm.Model{Provider: "acme", ID: "m", API: api, BaseURL: "http://model.test/v1", MaxTokens: 1000}
}

// with is a model with a switch.
func with(m *llm.Model, name string, value any) *llm.Model {
	m.Compat = map[string]any{name: value}
	return m
}

// Messages.

func userSays(blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: blocks}
}

func modelSays(m *llm.Model, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: blocks}
}

func toolSays(id string, blocks ...message.Block) *message.Message {
	return &message.Message{Role: message.RoleToolResult, ToolCallID: id, ToolName: "read", Content: blocks}
}

func toolFails(id string, blocks ...message.Block) *message.Message {
	m := toolSays(id, blocks...)
	m.IsError = true
	return m
}

func text(s string) message.Block { return message.TextBlock(s) }

func signedText(s, signature string) message.Block {
	return message.Block{Type: message.BlockText, Text: s, Signature: signature}
}

func thinks(s, signature string) message.Block {
	return message.Block{Type: message.BlockThinking, Text: s, Signature: signature}
}

func withheld(signature string) message.Block {
	return message.Block{Type: message.BlockThinking, Redacted: true, Signature: signature}
}

func calls(id, arguments string) message.Block { return callsSigned(id, arguments, "") }

func callsSigned(id, arguments, signature string) message.Block {
	return message.Block{Type: message.BlockToolCall, ID: id, Name: "read", Arguments: json.RawMessage(arguments), Signature: signature}
}

// abc is an image.
func abc() message.Block {
	return message.Block{Type: message.BlockImage, Data: "QUJD", MimeType: "image/png"}
}

// sent is the request that a client makes which wrote nothing before, and its body.
func sent(t testing.TB, r *llm.Request) (out *http.Request, body []byte) {
	t.Helper()
	err := errSeen
	transport := roundTrip(func(h *http.Request) (*http.Response, error) {
		out = h
		body, err = io.ReadAll(h.Body)
		return nil, errSeen
	})
	asked, m := *r, *r.Model
	if asked.Model = &m; m.BaseURL == "" {
		m.BaseURL = "http://model.test"
	}
	a := wiretest.Collect(client(t, m.API)(&http.Client{Transport: transport}).Stream(t.Context(), &asked))
	if out == nil || err != nil {
		t.Fatalf("nothing was sent: %v, %v", a.Err, err)
	}
	return out, body
}

// bodyFields are the fields of the request.
func bodyFields(t *testing.T, r *llm.Request) map[string]json.RawMessage {
	t.Helper()
	_, body := sent(t, r)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return fields
}

// answered is what the client of an API makes of a stream.
func answered(t testing.TB, api, stream string) wiretest.Answer {
	t.Helper()
	f := wiretest.Folder{API: api, Body: []byte(stream), Status: http.StatusOK, Headers: map[string]string{"Content-Type": "text/event-stream"}}
	return f.Whole(client(t, api))
}

// refused is what the client of an API makes of an answer with another status than 200.
func refused(t testing.TB, api, provider string, status int, body string) *llm.ProviderError {
	t.Helper()
	f := wiretest.Folder{API: api, Provider: provider, Body: []byte(body), Status: status, Headers: map[string]string{"Content-Type": "application/json"}}
	return providerError(t, f.Whole(client(t, api)).Err)
}
