package anthropic

import "pi/agent/provider"

// refusals know which switch is the other way round at a server that refused what
// was sent. They are never written to.
var refusals = provider.Refusals{
	{"thinking.type.enabled\" is not supported", "adaptive_thinking = true"},
	{"adaptive thinking is not supported", "adaptive_thinking = false"},
	{"thinking.type.adaptive\" is not supported", "adaptive_thinking = false"},
	{"does not support effort level", "choose another level with /thinking, or set compat.reasoning_efforts of [providers.NAME]"},
	{"output_config: extra inputs", "adaptive_thinking = false"},
	{"thinking.display", `thinking_display = ""`},
	{"-beta` header", "set compat.interleaved = false of [providers.NAME]; compat.beta may name others"},
	{"cache_control: extra inputs", "cache = false"},
	{"cache_control.ttl", `cache_ttl = ""`},
}
