package provider

import (
	"maps"

	"pi/agent/llm"
)

// Dialect has the switches that the two APIs of OpenAI share, and what those say of a
// request that both write in the same way.
type Dialect struct {
	auth              string
	session           string
	retention         string
	longCache         string
	extra             map[string]any
	Store             bool
	PromptCacheKey    bool
	DeveloperRole     bool
	Tools             bool
	Strict            bool
	ParallelToolCalls bool
	ToolResultImages  bool
	SendReasoning     bool
	UsageCost         bool
	Efforts           Words
}

// NewDialect returns the switches as they are for most servers.
func NewDialect() Dialect { return Dialect{auth: "bearer", Tools: true, SendReasoning: true} }

// Switches names the switches, and those of the API itself, each with the field that its
// value goes to.
func (d *Dialect) Switches(own Switches) Switches {
	maps.Copy(own, Switches{
		"auth":                OneOf(&d.auth, KeySchemes()...),
		"session_header":      &d.session,
		"cache_retention":     OneOf(&d.retention, Retention()...),
		"long_cache":          OneOf(&d.longCache, "", "24h", "30m"),
		"prompt_cache_key":    &d.PromptCacheKey,
		"extra_body":          &d.extra,
		"store":               &d.Store,
		"developer_role":      &d.DeveloperRole,
		"tools":               &d.Tools,
		"strict":              &d.Strict,
		"parallel_tool_calls": &d.ParallelToolCalls,
		"tool_result_images":  &d.ToolResultImages,
		"send_reasoning":      &d.SendReasoning,
		"usage_cost":          &d.UsageCost,
		"reasoning_efforts":   &d.Efforts,
	})
	return own
}

// CacheKey is the session as a key of the prompt cache; "" where that is not sent.
func (d *Dialect) CacheKey(r *llm.Request) string {
	if !d.PromptCacheKey {
		return ""
	}
	return r.SessionID[:min(len(r.SessionID), 64)] // the length that is accepted
}

// LongCache are the fields that ask for a longer cache. Which of the two is a matter of the
// model.
type LongCache struct {
	Retention string        `json:"prompt_cache_retention,omitempty"`
	Options   *cacheOptions `json:"prompt_cache_options,omitempty"`
}

type cacheOptions struct {
	TTL string `json:"ttl"`
}

// Longer asks for the longest cache that the server can, where that is wanted.
func (d *Dialect) Longer() LongCache {
	switch {
	case d.retention != "long":
		return LongCache{}
	case d.longCache == "30m":
		return LongCache{Options: &cacheOptions{TTL: d.longCache}}
	}
	return LongCache{Retention: d.longCache}
}

// Call is the call of a request at path, with its key, its session and further fields of
// its body.
func (d *Dialect) Call(r *llm.Request, path string, body []byte, hint func(status int, said string) string) (*Call, error) {
	body, err := WithFields(body, d.extra)
	if err != nil {
		return nil, &llm.ProviderError{Provider: r.Model.Provider, Message: "encode compat extra_body", Err: err}
	}
	h := KeyHeader(d.auth, r.APIKey)
	SetSession(h, d.session, r)
	return &Call{URL: Join(r.Model.BaseURL, path), Header: h, Body: body, Hint: hint}, nil
}
