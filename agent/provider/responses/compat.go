package responses

import (
	"slices"

	"pi/agent"
	"pi/agent/provider"
)

// compat holds the switches described at the package.
type compat struct {
	store              bool
	encryptedReasoning bool
	reasoningSummary   string
	efforts            map[string]any
	sendReasoning      bool
	maxOutputTokens    bool
	instructions       bool
	developerRole      bool
	messageIDs         bool
	promptCacheKey     bool
	tools              bool
	strict             bool
	parallelToolCalls  bool
	toolResultImages   bool
	apiKeyHeader       bool
}

func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"store":               &c.store,
		"encrypted_reasoning": &c.encryptedReasoning,
		"reasoning_summary":   &c.reasoningSummary,
		"reasoning_efforts":   &c.efforts,
		"send_reasoning":      &c.sendReasoning,
		"max_output_tokens":   &c.maxOutputTokens,
		"instructions":        &c.instructions,
		"developer_role":      &c.developerRole,
		"message_ids":         &c.messageIDs,
		"prompt_cache_key":    &c.promptCacheKey,
		"tools":               &c.tools,
		"strict":              &c.strict,
		"parallel_tool_calls": &c.parallelToolCalls,
		"tool_result_images":  &c.toolResultImages,
		"api_key_header":      &c.apiKeyHeader,
	}
}

// compatOf is what is in force for a model.
func compatOf(m *agent.Model) (*compat, error) {
	c := &compat{
		store: true, encryptedReasoning: true, reasoningSummary: "auto", sendReasoning: true, maxOutputTokens: true,
		developerRole: true, promptCacheKey: true, tools: true, strict: true, toolResultImages: true,
	}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// safeEfforts are the words that every server knows which knows any.
var safeEfforts = map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}

// effort is the server's word for a thinking level; "" leaves it to the model.
func (c *compat) effort(m *agent.Model, level string) string {
	if level == "" || !m.Reasoning {
		return ""
	}
	level = agent.Clamp(m, level)
	if word, ok := c.efforts[level].(string); ok {
		return word
	}
	switch {
	case !slices.Contains(m.Levels, level):
		return safeEfforts[level]
	case level == "off":
		return "none"
	}
	return level
}
