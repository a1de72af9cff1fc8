package suggest

import (
	"testing"
)

func TestSuggest(t *testing.T) {
	known := []string{"timeout", "cwd", "env", "session_start", "tool_call"}
	for name, want := range map[string]string{
		"timout": "timeout", "tiemout": "timeout", "timeouts": "timeout", "cdw": "cwd", "envs": "env",
		"sesion_start": "session_start", "toolcall": "tool_call", "zzz": "", "": "", "timeout": "timeout",
		"toolCall": "tool_call", "ToolCall": "tool_call", "sessionStart": "session_start", "get_env": "env", "session": "session_start", "to": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
