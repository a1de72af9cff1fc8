package keyring

import (
	"context"
	"errors"
	"testing"
)

func TestResolveKey(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"KEY": " k1\n", "EMPTY": "", "LINES": "a\nb"}[name]
	}
	ring := New(Options{AgentDir: t.TempDir(), Getenv: getenv})
	ring.commands.run = func(_ context.Context, command string) (string, string, error) {
		switch command {
		case "good":
			return "k2\n", "a remark", nil
		case "empty":
			return "\n", "", nil
		case "lines":
			return "leak\nleak\n", "", nil
		}
		return "leak", "no such\x1b[31m entry of leak\n", errors.New("exit status 1")
	}
	tests := []struct{ spec, key, err string }{
		{"sk-x", "sk-x", ""},
		{"", "", ""},
		{"env:KEY", "k1", ""},
		{"env:GONE", "", "read key: environment variable GONE is not set"},
		{"env:PI_KEY_THAT_IS_NOT_KEPT", "", "read key: a change of config.toml waits for your approval, and no copy of the version before has its keys"},
		{"env:EMPTY", "", "read key: environment variable EMPTY is not set"},
		{"env:LINES", "", "read key: environment variable LINES holds more than one line"},
		{"env:sk-x", "", "read key: environment variable … is not set"},
		{"env:", "", `read key: "env:" names no variable`},
		{"!good", "k2", ""},
		{"! good", "k2", ""},
		{"!bad", "", "read key: command \"bad\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!bad leak", "", "read key: command \"bad …\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!TOKEN=t bad", "", "read key: command \"…\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!/opt/bad --token t", "", "read key: command \"/opt/bad …\": exit status 1: no such\uFFFD[31m entry of …"},
		{"!empty", "", `read key: command "empty" printed nothing`},
		{"!lines", "", `read key: command "lines" printed more than one line`},
		{"!", "", `read key: "!" names no command`},
	}
	for _, tt := range tests {
		key, err := ring.Resolve(t.Context(), tt.spec)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if key != tt.key || said != tt.err {
			t.Errorf("%q: %q, %q; want %q, %q", tt.spec, key, said, tt.key, tt.err)
		}
	}
}
