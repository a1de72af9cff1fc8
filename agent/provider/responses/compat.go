package responses

import (
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat is the switches that the package comment describes.
type compat struct {
	store              bool
	encryptedReasoning bool
	reasoningSummary   string
	efforts            provider.Words
	sendReasoning      bool
	maxOutputTokens    bool
	instructions       bool
	developerRole      bool
	messageIDs         bool
	promptCacheKey     bool
	usageCost          bool
	retention          string
	longCache          string
	session            string
	tools              bool
	strict             bool
	parallelToolCalls  bool
	toolResultImages   bool
	auth               string
	extra              map[string]any
}

// switches names the switches, each with the field that its value goes to.
func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"store":               &c.store,
		"encrypted_reasoning": &c.encryptedReasoning,
		"reasoning_summary":   provider.OneOf(&c.reasoningSummary, "auto", "concise", "detailed", ""),
		"reasoning_efforts":   &c.efforts,
		"send_reasoning":      &c.sendReasoning,
		"max_output_tokens":   &c.maxOutputTokens,
		"instructions":        &c.instructions,
		"developer_role":      &c.developerRole,
		"message_ids":         &c.messageIDs,
		"prompt_cache_key":    &c.promptCacheKey,
		"usage_cost":          &c.usageCost,
		"cache_retention":     provider.OneOf(&c.retention, provider.Retention()...),
		"long_cache":          provider.OneOf(&c.longCache, provider.LongCaches()...),
		"session_header":      &c.session,
		"tools":               &c.tools,
		"strict":              &c.strict,
		"parallel_tool_calls": &c.parallelToolCalls,
		"tool_result_images":  &c.toolResultImages,
		"auth":                provider.OneOf(&c.auth, provider.KeySchemes()...),
		"extra_body":          &c.extra,
	}
}

// compatOf returns the switches for a model: the defaults, then what is known of the
// server, then the model's own.
func compatOf(m *llm.Model) (*compat, error) {
	c := &compat{
		store: true, encryptedReasoning: true, reasoningSummary: "auto", sendReasoning: true, maxOutputTokens: true,
		developerRole: true, promptCacheKey: true, tools: true, toolResultImages: true, auth: "bearer",
	}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// effort is the server's word for a thinking level that the model offers; ""
// leaves it to the model. Where nobody knows what it offers, it is one of the
// three that every server knows.
func (c *compat) effort(m *llm.Model, level string) string {
	if word, ok := c.efforts[level]; ok {
		return word
	}
	offered := slices.Contains(m.Levels, level)
	switch level {
	case "off":
		if offered {
			return "none"
		}
		return ""
	case "low", "medium", "high":
		return level
	}
	switch {
	case offered:
		return level
	case level == "minimal":
		return "low"
	case level != "":
		return "high"
	}
	return ""
}
