package catalogue_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
	"pi/session/message"
)

// network is one that keeps what was sent.
type network struct{ body, address string }

var errSent = errors.New("sent")

func (w *network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	w.body, w.address = string(body), r.URL.String()
	return nil, errors.Join(err, errSent)
}

// clients are the clients of all APIs, over a network.
func clients(over http.RoundTripper) map[string]llm.Provider {
	all := map[string]llm.Provider{}
	for _, api := range wire.APIs() {
		all[api.Name] = api.New(&http.Client{Transport: over})
	}
	return all
}

// ask sends a question to nobody.
func ask(t *testing.T, apis map[string]llm.Provider, m *llm.Model, level string) {
	t.Helper()
	r := &llm.Request{Model: m, Thinking: level, MaxTokens: m.MaxTokens, APIKey: "key",
		Messages: []*message.Message{{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hello")}}}}
	for _, err := range apis[m.API].Stream(context.Background(), r) {
		if !errors.Is(err, errSent) {
			t.Errorf("%s at %s: %v", m.Ref(), level, err)
		}
	}
}

// Two levels that are asked for in the same words are one level, and the user
// who chooses between them is misled.
func TestEachLevelThatAModelOffersIsAskedForInItsOwnWords(t *testing.T) {
	w := &network{}
	apis := clients(w)
	for _, p := range catalogue.Providers() {
		for _, m := range catalogue.Models(p.Name) {
			if m.BaseURL == "" {
				m.BaseURL = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"
			}
			asked := map[string]string{}
			for _, level := range m.Levels {
				ask(t, apis, m, level)
				if other, same := asked[w.body]; same {
					t.Errorf("%s is asked for %s as it is for %s", m.Ref(), level, other)
				}
				asked[w.body] = level
			}
		}
	}
}

func TestModelsAreAskedWhereTheyAreServed(t *testing.T) {
	w := &network{}
	apis := clients(w)
	for _, c := range []struct{ provider, id, want string }{
		{"anthropic", "claude-sonnet-4-6", "https://api.anthropic.com/v1/messages"},
		{"openai", "gpt-5", "https://api.openai.com/v1/responses"},
		{"google", "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"},
		{"groq", "openai/gpt-oss-120b", "https://api.groq.com/openai/v1/chat/completions"},
		{"kimi-coding", "kimi-for-coding", "https://api.kimi.com/coding/v1/chat/completions"},
		{"xai", "grok-4.7", "https://api.x.ai/v1/responses"},
		{"minimax", "MiniMax-M2.7", "https://api.minimax.io/anthropic/v1/messages"},
		{"opencode", "claude-sonnet-4-6", "https://opencode.ai/zen/v1/messages"},
		{"opencode", "gpt-5.4", "https://opencode.ai/zen/v1/responses"},
		{"opencode", "gemini-3-flash", "https://opencode.ai/zen/v1/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"opencode", "glm-5.1", "https://opencode.ai/zen/v1/chat/completions"},
		{"opencode-go", "minimax-m2.7", "https://opencode.ai/zen/go/v1/messages"},
	} {
		ask(t, apis, find(t, c.provider, c.id), "high")
		if w.address != c.want {
			t.Errorf("%s/%s is asked at %s, want %s", c.provider, c.id, w.address, c.want)
		}
	}
}
