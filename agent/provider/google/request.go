package google

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// request is the body of a call. Its fields are written in this order, so that
// equal requests are equal bytes.
type request struct {
	System     *content    `json:"systemInstruction,omitempty"`
	Tools      []tools     `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Generation *generating `json:"generationConfig,omitempty"`
	Contents   []content   `json:"contents"`
}

type (
	tools struct {
		Functions []function `json:"functionDeclarations"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  *schema         `json:"parameters,omitempty"`
		JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitempty"`
	}
	toolConfig struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	}
	generating struct {
		MaxOutputTokens int       `json:"maxOutputTokens,omitempty"`
		Thinking        *thinking `json:"thinkingConfig,omitempty"`
	}
)

// encode makes the call of generateContent for a request, with what the model's
// switches say about its server.
func (a *api) encode(r *llm.Request) (*provider.Call, error) {
	c, err := a.switches.Of(r.Model, compatOf)
	if err != nil {
		return nil, err
	}
	body, err := a.drafts.Encode(r, func() *conversation { return newConversation(c, r.Model) }, func(written [][]byte, v *conversation) ([]byte, error) {
		return c.request(r, v).encode(written)
	})
	if err != nil {
		return nil, err
	}
	return &provider.Call{URL: address(r.Model), Header: provider.KeyHeader(c.keyScheme(r.APIKey), r.APIKey), Body: body, Hint: hint(r.Model)}, nil
}

// encode writes the body as JSON, the contents one by one, behind those that were written
// before.
func (q *request) encode(written [][]byte) ([]byte, error) {
	elements, err := provider.AppendElements(written, q.Contents)
	if err != nil {
		return nil, err
	}
	frame := *q
	frame.Contents = []content{} // the last field
	return provider.EncodeFramed(&frame, elements)
}

// address is the address of the call, with the model in its path. A base without any
// path is that of the Gemini API, whose current version is not the default.
func address(m *llm.Model) string {
	base := m.BaseURL
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" {
		base = provider.Join(base, "/v1beta")
	}
	id := m.ID
	if !strings.Contains(id, "/") {
		id = "models/" + id
	}
	return provider.WithQuery(provider.Join(base, "/"+(&url.URL{Path: id}).EscapedPath()+":streamGenerateContent"), "alt=sse")
}

// hint returns a function that tells what to do about some errors of this API; "" for
// others.
func hint(m *llm.Model) func(int, string) string {
	return func(status int, message string) string {
		switch {
		case status != http.StatusBadRequest:
			return ""
		case strings.Contains(message, "thought_signature"):
			return "set compat.placeholder_signature = true of [providers." + m.Provider + "]: this model wants its calls signed"
		case strings.Contains(message, "location is not supported"):
			return "the service is not offered where you are; another address (base_url of [providers." + m.Provider + "]) may be"
		}
		return ""
	}
}

// request builds the body of a call: the conversation v, limits and thinking, system
// prompt, and tools.
func (c *compat) request(r *llm.Request, v *conversation) *request {
	v.placeImages()
	q := &request{Contents: v.contents, Generation: c.generating(r)}
	if r.System != "" {
		q.System = &content{Parts: []part{textPart(r.System)}}
	}
	if len(r.Tools) > 0 {
		q.Tools = []tools{{Functions: v.described.Tools(r.Tools, c.functions)}}
		if c.toolMode != "" {
			q.ToolConfig = &toolConfig{}
			q.ToolConfig.Calling.Mode = c.toolMode
		}
	}
	return q
}

// functions describes the tools to the service, their parameters in its own subset of
// JSON Schema or in all of it.
func (c *compat) functions(specs []llm.ToolSpec) []function {
	var list []function
	for i := range specs {
		f := function{Name: wireName(specs[i].Name), Description: provider.CleanText(specs[i].Description)}
		if c.schema == "json" {
			f.JSONSchema = provider.Schema(specs[i].Parameters)
		} else {
			f.Parameters = parameters(specs[i].Parameters)
		}
		list = append(list, f)
	}
	return list
}
