package google

import (
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat holds the switches described at the package.
type compat struct {
	auth           string
	thinkingFormat string
	budgets        provider.Amounts
	levels         provider.Words
	schema         string
	toolImages     string
	placeholder    bool
	toolMode       string
}

func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"auth":                  provider.OneOf(&c.auth, provider.KeySchemes()...),
		"thinking_format":       provider.OneOf(&c.thinkingFormat, "budget", "level", "none"),
		"thinking_budgets":      &c.budgets,
		"thinking_levels":       &c.levels,
		"schema":                provider.OneOf(&c.schema, "subset", "json"),
		"tool_images":           provider.OneOf(&c.toolImages, "response", "turn"),
		"placeholder_signature": &c.placeholder,
		"tool_mode":             provider.OneOf(&c.toolMode, "AUTO", "VALIDATED", "ANY", "NONE"),
	}
}

func compatOf(r *llm.Request) (*compat, error) {
	c := &compat{thinkingFormat: "budget", schema: "subset", toolImages: "turn", budgets: usualBudgets, levels: usualLevels}
	if err := c.switches().Set(r.Model); err != nil {
		return nil, err
	}
	if c.auth == "" {
		c.auth = "x-goog-api-key"
		if strings.HasPrefix(strings.TrimSpace(r.APIKey), "ya29.") { // an access token of an account
			c.auth = "bearer"
		}
	}
	return c, nil
}
