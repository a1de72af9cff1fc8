package anthropic

import (
	"encoding/json"
	"net/http"
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// request is the body of a call. Its fields are written in this order, so that
// equal requests are equal bytes.
type request struct {
	Version   string        `json:"anthropic_version,omitempty"`
	Model     string        `json:"model,omitempty"`
	MaxTokens int           `json:"max_tokens"`
	Stream    bool          `json:"stream"`
	Thinking  *thinking     `json:"thinking,omitempty"`
	Output    *outputConfig `json:"output_config,omitempty"`
	System    []block       `json:"system,omitempty"`
	Tools     []tool        `json:"tools,omitempty"`
	Messages  []wireMessage `json:"messages"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// encode makes the call of the Messages API for a request, with what the model's
// switches say about its server.
func encode(r *llm.Request) (*provider.Call, error) {
	c, err := compatOf(r)
	if err != nil {
		return nil, err
	}
	q := c.request(r)
	body, err := q.encode()
	if err != nil {
		return nil, &llm.ProviderError{Provider: r.Model.Provider, Message: "encode the request", Err: err}
	}
	return &provider.Call{URL: c.url(r.Model), Header: c.headers(r, q), Body: body, Hint: refusals.Hint(r.Model)}, nil
}

// encode writes the body as JSON, the messages one by one.
func (q *request) encode() ([]byte, error) {
	frame := *q
	frame.Messages = []wireMessage{} // the last field
	return provider.EncodeFramed(&frame, q.Messages)
}

// url is the address of the call. On Vertex it has the model in it.
func (c *compat) url(m *llm.Model) string {
	switch {
	case c.vertex:
		return provider.Join(m.BaseURL, "/"+m.ID+":streamRawPredict")
	case strings.HasSuffix(m.BaseURL, "/v1"):
		return provider.Join(m.BaseURL, "/messages")
	}
	return provider.Join(m.BaseURL, "/v1/messages")
}

// headers returns the headers of the call: version, key, and the beta features that the
// request uses.
func (c *compat) headers(r *llm.Request, q *request) http.Header {
	h := http.Header{}
	var beta []string
	if !c.vertex {
		h.Set("Anthropic-Version", c.version)
	}
	provider.SetKey(h, c.auth, r.APIKey)
	if isToken(r.APIKey) && h.Get("Authorization") != "" {
		beta = append(beta, "oauth-2025-04-20")
	}
	if c.interleaved && q.Thinking != nil && q.Thinking.Budget > 0 && len(q.Tools) > 0 {
		beta = append(beta, "interleaved-thinking-2025-05-14")
	}
	if c.beta != "" {
		beta = append(beta, c.beta)
	}
	if len(beta) > 0 {
		h.Set("Anthropic-Beta", strings.Join(beta, ","))
	}
	return h
}

// request builds the body of a call. On Vertex the model is in the address instead. A
// thinking budget is left out where the API would refuse the request for it, see
// continuesWithoutThought.
func (c *compat) request(r *llm.Request) *request {
	q := &request{Model: r.Model.ID, Stream: true}
	if c.vertex {
		q.Version, q.Model = "vertex-2023-10-16", ""
	}
	c.think(q, r)
	if r.System != "" {
		q.System = []block{textBlock(r.System)}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		q.Tools = append(q.Tools, tool{Name: t.Name, Description: provider.CleanText(t.Description), InputSchema: provider.Schema(t.Parameters)})
	}
	q.Messages = encodeMessages(r)
	if q.Thinking != nil && q.Thinking.Type == "enabled" && continuesWithoutThought(q.Messages) {
		q.Thinking = nil
	}
	if c.cache {
		c.mark(q)
	}
	return q
}

const (
	defaultMax     = 8192 // when nobody knows the model's limit; the API demands one
	smallestBudget = 1024
	smallestAnswer = 1024 // that has to be left besides the thinking
)

// budget is how many tokens a model may think at a level; 0 for one that is not known.
func budget(level string) int {
	switch level {
	case "minimal":
		return 1024
	case "low":
		return 2048
	case "medium":
		return 8192
	case "high":
		return 16384
	case "xhigh", "max":
		return 32768
	}
	return 0
}

// effort is the word for a thinking level that models which decide by themselves how
// much they think are told; "" tells none.
func (c *compat) effort(level string) string {
	if word, ok := c.efforts[level]; ok {
		return word
	}
	if level == "minimal" {
		return "low"
	}
	return level
}

// think sets the limit of the answer and the thinking. A budget counts as part
// of the limit, so what was asked for the answer comes on top of it, as far as
// the model allows.
func (c *compat) think(q *request, r *llm.Request) {
	q.MaxTokens = provider.AnswerLimit(r)
	if q.MaxTokens == 0 {
		q.MaxTokens = defaultMax
	}
	on := r.Thinking != "" && r.Thinking != "off"
	switch {
	case !r.Model.Reasoning:
	case c.adaptive && on:
		q.Thinking = &thinking{Type: "adaptive", Display: c.display}
		if word := c.effort(r.Thinking); word != "" {
			q.Output = &outputConfig{Effort: word}
		}
	case c.adaptive:
		q.Thinking = &thinking{Type: "disabled"}
	case on:
		c.setBudget(q, r)
	}
}

// setBudget sets a thinking budget, and the limit that has room for it. If the limit
// leaves too little for thinking beside the answer, the model does not think.
func (c *compat) setBudget(q *request, r *llm.Request) {
	b := budget(r.Thinking)
	if q.MaxTokens = provider.LimitWithThoughts(r, b); q.MaxTokens == 0 {
		q.MaxTokens = defaultMax + b
	}
	b = min(b, q.MaxTokens-smallestAnswer)
	if b >= smallestBudget {
		q.Thinking = &thinking{Type: "enabled", Budget: b}
	}
}

// continuesWithoutThought reports whether the next answer continues a turn, as after the
// results of its calls, that did not begin with a thought: another model began it, or
// the same one when thinking was off. With a thinking budget the API refuses that. It
// accepts further answers of a turn without a thought.
func continuesWithoutThought(messages []wireMessage) bool {
	first := -1
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Role == "assistant" {
			first = i
		} else if m.Content[0].Type != "tool_result" {
			break
		}
	}
	if first < 0 {
		return false
	}
	kind := messages[first].Content[0].Type
	return kind != "thinking" && kind != "redacted_thinking"
}

// mark marks up to three blocks as ends of what the server shall cache: the system
// prompt, or else the tools, and the last block of the two newest user messages.
func (c *compat) mark(q *request) {
	m := &cacheControl{Type: "ephemeral", TTL: c.cacheTTL}
	if n := len(q.System); n > 0 {
		q.System[n-1].CacheControl = m
	} else if n := len(q.Tools); n > 0 {
		q.Tools[n-1].CacheControl = m
	}
	left := 2
	for i := len(q.Messages) - 1; i >= 0 && left > 0; i-- {
		if blocks := q.Messages[i].Content; q.Messages[i].Role == "user" && len(blocks) > 0 {
			blocks[len(blocks)-1].CacheControl = m
			left--
		}
	}
}
