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
			s.asked("it is not shown")
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

// A provider that only a hook has is among those of /login, its key is tried at the address of
// the hook, and is in force. One whose key the hook has itself says so.
func TestAKeyOfAHooksProviderIsKept(t *testing.T) {
	t.Parallel()
	const key = leakKey
	w := newWorld(t)
	m := newModelServer("openai-completions", "text ok\n---\ntext It answers.\n---\ntext ok", "")
	t.Cleanup(m.http.Close)
	provider := `pi.provider("NAME", { api = "openai-completions", base_url = "` + m.http.URL + `/v1",KEY models = { { id = "small" } } })` + "\n"
	w.write(w.agentFile("hooks/acme.lua"), strings.NewReplacer("NAME", "acme", "KEY", "").Replace(provider)+
		strings.NewReplacer("NAME", "own", "KEY", ` api_key = "$LOCAL_KEY",`).Replace(provider)+
		`pi.provider("echo", { models = { { id = "e" } }, stream = function() return "x" end })`)
	s := w.inTerminal("--model", "acme/small")
	s.prompt()
	s.enter("/login echo")
	s.see(1, "there is no provider of that name")
	s.prompt()
	s.enter("/login acme")
	s.answer("Key of acme, of the hook acme (it is not shown)", key+"\r")
	s.see(1, "the key of acme works and is kept in")
	s.prompt()
	s.enter("hello")
	s.see(1, "It answers.")
	s.prompt()
	s.enter("/login own")
	s.answer("Key of own", key+"\r")
	s.see(1, "api_key of the hook acme comes before it; take it out of the hook")
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
