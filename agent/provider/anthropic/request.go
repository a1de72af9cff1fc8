package anthropic

import (
	"encoding/json"
	"net/http"
	"slices"
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
	Type    string        `json:"type"`
	Budget  int           `json:"budget_tokens,omitempty"`
	Display string        `json:"display,omitempty"`
	Binding *blockBinding `json:"block_binding,omitempty"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Eager        bool            `json:"eager_input_streaming,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

// encode makes the call of the Messages API for a request, with what the model's
// switches say about its server.
func (a *api) encode(r *llm.Request) (*provider.Call, error) {
	c, err := a.switches.Of(r.Model, compatOf)
	if err != nil {
		return nil, err
	}
	var q *request
	body, err := a.drafts.Encode(r, func() *conversation { return newConversation(c, r) }, func(written [][]byte, v *conversation) ([]byte, error) {
		q = c.request(r, v)
		return q.encode(written)
	})
	if err != nil {
		return nil, err
	}
	return &provider.Call{URL: c.url(r.Model), Header: c.headers(r, q), Body: body, Hint: c.hint(r.Model)}, nil
}

// encode writes the body as JSON, the messages one by one, behind those that were written
// before.
func (q *request) encode(written [][]byte) ([]byte, error) {
	elements, err := provider.AppendElements(written, q.Messages)
	if err != nil {
		return nil, err
	}
	frame := *q
	frame.Messages = []wireMessage{} // the last field
	return provider.EncodeFramed(&frame, elements)
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
	provider.SetKey(h, c.keyScheme(r.APIKey), r.APIKey)
	if isToken(r.APIKey) && h.Get("Authorization") != "" {
		beta = append(beta, "oauth-2025-04-20")
	}
	if c.interleaved && q.Thinking != nil && q.Thinking.Budget > 0 && len(q.Tools) > 0 {
		beta = append(beta, "interleaved-thinking-2025-05-14")
	}
	if q.Thinking != nil && q.Thinking.Binding != nil {
		beta = append(beta, bindingBeta)
	}
	if c.beta != "" {
		beta = append(beta, c.beta)
	}
	provider.SetSession(h, c.session, r)
	if len(beta) > 0 {
		h.Set("Anthropic-Beta", strings.Join(beta, ","))
	}
	return h
}

// request builds the body of a call, with the messages of v. On Vertex the model is in the
// address instead. A thinking budget is left out where the API would refuse the request
// for it, see [conversation.continuesWithoutThought].
func (c *compat) request(r *llm.Request, v *conversation) *request {
	q := &request{Model: r.Model.ID, Stream: true}
	if c.vertex {
		q.Version, q.Model = "vertex-2023-10-16", ""
	}
	c.think(q, r)
	c.bind(q)
	if r.System != "" {
		q.System = []block{textBlock(r.System)}
	}
	if c.tools {
		q.Tools = slices.Clone(v.described.Tools(r.Tools, c.encodeTools))
	}
	v.trimEnd()
	q.Messages = v.messages
	if q.Thinking != nil && q.Thinking.Type == "enabled" && v.continuesWithoutThought() {
		q.Thinking = nil
	}
	if c.cache {
		c.mark(q)
	}
	return q
}

func (c *compat) encodeTools(specs []llm.ToolSpec) (tools []tool) {
	for i := range specs {
		t := &specs[i]
		tools = append(tools, tool{Name: t.Name, Description: provider.CleanText(t.Description), InputSchema: provider.Schema(t.Parameters), Eager: c.eagerInput})
	}
	return tools
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
// the model allows. Without a word thinking with a budget is off; where nobody knows what
// the model does, and the user wants it off, that is said.
func (c *compat) think(q *request, r *llm.Request) {
	q.MaxTokens = provider.AnswerLimit(r)
	if q.MaxTokens == 0 {
		q.MaxTokens = defaultMax
	}
	on := wantsThinking(r)
	switch {
	case r.Thinking == "", !r.Model.Reasoning && !r.Off:
	case c.adaptive && on:
		q.Thinking = &thinking{Type: "adaptive", Display: c.display}
		if word := c.effort(r.Thinking); word != "" {
			q.Output = &outputConfig{Effort: word}
		}
	case c.adaptive && c.thinkingOff == "low":
		q.Thinking, q.Output = &thinking{Type: "adaptive", Display: c.display}, &outputConfig{Effort: "low"}
	case c.adaptive:
		q.Thinking = &thinking{Type: c.thinkingOff}
	case on:
		c.setBudget(q, r)
	case r.Off:
		q.Thinking = &thinking{Type: "disabled"}
	}
}

// betweenTools is the word of models that always say between their calls what they are
// about: it comes as thinking, also when that is off.
const betweenTools = "between_tools"

func wantsThinking(r *llm.Request) bool { return r.Thinking != "" && r.Thinking != "off" }

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
func (v *conversation) continuesWithoutThought() bool {
	kind := turnAfter(v.turn, v.messages)
	return kind != "" && kind != "thinking" && kind != "redacted_thinking"
}

// turnAfter returns how the turn began in which messages end: the type of the first block
// of its first answer, "" if there is none yet. The turn before messages began with began.
func turnAfter(began string, messages []wireMessage) string {
	for i := range messages {
		switch first := messages[i].Content[0].Type; {
		case messages[i].Role != "assistant" && first != "tool_result":
			began = ""
		case messages[i].Role == "assistant" && began == "":
			began = first
		}
	}
	return began
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
	for _, at := range newestOfUser(q.Messages) {
		blocks := slices.Clone(q.Messages[at].Content)
		blocks[len(blocks)-1].CacheControl = m
		q.Messages[at].Content = blocks
	}
}

// newestOfUser returns which are the two newest messages of the user.
func newestOfUser(messages []wireMessage) (at []int) {
	for i := len(messages) - 1; i >= 0 && len(at) < 2; i-- {
		if messages[i].Role == "user" {
			at = append(at, i)
		}
	}
	return at
}
