package catalogue_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/agent/provider/wire"
)

func find(t *testing.T, provider, id string) *llm.Model {
	t.Helper()
	for _, m := range catalogue.Models(provider) {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("the catalogue has no %s/%s", provider, id)
	return nil
}

func TestPricesOfKnownModels(t *testing.T) {
	for _, c := range []struct {
		provider, id string
		want         llm.Price
	}{
		{"anthropic", "claude-sonnet-4-6", llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
		{"anthropic", "claude-opus-4-6", llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
		{"openai", "gpt-5", llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: -1}},
		{"openai", "gpt-5.6-sol", llm.Price{Input: 4, Output: 20, CacheRead: 0.4, CacheWrite: 5}},
		{"openai", "gpt-4.1-mini", llm.Price{Input: 0.4, Output: 1.6, CacheRead: 0.1, CacheWrite: -1}},
		{"google", "gemini-4-argon", llm.Price{Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: -1}},
		{"deepseek", "deepseek-v4-pro", llm.Price{Input: 1.32, Output: 3.96, CacheRead: 0.044, CacheWrite: -1}}, // the list is behind
		{"mistral", "mistral-large-latest", llm.Price{Input: 0.5, Output: 1.5, CacheRead: 0.05, CacheWrite: -1}},
		{"together", "moonshotai/Kimi-K2.6", llm.Price{Input: 1.2, Output: 4.5, CacheRead: 0.2, CacheWrite: -1}},
		// Reading and writing stand the other way round in the source.
		{"opencode", "claude-sonnet-4-6", llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
		{"minimax", "MiniMax-M2.7", llm.Price{Input: 0.3, Output: 1.2, CacheRead: 0.06, CacheWrite: 0.375}},
		// The source repeats the plain prices where those of cached tokens belong.
		{"qiniucloud", "z-ai/glm-4.6", llm.Price{Input: 1, Output: 1.75, CacheRead: 1, CacheWrite: -1}},
		{"opencode", "deepseek-v4.1-flash-free", llm.Price{}},
		{"openrouter", "google/gemini-3.8-flash", llm.Price{Input: 0.75, Output: 3.75, CacheRead: 0.075, CacheWrite: -1}}, // listed as for a batch

	} {
		if m := find(t, c.provider, c.id); m.Cost == nil || plain(*m.Cost) != c.want {
			t.Errorf("%s costs %v, want %v", m.Ref(), m.Cost, c.want)
		}
	}
}

func plain(p llm.Price) llm.Price {
	p.Above = nil
	return p
}

func TestLongerPromptsCostMore(t *testing.T) {
	for _, c := range []struct {
		provider, id string
		tokens       int
		input        float64
	}{
		{"openai", "gpt-5.4", 272000, 5}, {"openai", "gpt-6.1-sol", 272000, 4}, {"xai", "grok-4.7", 200000, 4}, {"anthropic", "claude-haiku-5-5", 100000, 0.5},
		{"openrouter", "openai/gpt-6-sol", 272000, 4}, {"openai", "gpt-5.2", 0, 0}, {"anthropic", "claude-opus-5-5", 0, 0},
	} {
		m := find(t, c.provider, c.id)
		if c.tokens == 0 {
			if m.Cost.Above != nil {
				t.Errorf("%s costs %+v above %d tokens", m.Ref(), m.Cost.Above.Price, m.Cost.Above.Tokens)
			}
		} else if s := m.Cost.Above; s == nil || s.Tokens != c.tokens || s.Price.Input != c.input {
			t.Errorf("%s: above %d tokens input costs %v; it has %+v", m.Ref(), c.tokens, c.input, s)
		}
	}
}

func TestAPriceOfNothingIsNotKnown(t *testing.T) {
	for _, ref := range [][2]string{{"kimi-coding", "k3"}, {"kimi-coding", "kimi-for-coding"}} {
		if m := find(t, ref[0], ref[1]); m.Cost != nil {
			t.Errorf("%s costs %v, want unknown", m.Ref(), *m.Cost)
		}
	}
}

func TestThinkingLevelsOfKnownModels(t *testing.T) {
	for _, c := range []struct{ provider, id, want string }{
		{"anthropic", "claude-sonnet-4-6", "off low medium high max"},
		{"anthropic", "claude-opus-4-8", "off low medium high xhigh max"},
		{"anthropic", "claude-haiku-4-5-20251001", "off minimal low medium high xhigh"},
		{"anthropic", "claude-fable-5", "low medium high xhigh max"},
		{"anthropic", "claude-opus-5-5", "low medium high xhigh max"},
		{"anthropic", "claude-sonnet-5-5", "off low medium high xhigh max"},
		{"openai", "gpt-6.1-sol", "low medium high xhigh max"},
		{"openai", "gpt-6.1-terra", "off low medium high xhigh max"},
		{"google", "gemini-4-argon", "low medium high"},
		{"xai", "grok-4.7", "low medium high xhigh"},
		{"zai", "glm-5.3", "low high max"},
		{"moonshot", "kimi-k3.1-pro", "low high max"},
		{"kimi-coding", "k3", "low high max"},
		{"minimax", "MiniMax-M3.1-Flash", "low medium high xhigh max"},
		{"mistral", "mistral-large-4", "low medium high"},
		{"google-vertex-anthropic", "claude-sonnet-4-5@20250929", "off minimal low medium high xhigh"},
		{"openai", "gpt-5", "minimal low medium high"},
		{"openai", "gpt-5.1", "off low medium high"},
		{"openai", "gpt-5.4", "off low medium high xhigh"},
		{"openai", "gpt-5.4-pro", "medium high xhigh"},
		{"openai", "gpt-5.6-sol", "off low medium high xhigh max"},
		{"openai", "o3", "low medium high"},
		{"opencode", "gpt-5.2", "off low medium high xhigh"},
		{"google", "gemini-2.5-pro", "minimal low medium high"},
		{"google", "gemini-2.5-flash", "off minimal low medium high"},
		{"google", "gemini-3-pro-preview", "low high"},
		{"deepseek", "deepseek-v4-pro", "off high max"},
		{"openrouter", "anthropic/claude-sonnet-4.6", "off low medium high max"},
		{"openrouter", "openai/gpt-5-mini", "minimal low medium high"},
		{"openrouter", "openai/gpt-oss-120b", "low medium high"},
		{"openrouter", "moonshotai/kimi-k2-thinking", "low medium high"},
		{"groq", "qwen/qwen3-32b", ""},
		{"mistral", "mistral-small-latest", "off high"},
	} {
		m := find(t, c.provider, c.id)
		if got := strings.Join(m.Levels, " "); got != c.want {
			t.Errorf("%s thinks %q, want %q", m.Ref(), got, c.want)
		}
		if c.want != "" && !m.Reasoning {
			t.Errorf("%s does not reason", m.Ref())
		}
	}
}

func TestAModelIsComplete(t *testing.T) {
	m := find(t, "opencode", "claude-sonnet-4-6")
	if m.Provider != "opencode" || m.Name != "Claude Sonnet 4.6" || m.API != "anthropic-messages" || m.BaseURL != "https://opencode.ai/zen" ||
		m.ContextWindow != 1000000 || m.MaxTokens != 128000 || !m.Reasoning || !slices.Contains(m.Input, "image") || !m.NeedsKey {
		t.Errorf("the model is %+v", *m)
	}
	m = find(t, "zai", "glm-5.3")
	if m.API != "openai-completions" || m.BaseURL != "https://api.z.ai/api/coding/paas/v4" || slices.Contains(m.Input, "image") || !slices.Equal(m.Input, []string{"text"}) {
		t.Errorf("the model is %+v", *m)
	}
}

func isAPI(name string) bool {
	_, ok := wire.Find(name)
	return ok
}

// What holds for every provider and every model.
func TestNothingInTheCatalogueIsNonsense(t *testing.T) {
	names := map[string]bool{}
	total := 0
	for _, p := range catalogue.Providers() {
		for _, name := range append(slices.Clone(p.Aliases), p.Name) {
			if names[name] {
				t.Errorf("two providers are called %s", name)
			}
			names[name] = true
		}
		if !isAPI(p.API) || p.Title == "" {
			t.Errorf("%s: api %q, title %q", p.Name, p.API, p.Title)
		}
		if p.BaseURL == "" && p.Hint == "" {
			t.Errorf("%s has neither an address nor a hint", p.Name)
		}
		if p.Local == (len(p.KeyVars) > 0) {
			t.Errorf("%s: local is %v, and key variables are %q", p.Name, p.Local, p.KeyVars)
		}
		models := catalogue.Models(p.Name)
		checkModels(t, p, models)
		total += len(models)
	}
	if total < 1000 {
		t.Errorf("there are %d models in all", total)
	}
}

func checkModels(t *testing.T, p catalogue.Provider, models []*llm.Model) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range models {
		ref := p.Name + "/" + m.ID
		if ids[m.ID] || m.ID == "" || m.Name == "" || m.Provider != p.Name || m.NeedsKey == p.Local {
			t.Errorf("%s is there twice or incomplete: %+v", ref, *m)
		}
		ids[m.ID] = true
		if m.ContextWindow < 4096 || m.ContextWindow > 20e6 || m.MaxTokens < 0 || m.MaxTokens > m.ContextWindow {
			t.Errorf("%s has a window of %d and answers of %d tokens", ref, m.ContextWindow, m.MaxTokens)
		}
		if !isAPI(m.API) || m.BaseURL == "" && p.Hint == "" {
			t.Errorf("%s is asked over %q at %q", ref, m.API, m.BaseURL)
		}
		if m.BaseURL != "" && !isBase(m.BaseURL, p.Local) {
			t.Errorf("%s has the address %q", ref, m.BaseURL)
		}
		checkLevels(t, ref, m)
		for p := m.Cost; p != nil; {
			checkPrice(t, ref, p)
			if p.Above == nil {
				break
			}
			p = &p.Above.Price
		}
	}
	if p.Default != "" && !ids[p.Default] {
		t.Errorf("%s begins with %s, which it does not have", p.Name, p.Default)
	}
	if p.Default == "" && len(models) > 0 {
		t.Errorf("%s has models, but none to begin with", p.Name)
	}
}

func isBase(s string, local bool) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || local && u.Scheme == "http") && !strings.HasSuffix(s, "/")
}

func checkLevels(t *testing.T, ref string, m *llm.Model) {
	t.Helper()
	if !m.Reasoning && m.Levels != nil {
		t.Errorf("%s does not reason, but offers %q", ref, m.Levels)
	}
	last := -1
	for _, level := range m.Levels {
		at := slices.Index(llm.ThinkingLevels(), level)
		if at <= last {
			t.Errorf("%s offers %q, which are unknown or out of order", ref, m.Levels)
		}
		last = at
	}
}

func checkPrice(t *testing.T, ref string, p *llm.Price) {
	t.Helper()
	if p == nil || plain(*p) == (llm.Price{}) {
		return
	}
	if p.Input <= 0 || p.Input > 500 || p.Output <= 0 || p.Output > 1000 {
		t.Errorf("%s costs %v", ref, *p)
	}
	if p.CacheRead != -1 && (p.CacheRead <= 0 || p.CacheRead > p.Input) {
		t.Errorf("%s: reading the cache costs %v, input %v", ref, p.CacheRead, p.Input)
	}
	if p.CacheWrite != -1 && (p.CacheWrite <= p.Input || p.CacheWrite > 2*p.Input) {
		t.Errorf("%s: writing the cache costs %v, input %v", ref, p.CacheWrite, p.Input)
	}
}

func TestProvidersAreFoundByTheirOtherNames(t *testing.T) {
	for alias, name := range map[string]string{
		"gemini": "google", "vertexai": "google-vertex", "vercel": "vercel-ai-gateway", "opencode-zen": "opencode",
		"azure": "azure-openai-responses", "minimax-china": "minimax-cn", "anthropic": "anthropic",
	} {
		p, ok := catalogue.Find(alias)
		if !ok || p.Name != name {
			t.Errorf("%s is %q, want %q", alias, p.Name, name)
		}
		if len(catalogue.Models(alias)) == 0 {
			t.Errorf("%s has no models", alias)
		}
	}
}

func TestUnknownNamesHaveNothing(t *testing.T) {
	for _, name := range []string{"", "nobody", "anthropic\n", "\n", "= ", "bedrock"} {
		if p, ok := catalogue.Find(name); ok {
			t.Errorf("%q is %+v", name, p)
		}
		if models := catalogue.Models(name); models != nil {
			t.Errorf("%q has %d models", name, len(models))
		}
	}
}

func TestLocalServersAreLastAndHaveNoModels(t *testing.T) {
	local := false
	for _, p := range catalogue.Providers() {
		if local && !p.Local {
			t.Errorf("%s comes after a local server", p.Name)
		}
		if local = p.Local; local && (len(catalogue.Models(p.Name)) > 0 || !strings.HasPrefix(p.BaseURL, "http://127.0.0.1:")) {
			t.Errorf("%s is at %s with models of its own", p.Name, p.BaseURL)
		}
	}
	if !local {
		t.Error("there is no local server")
	}
}

func TestWhoGetsTheModelsMayChangeThem(t *testing.T) {
	before := catalogue.Models("anthropic")[0]
	before.Levels[0], before.Input[0], before.Cost.Input, before.ID = "x", "x", 7, "x"
	if after := catalogue.Models("anthropic")[0]; after.Levels[0] == "x" || after.Input[0] == "x" || after.Cost.Input == 7 || after.ID == "x" {
		t.Errorf("another caller sees the change: %+v", *after)
	}
}

func BenchmarkProviders(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		catalogue.Providers()
	}
}

func BenchmarkFind(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		catalogue.Find("vllm")
	}
}

func BenchmarkModels(b *testing.B) {
	for _, name := range []string{"anthropic", "openrouter", "aihubmix"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				catalogue.Models(name)
			}
		})
	}
}

func BenchmarkModelsOfAll(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range catalogue.Providers() {
			catalogue.Models(p.Name)
		}
	}
}
