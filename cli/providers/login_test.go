package providers

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/cli/config"
	"pi/cli/keyring"
)

func TestAKeyIsTriedWithOneRequest(t *testing.T) {
	for _, tt := range []struct {
		name, api, answer string
		status            int
		model             bool
		path              string
		refused           bool
		err               string
	}{
		{name: "it works", api: "openai-completions", model: true, status: 200, path: "/v1/chat/completions",
			answer: "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
		{name: "it is refused", api: "openai-completions", model: true, status: 401, path: "/v1/chat/completions", answer: `{"error":{"message":"bad key sk-typed"}}`, refused: true, err: "HTTP 401"},
		{name: "the server is broken", api: "openai-completions", model: true, status: 500, path: "/v1/chat/completions", answer: `{"error":{"message":"out"}}`, err: "HTTP 500"},
		{name: "another API", api: "anthropic-messages", model: true, status: 401, path: "/v1/messages",
			answer: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, refused: true, err: "invalid x-api-key"},
		{name: "no model is known", api: "openai-completions", status: 200, path: "/v1/models", answer: `{"data":[{"id":"m"}]}`},
		{name: "no model is known, and there are very many", api: "openai-completions", status: 200, path: "/v1/models", answer: "[" + strings.Repeat(`{"id":"m"},`, 6000) + "{}]"},
		{name: "no model is known, and it is refused", api: "openai-completions", status: 401, path: "/v1/models", answer: `{"error":{"message":"no"}}`, refused: true, err: "HTTP 401"},
	} {
		var paths, keys []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			paths, keys = append(paths, r.URL.Path), append(keys, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
			w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[tt.status == 200 && tt.model])
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.answer))
		}))
		section := config.Provider{BaseURL: server.URL + "/v1", API: tt.api, APIKey: "sk-of-the-settings"}
		if tt.api == "anthropic-messages" {
			section.BaseURL = server.URL
		}
		if tt.model {
			section.Models = []config.Model{{ID: "m"}}
		}
		cfg := config.Config{Providers: map[string]config.Provider{"local": section}}
		refused, err := TryKey(t.Context(), cfg, ringWith(t, "", nil), func(string) []*llm.Model { return nil }, "local", "sk-typed")
		if refused != tt.refused || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: refused %v, %v", tt.name, refused, err)
		}
		if err != nil && strings.Contains(err.Error(), "sk-typed") {
			t.Errorf("%s: the error has the key: %v", tt.name, err)
		}
		if !slices.Equal(paths, []string{tt.path}) || !strings.HasSuffix(keys[0], "sk-typed") {
			t.Errorf("%s: asked at %q with %q", tt.name, paths, keys)
		}
		server.Close()
	}
}

func TestKeysCanBeKeptOfProvidersThatWantOne(t *testing.T) {
	cfg := config.Config{Providers: map[string]config.Provider{
		"local":     {BaseURL: "http://127.0.0.1:1/v1", API: "openai-completions"},
		"anthropic": {APIKey: "sk-of-the-settings"},
		"broken":    {APIKey: "sk-x"},
	}}
	accounts := Accounts(cfg, ringWith(t, `{"openai": {"type": "api_key", "key": "sk-kept"}}`, map[string]string{"GROQ_API_KEY": "x"}))
	find := func(name string) (a keyring.Account) {
		if i := slices.IndexFunc(accounts, func(a keyring.Account) bool { return a.Name == name }); i >= 0 {
			a = accounts[i]
		}
		return a
	}
	if a := find("anthropic"); a.From != "config.toml" || !strings.Contains(a.Before, "[providers.anthropic]") || !strings.HasPrefix(a.Model, "anthropic/") || a.Title == "" {
		t.Errorf("%+v", a)
	}
	if a := find("openai"); a.From != "auth.json" || a.Before != "" {
		t.Errorf("%+v", a)
	}
	if a := find("groq"); a.From != "GROQ_API_KEY" {
		t.Errorf("%+v", a)
	}
	if a := find("local"); a.Title != "local" || a.Model != "" {
		t.Errorf("%+v", a)
	}
	if a := find("broken"); a.Name != "" {
		t.Errorf("one that cannot be asked: %+v", a)
	}
}
