package responses

import (
	"encoding/json"

	"pi/agent/llm"
	"pi/agent/provider"
)

// request is the body of a call. Its fields are written in this order, so that
// equal requests are equal bytes.
type request struct {
	Model           string     `json:"model"`
	Stream          bool       `json:"stream"`
	Store           *bool      `json:"store,omitempty"`
	Include         []string   `json:"include,omitempty"`
	Reasoning       *reasoning `json:"reasoning,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitempty"`
	provider.LongCache
	ParallelToolCalls *bool  `json:"parallel_tool_calls,omitempty"`
	Instructions      string `json:"instructions,omitempty"`
	Tools             []tool `json:"tools,omitempty"`
	Input             []any  `json:"input"`

	prompts int // how many of Input the system prompt is
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// encode makes the call of the Responses API for a request, with what the model's
// switches say about its server.
func (a *api) encode(r *llm.Request) (*provider.Call, error) {
	c, err := a.switches.Of(r.Model, compatOf)
	if err != nil {
		return nil, err
	}
	body, err := a.drafts.Encode(r, func() *conversation { return newConversation(c, r) }, func(written [][]byte, v *conversation) ([]byte, error) {
		return c.request(r, v).encode(written)
	})
	if err != nil {
		return nil, err
	}
	return c.Call(r, "/responses", body, refusals.Hint(r.Model))
}

// encode writes the body as JSON, the items of the input one by one. Those that were
// written before go behind the system prompt.
func (q *request) encode(written [][]byte) ([]byte, error) {
	elements, err := provider.AppendElements(nil, q.Input[:q.prompts])
	if err != nil {
		return nil, err
	}
	elements, err = provider.AppendElements(append(elements, written...), q.Input[q.prompts:])
	if err != nil {
		return nil, err
	}
	frame := *q
	frame.Input = []any{} // the last field
	return provider.EncodeFramed(&frame, elements)
}

// request builds the body of a call, in the dialect that the switches describe. Its input
// is that of v.
func (c *compat) request(r *llm.Request, v *conversation) *request {
	v.placeImages()
	system := v.system(r.System)
	q := &request{Model: r.Model.ID, Stream: true, Reasoning: c.reasoning(r), PromptCacheKey: c.CacheKey(r), LongCache: c.Longer(),
		Input: append(system, v.items...), prompts: len(system)}
	if c.instructions {
		q.Instructions = provider.CleanText(r.System)
	}
	if c.Store {
		q.Store = new(false)
	}
	if c.encryptedReasoning && r.Model.Reasoning {
		q.Include = []string{"reasoning.encrypted_content"}
	}
	const smallest = 16 // that the API accepts
	if limit := provider.AnswerLimit(r); c.maxOutputTokens && limit > 0 {
		q.MaxOutputTokens = max(limit, smallest)
	}
	if c.Tools {
		q.Tools = v.described.Tools(r.Tools, c.encodeTools)
	}
	if c.ParallelToolCalls && len(q.Tools) > 0 {
		q.ParallelToolCalls = new(true)
	}
	return q
}

// reasoning asks a reasoning model for the level of the request, or the nearest that it
// offers, and one that may be such a model not to think; nil for others. Where it does not
// think, no summary of thoughts is asked for.
func (c *compat) reasoning(r *llm.Request) *reasoning {
	if !r.Off && (!r.Model.Reasoning || r.Thinking == "") {
		return nil
	}
	level := llm.Clamp(r.Model, r.Thinking)
	q := reasoning{Effort: c.effort(r.Model, level)}
	if _, said := c.Efforts["off"]; r.Off && !said {
		q.Effort = "none"
	}
	if level != "off" {
		q.Summary = c.reasoningSummary
	}
	if q == (reasoning{}) {
		return nil
	}
	return &q
}

// encodeTools states for each tool whether its schema is strict: for this API that is
// the default, and it rewrites schemas then.
func (c *compat) encodeTools(specs []llm.ToolSpec) []tool {
	var tools []tool
	for i := range specs {
		t := tool{Type: "function", Name: specs[i].Name, Description: provider.CleanText(specs[i].Description), Parameters: provider.Schema(specs[i].Parameters)}
		if c.Strict {
			t.Parameters, t.Strict = provider.StrictSchema(specs[i].Parameters)
		}
		tools = append(tools, t)
	}
	return tools
}

// refusals know which switch turns off what a server refused. They are quoted
// names of fields and whole phrases, for a single word of them may be in any
// message. They are never written to.
var refusals = provider.Refusals{
	{"must be verified to generate reasoning summaries", `reasoning_summary = ""`},
	{"reasoning.summary", `reasoning_summary = ""`},
	{"reasoning.encrypted_content", "encrypted_reasoning = false"},
	{"encrypted content is not supported", "encrypted_reasoning = false"},
	{"reasoning.effort", "reasoning_efforts"},
	{"'max_output_tokens'", "max_output_tokens = false"},
	{"'prompt_cache_key'", "prompt_cache_key = false"},
	{"prompt_cache_retention", `cache_retention = "short"`},
	{"prompt_cache_options", `cache_retention = "short"`},
	{"'parallel_tool_calls'", "parallel_tool_calls = false"},
	{"'instructions'", "instructions"},
	{"'developer'", "developer_role = false"},
	{"'store'", "store"},
	{"does not support tools", provider.NoTools},
	{"does not support thinking", provider.NotThinking},
	{"think value", provider.NoLevels},
}
