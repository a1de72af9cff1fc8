package openai

import (
	"net/url"
	"strings"

	"pi/agent"
	"pi/agent/provider"
)

// compat holds the switches described at the package.
type compat struct {
	maxTokensField      string
	developerRole       bool
	streamOptions       bool
	store               bool
	promptCacheKey      bool
	cacheControl        bool
	stringContent       bool
	nullContent         bool
	tools               bool
	strict              bool
	parallelToolCalls   bool
	toolCallIDs         string
	toolResultName      bool
	assistantAfterTools bool
	sendReasoning       bool
	requireReasoning    bool
	thinkingFormat      string
	efforts             map[string]any
	extra               map[string]any
}

func (c *compat) switches() provider.Switches {
	return provider.Switches{
		"max_tokens_field":      &c.maxTokensField,
		"developer_role":        &c.developerRole,
		"stream_options":        &c.streamOptions,
		"store":                 &c.store,
		"prompt_cache_key":      &c.promptCacheKey,
		"cache_control":         &c.cacheControl,
		"string_content":        &c.stringContent,
		"null_content":          &c.nullContent,
		"tools":                 &c.tools,
		"strict":                &c.strict,
		"parallel_tool_calls":   &c.parallelToolCalls,
		"tool_call_ids":         &c.toolCallIDs,
		"tool_result_name":      &c.toolResultName,
		"assistant_after_tools": &c.assistantAfterTools,
		"send_reasoning":        &c.sendReasoning,
		"require_reasoning":     &c.requireReasoning,
		"thinking_format":       &c.thinkingFormat,
		"reasoning_efforts":     &c.efforts,
		"extra_body":            &c.extra,
	}
}

// compatOf is what is in force for a model.
func compatOf(m *agent.Model) (*compat, error) {
	c := &compat{
		maxTokensField: "max_tokens", streamOptions: true, nullContent: true, tools: true,
		toolCallIDs: "short", sendReasoning: true, thinkingFormat: "effort",
	}
	if adapt := servers[serverOf(m)]; adapt != nil {
		adapt(c, m)
	}
	if err := c.switches().Set(m); err != nil {
		return nil, err
	}
	return c, nil
}

// servers says how the well-known servers differ from the common ground. It is
// never written to.
var servers = map[string]func(*compat, *agent.Model){
	"openai": func(c *compat, m *agent.Model) {
		c.maxTokensField, c.store, c.promptCacheKey, c.developerRole = "max_completion_tokens", true, true, true
		c.efforts = fullEfforts
	},
	"azure": func(c *compat, m *agent.Model) {
		c.maxTokensField, c.developerRole = "max_completion_tokens", true
		c.efforts = fullEfforts
	},
	"openrouter": func(c *compat, m *agent.Model) {
		c.thinkingFormat, c.efforts = "openrouter", routerEfforts
		c.cacheControl = strings.HasPrefix(m.ID, "anthropic/")
	},
	"vercel": func(c *compat, m *agent.Model) {
		c.thinkingFormat, c.efforts = "openrouter", routerEfforts
	},
	"groq":     func(c *compat, m *agent.Model) { c.maxTokensField = "max_completion_tokens" },
	"cerebras": func(c *compat, m *agent.Model) { c.maxTokensField, c.stringContent = "max_completion_tokens", true },
	"xai": func(c *compat, m *agent.Model) {
		if !strings.Contains(m.ID, "mini") { // the others think as they like, and refuse the field
			c.thinkingFormat = "none"
		}
	},
	"deepseek": func(c *compat, m *agent.Model) {
		c.thinkingFormat, c.requireReasoning, c.stringContent = "type", m.Reasoning, true
	},
	"moonshot": func(c *compat, m *agent.Model) {
		c.thinkingFormat, c.requireReasoning = "type", m.Reasoning
	},
	"zai":     func(c *compat, m *agent.Model) { c.thinkingFormat = "zai" },
	"alibaba": func(c *compat, m *agent.Model) { c.thinkingFormat = "qwen" },
	"mistral": func(c *compat, m *agent.Model) {
		c.toolCallIDs, c.toolResultName, c.assistantAfterTools = "nine", true, true
		c.thinkingFormat = "none"
	},
	"perplexity": func(c *compat, m *agent.Model) {
		c.streamOptions, c.tools, c.stringContent, c.thinkingFormat = false, false, true, "none"
	},
}

// hosts tells a server by the end of its host name.
var hosts = []struct{ suffix, server string }{
	{"api.openai.com", "openai"},
	{".openai.azure.com", "azure"}, {".services.ai.azure.com", "azure"}, {".cognitiveservices.azure.com", "azure"},
	{"openrouter.ai", "openrouter"},
	{"ai-gateway.vercel.sh", "vercel"},
	{"api.groq.com", "groq"},
	{"api.x.ai", "xai"},
	{"api.deepseek.com", "deepseek"},
	{"api.mistral.ai", "mistral"},
	{"api.cerebras.ai", "cerebras"},
	{"api.moonshot.ai", "moonshot"}, {"api.moonshot.cn", "moonshot"},
	{"api.z.ai", "zai"}, {"open.bigmodel.cn", "zai"},
	{"dashscope.aliyuncs.com", "alibaba"}, {"dashscope-intl.aliyuncs.com", "alibaba"}, {"dashscope-us.aliyuncs.com", "alibaba"},
	{"api.perplexity.ai", "perplexity"},
}

// serverOf names the kind of server that a model is served by: by its address,
// else by the provider's name, which is right for gateways and proxies.
func serverOf(m *agent.Model) string {
	u, err := url.Parse(m.BaseURL)
	if err != nil {
		return m.Provider
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range hosts {
		if host == h.suffix || strings.HasSuffix(host, "."+strings.TrimPrefix(h.suffix, ".")) {
			return h.server
		}
	}
	return m.Provider
}

// Words for the thinking levels. A level without a word sends nothing. Few
// servers know more than three.
var (
	fewEfforts    = map[string]any{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
	fullEfforts   = map[string]any{"minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "xhigh"}
	routerEfforts = map[string]any{"off": "none", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "xhigh"}
)

// effort is the server's word for a thinking level.
func (c *compat) effort(level string) string {
	if word, ok := c.efforts[level].(string); ok {
		return word
	}
	word, _ := fewEfforts[level].(string)
	return word
}
