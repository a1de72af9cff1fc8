package anthropic

import (
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// compat is the switches that the package comment describes.
type compat struct {
	adaptive    bool
	efforts     provider.Words
	display     string
	interleaved bool
	cache       bool
	cacheTTL    string
	auth        string
	vertex      bool
	version     string
	beta        string
}

// switches names the switches, each with the field that its value goes to.
func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"adaptive_thinking": &c.adaptive,
		"reasoning_efforts": &c.efforts,
		"thinking_display":  provider.OneOf(&c.display, "", "summarized", "omitted"),
		"interleaved":       &c.interleaved,
		"cache":             &c.cache,
		"cache_ttl":         provider.OneOf(&c.cacheTTL, "", "5m", "1h"),
		"auth":              provider.OneOf(&c.auth, append(provider.KeySchemes(), "")...),
		"vertex":            &c.vertex,
		"version":           &c.version,
		"beta":              &c.beta,
	}
}

// compatOf returns the switches for a request: the defaults, then what is known of the
// server, then the model's own. The way to send the key is chosen by the form of the
// key, unless a switch says it.
func compatOf(r *llm.Request) (*compat, error) {
	c := &compat{cache: true, version: "2023-06-01"}
	if err := c.switches().Set(r.Model); err != nil {
		return nil, err
	}
	if c.auth == "" {
		c.auth = "x-api-key"
		if c.vertex || isToken(r.APIKey) {
			c.auth = "bearer"
		}
	}
	return c, nil
}

// isToken tells an access token of an account from an API key.
func isToken(key string) bool { return strings.HasPrefix(strings.TrimSpace(key), "sk-ant-oat") }
