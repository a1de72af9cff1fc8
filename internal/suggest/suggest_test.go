package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"timeout", "cwd", "env", "session_start", "tool_call", "mode", "model"}
	for name, want := range map[string]string{
		"timout": "timeout", "tiemout": "timeout", "timeouts": "timeout", "cdw": "cwd", "envs": "env",
		"sesion_start": "session_start", "toolcall": "tool_call", "zzz": "", "": "", "timeout": "timeout",
		"toolCall": "tool_call", "ToolCall": "tool_call", "sessionStart": "session_start", "get_env": "env", "session": "session_start", "to": "",
		"modell": "model", "my_mode": "mode", "myMode": "mode", "mymode": "mode", "com_mode": "mode", "incom_mode_x": "", "on_icwd": "",
		"session-strat": "session_start", "Session Start": "session_start", "ENVX": "env", strings.Repeat("timeout", 100): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestHintEndsAMessage(t *testing.T) {
	known := []string{"timeout", "cwd"}
	for name, want := range map[string]string{"timout": `, did you mean "timeout"?`, "zebra": ""} {
		if got := Hint(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abcd", 1}, {"abc", "xbc", 1}, {"kitten", "sitting", 3}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
