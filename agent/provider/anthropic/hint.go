package anthropic

import (
	"strings"

	"pi/agent/llm"
	"pi/agent/provider"
)

// refusals know which switch is the other way round at a server that refused what
// was sent. They are never written to.
var refusals = provider.Refusals{
	{"thinking.type.enabled\" is not supported", "adaptive_thinking = true"},
	{"adaptive thinking is not supported", "adaptive_thinking = false"},
	{"thinking.type.adaptive\" is not supported", "adaptive_thinking = false"},
	{"does not support effort level", "choose another level with /thinking, or set compat.reasoning_efforts of [providers.NAME]"},
	{"output_config: extra inputs", "adaptive_thinking = false"},
	{"thinking.type.disabled", `thinking_off = "low"`},
	{"between_tools", `thinking_off = "disabled"`},
	{"eager_input_streaming", "eager_input_streaming = false"},
	{"thinking.display", `thinking_display = ""`},
	{"block_binding: extra inputs", `block_binding = ""`},
	{"prefix_mismatch_behavior: extra inputs", `block_binding = ""`},
	{boundElsewhere, `block_binding = "drop_block"`},
	{bindingBeta, `block_binding = ""`},
	{"-beta` header", "set compat.interleaved = false of [providers.NAME]; compat.beta may name others"},
	{"cache_control: extra inputs", "cache = false"},
	{"does not support tools", provider.NoTools},
	{"does not support thinking", provider.NotThinking},
	{"cache_control.ttl", `set cache = "short" and compat.cache_ttl = "" of [providers.NAME]`},
}

// boundElsewhere is what a server says, in lower case, of a thought that does not fit what
// stands before it.
const boundElsewhere = "bound to a different conversation"

// hint is the Hint of a call. It names no switch that is on already.
func (c *compat) hint(m *llm.Model) func(status int, said string) string {
	known := refusals.Hint(m)
	if c.binding == "" {
		return known
	}
	return func(status int, said string) string {
		if strings.Contains(strings.ToLower(said), boundElsewhere) {
			return ""
		}
		return known(status, said)
	}
}
