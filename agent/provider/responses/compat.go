package responses

import (
	"slices"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat is the switches that the package comment describes.
type compat struct {
	provider.Dialect
	encryptedReasoning bool
	reasoningSummary   string
	maxOutputTokens    bool
	instructions       bool
	messageIDs         bool
}

// switches names the switches, each with the field that its value goes to.
func (c *compat) switches() provider.Switches {
	return c.Dialect.Switches(provider.Switches{
		"encrypted_reasoning": &c.encryptedReasoning,
		"reasoning_summary":   provider.OneOf(&c.reasoningSummary, "auto", "concise", "detailed", ""),
		"max_output_tokens":   &c.maxOutputTokens,
		"instructions":        &c.instructions,
		"message_ids":         &c.messageIDs,
	})
}

// compatOf returns the switches for a model: the defaults, then what is known of the
// server, then the model's own.
func compatOf(m *llm.Model) (*compat, error) {
	c := &compat{Dialect: provider.NewDialect(), encryptedReasoning: true, reasoningSummary: "auto", maxOutputTokens: true}
	c.Store, c.DeveloperRole, c.PromptCacheKey, c.ToolResultImages = true, true, true, true
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// effort is the server's word for a thinking level that the model offers; ""
// leaves it to the model. Where nobody knows what it offers, it is one of the
// three that every server knows.
func (c *compat) effort(m *llm.Model, level string) string {
	if word, ok := c.Efforts[level]; ok {
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
