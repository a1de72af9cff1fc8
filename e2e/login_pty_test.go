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
		s.answer("it is not shown", key+"\r")
		if !kept {
			s.answer("refuses the key. Keep it all the same?", "n")
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

// Who is on the demo, for want of a key or because they named it, is on a real model with the
// key that /login kept.
func TestAKeptKeyEndsTheDemo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ settings, before, args string }{
		"in a session":        {before: "--model=demo/tour", args: "--continue"},
		"on the command line": {args: "--model=demo/tour"},
		"in config.toml":      {settings: "model = \"demo/tour\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := newModelServer("openai-completions", "text ok\n---\ntext It answers.", "")
			t.Cleanup(m.http.Close)
			w.write(w.agentFile("config.toml"), c.settings+"[providers.groq]\nbase_url = \""+m.baseURL()+"\"\n")
			if c.before != "" {
				w.pi(c.before, "-p", "list")
			}
			s := w.inTerminal(strings.Fields(c.args)...)
			s.see(1, "demo/tour is a script, no model")
			s.enter("help")
			s.see(1, "type /login, which asks for a key")
			s.enter("/login groq")
			s.see(1, "it is not shown")
			s.keys(leakKey + "\r")
			s.see(1, "; the model is groq/")
			s.enter("hello")
			s.see(1, "It answers.")
			s.enter("/quit")
			s.leave(statusDone)
			w.noLeak("a login", s.output())
		})
	}
}
