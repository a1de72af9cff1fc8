package openai

import (
	"cmp"
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat is the switches that the package comment describes.
type compat struct {
	provider.Dialect
	maxTokensField      string
	streamOptions       bool
	toolStream          bool
	alwaysThinks        bool
	cacheControl        bool
	stringContent       bool
	nullContent         bool
	toolCallIDs         string
	toolResultName      bool
	assistantAfterTools bool
	requireReasoning    bool
	reasoningField      string
	reasoningSplit      bool
	thinkingFormat      string
	keepThinking        bool
}

// switches names the switches, each with the field that its value goes to.
func (c *compat) switches() provider.Switches {
	return c.Dialect.Switches(provider.Switches{
		"max_tokens_field":      provider.OneOf(&c.maxTokensField, "max_tokens", "max_completion_tokens", "none"),
		"stream_options":        &c.streamOptions,
		"tool_stream":           &c.toolStream,
		"always_thinks":         &c.alwaysThinks,
		"cache_control":         &c.cacheControl,
		"string_content":        &c.stringContent,
		"null_content":          &c.nullContent,
		"tool_call_ids":         provider.OneOf(&c.toolCallIDs, "short", "nine"),
		"tool_result_name":      &c.toolResultName,
		"assistant_after_tools": &c.assistantAfterTools,
		"require_reasoning":     &c.requireReasoning,
		"reasoning_field":       provider.OneOf(&c.reasoningField, "", "reasoning_content", "reasoning", "reasoning_text"),
		"reasoning_split":       &c.reasoningSplit,
		"thinking_format": provider.OneOf(&c.thinkingFormat, "reasoning_effort", "reasoning", "reasoning_enabled",
			"thinking", "enable_thinking", "template", "none"),
		"keep_thinking": &c.keepThinking,
	})
}

// compatOf returns the switches for a model: the defaults, then what is known of the
// server, then the model's own.
func compatOf(m *llm.Model) (*compat, error) {
	c := &compat{Dialect: provider.NewDialect(), maxTokensField: "max_tokens", streamOptions: true, nullContent: true, toolCallIDs: "short", thinkingFormat: "reasoning_effort"}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// effort is the server's word for a thinking level. Few servers know more than
// three; more are in the list of a model that offers them. A model that always thinks is
// asked for the least that it offers where it shall not.
func (c *compat) effort(m *llm.Model, level string) string {
	if level == "off" && c.alwaysThinks {
		level = llm.Clamp(m, level)
		if word := c.Efforts[level]; level == "off" && (word == "" || word == "none") {
			level = "low"
		}
	}
	if word, ok := c.Efforts[level]; ok {
		return word
	}
	offered := slices.Contains(m.Levels, level)
	switch {
	case offered && level == "off":
		return "none"
	case offered:
		return level
	}
	switch level {
	case "minimal":
		return "low"
	case "low", "medium", "high":
		return level
	case "xhigh", "max": // the highest that the server is known to have
		return cmp.Or(c.Efforts["xhigh"], "high")
	}
	return ""
}
