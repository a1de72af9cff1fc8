//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A key is typed unseen, tried, kept, and then in force without a new start.
func TestAKeyIsTypedUnseenAndKept(t *testing.T) {
	t.Parallel()
	const key = leakKey
	w := newWorld(t)
	m := newModelServer("openai-completions", "status 401 {\"error\":{\"message\":\"no such key\"}}\n---\ntext ok\n---\ntext It answers.", "")
	t.Cleanup(m.http.Close)
	w.write(w.agentFile("config.toml"), strings.ReplaceAll(m.settings(), "api_key", "#api_key"))
	s := w.inTerminal("--model", m.name+"/small")
	s.prompt()
	for _, kept := range []bool{false, true} {
		s.enter("/login " + m.name)
		s.see(1, "it is not shown")
		s.keys(key + "\r")
		if !kept {
			s.see(1, "refuses the key. Keep it all the same?")
			s.keys("n")
			s.see(1, "the key was not kept")
		} else {
			s.see(1, "works and is kept in")
		}
		s.prompt()
		data, _ := os.ReadFile(w.agentFile("auth.json"))
		var logins map[string]struct{ Key string }
		if err := json.Unmarshal(data, &logins); (err == nil && logins[m.name].Key == key) != kept {
			t.Errorf("auth.json has %q", data)
		}
	}
	s.enter("hello")
	s.see(1, "It answers.")
	s.prompt()
	s.enter("/quit")
	s.leave(statusDone)
	for _, r := range m.asked() {
		if got := r.header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("asked with %q", got)
		}
	}
	w.noLeak("a login", s.output())
}
