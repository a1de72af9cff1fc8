package anthropic

import (
	"strings"
	"testing"
)

func TestARefusalNamesItsSwitch(t *testing.T) {
	cases := []struct {
		status     int
		said, want string
	}{
		{400, `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, "adaptive_thinking = true of [providers.anthropic]"},
		{400, "adaptive thinking is not supported on this model", "adaptive_thinking = false"},
		{400, "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.", "/thinking"},
		{400, "output_config: Extra inputs are not permitted", "adaptive_thinking = false"},
		{400, "Unexpected value(s) `interleaved-thinking-2025-05-14` for the `anthropic-beta` header.", "interleaved = false"},
		{400, "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header.", `block_binding = "" of`},
		{400, "thinking.adaptive.block_binding: Extra inputs are not permitted", `block_binding = "" of`},
		{400, "thinking.adaptive.block_binding.prefix_mismatch_behavior: Extra inputs are not permitted", `block_binding = "" of`},
		{400, "Invalid `signature` in `thinking` block. The block is bound to a different conversation. That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header.", `block_binding = "drop_block" of`},
		{400, "system.0.cache_control: Extra inputs are not permitted", "cache = false"},
		{400, `"thinking.type.disabled" is not supported for this model.`, `thinking_off = "low" of`},
		{400, "thinking: Input tag 'between_tools' found using 'type' does not match any of the expected tags", `thinking_off = "disabled" of`},
		{400, "tools.0.custom.eager_input_streaming: Extra inputs are not permitted", "eager_input_streaming = false"},
		{400, "system.0.cache_control.ttl: Extra inputs are not permitted", `cache_ttl = "" of`},
		{400, "registry.ollama.ai/library/say:latest does not support tools", `(--no-tools), or write compat = { tools = false } in a section [[providers.anthropic.models]] of config.toml with id = "m"`},
		{400, `"say:latest" does not support thinking`, "write reasoning = false in a section [[providers.anthropic.models]]"},
		{400, "messages: roles must alternate", ""},
		{401, "adaptive thinking is not supported", ""},
	}
	m := model("m")
	for _, c := range cases {
		if got := refusals.Hint(m)(c.status, c.said); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", c.said, got)
		}
	}
}
