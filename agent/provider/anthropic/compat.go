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
	thinkingOff string
	interleaved bool
	binding     string
	tools       bool
	cache       bool
	cacheTTL    string
	retention   string
	longCache   string
	eagerInput  bool
	session     string
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
		"thinking_off":      provider.OneOf(&c.thinkingOff, "disabled", "low", betweenTools),
		"interleaved":       &c.interleaved,
		"block_binding":     provider.OneOf(&c.binding, "", dropBlock),
		"tools":             &c.tools,
		"cache":             &c.cache,
		"cache_ttl":         provider.OneOf(&c.cacheTTL, "", "5m", "1h"),
		"cache_retention":   provider.OneOf(&c.retention, provider.Retention()...),
		"long_cache":        provider.OneOf(&c.longCache, "", "1h"),
		"session_header":    &c.session,
		"auth":              provider.OneOf(&c.auth, append(provider.KeySchemes(), "")...),
		"vertex":            &c.vertex,
		"version":           &c.version,
		"beta":              &c.beta,

		"eager_input_streaming": &c.eagerInput,
	}
}

const usualVersion = "2023-06-01"

// compatOf returns the switches for a model: the defaults, then what is known of the
// server, then the model's own.
func compatOf(m *llm.Model) (*compat, error) {
	c := &compat{tools: true, cache: true, version: usualVersion, thinkingOff: "disabled"}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	if c.retention == "long" && c.cacheTTL == "" {
		c.cacheTTL = c.longCache
	}
	return c, nil
}

// keyScheme is the way to send a key: it is chosen by the form of the key, unless a switch
// says it.
func (c *compat) keyScheme(key string) string {
	switch {
	case c.auth != "":
		return c.auth
	case c.vertex || isToken(key):
		return "bearer"
	}
	return "x-api-key"
}

// isToken tells an access token of an account from an API key.
func isToken(key string) bool { return strings.HasPrefix(strings.TrimSpace(key), "sk-ant-oat") }
