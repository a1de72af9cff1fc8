package anthropic

import (
	"net/http"
	"strings"

	"pi/agent"
)

// hint knows which switch is the other way round at a server that refused what
// was sent.
func hint(m *agent.Model) func(int, string) string {
	return func(status int, said string) string {
		if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
			return ""
		}
		for _, rule := range refusals {
			if strings.Contains(strings.ToLower(said), rule.words) {
				return strings.ReplaceAll(rule.hint, "NAME", m.Provider)
			}
		}
		return ""
	}
}

// refusals are phrases of refusals, in lower case, and what to do. It is never
// written to.
var refusals = []struct{ words, hint string }{
	{"thinking.type.enabled\" is not supported", "set compat.adaptive_thinking = true of [providers.NAME]"},
	{"adaptive thinking is not supported", "set compat.adaptive_thinking = false of [providers.NAME]"},
	{"thinking.type.adaptive\" is not supported", "set compat.adaptive_thinking = false of [providers.NAME]"},
	{"does not support effort level", "choose another level with /thinking, or set compat.reasoning_efforts of [providers.NAME]"},
	{"output_config: extra inputs", "set compat.adaptive_thinking = false of [providers.NAME]"},
	{"thinking.display", "set compat.thinking_display = \"\" of [providers.NAME]"},
	{"-beta` header", "set compat.interleaved = false of [providers.NAME]; compat.beta may name others"},
	{"cache_control: extra inputs", "set compat.cache = false of [providers.NAME]"},
	{"cache_control.ttl", "set compat.cache_ttl = \"\" of [providers.NAME]"},
}
