package google

import (
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat is the switches that the package comment describes.
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

// switches names the switches, each with the field that its value goes to.
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

// compatOf returns the switches for a model: the defaults, then what is known of the
// server, then the model's own.
func compatOf(m *llm.Model) (*compat, error) {
	c := &compat{thinkingFormat: "budget", schema: "subset", toolImages: "turn", budgets: usualBudgets, levels: usualLevels}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// keyScheme is the way to send a key: it is chosen by the form of the key, unless a switch
// says it.
func (c *compat) keyScheme(key string) string {
	switch {
	case c.auth != "":
		return c.auth
	case strings.HasPrefix(strings.TrimSpace(key), "ya29."): // an access token of an account
		return "bearer"
	}
	return "x-goog-api-key"
}

// What a level is in tokens, and which word it is. Not all models take all of
// them, and not all can be kept from thinking.
var (
	usualBudgets = provider.Amounts{
		"off": "0", "minimal": "1024", "low": "2048", "medium": "8192", "high": "16384", "xhigh": "24576", "max": "24576",
	}
	usualLevels = provider.Words{
		"off": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "HIGH", "max": "HIGH",
	}
)
