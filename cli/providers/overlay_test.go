package providers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pi/agent/llm"
	"pi/agent/provider/catalogue"
	"pi/cli/keyring"
)

// core is a provider that the program has.
func core() llm.ProviderSpec {
	return llm.ProviderSpec{Name: "core", Default: "one",
		Models: llm.Listed(&llm.Model{Provider: "core", ID: "one", API: "openai-completions", BaseURL: "http://own", ContextWindow: 5}),
		Discover: func(context.Context) ([]*llm.Model, error) {
			return []*llm.Model{{Provider: "core", ID: "found", BaseURL: "http://own"}}, nil
		}}
}

func TestDiscoveredModelsAreReachedAsTheHookSays(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Authorization")+" "+r.Header.Get("A"))
		_, _ = io.WriteString(w, `{"data":[{"id":"there"}]}`)
	}))
	defer s.Close()
	ring := ringWith(t, "", map[string]string{"K": "x"})
	discover := func(below *llm.ProviderSpec, set llm.ProviderSettings) *llm.Models {
		t.Helper()
		models := llm.NewModels(nil)
		models.Register(Overlay(ring, catalogue.Models, below, set))
		if problems := models.Discover(t.Context(), time.Minute); len(problems) != 0 {
			t.Error(problems)
		}
		return models
	}
	known := core()
	if m := discover(&known, llm.ProviderSettings{Name: "core", Headers: map[string]string{"A": "b"}}).Find("core", "found"); m == nil || m.BaseURL != "http://own" || m.Headers["A"] != "b" {
		t.Errorf("%+v", m)
	}
	if m := discover(&known, llm.ProviderSettings{Name: "core", BaseURL: s.URL, API: "openai-completions", APIKey: "env:K", Headers: map[string]string{"A": "b"}}).Find("core", "there"); m == nil || m.BaseURL != s.URL || m.Provider != "core" || !m.NeedsKey {
		t.Errorf("%+v", m)
	}
	if len(asked) == 0 || asked[0] != "Bearer x b" {
		t.Errorf("asked with %q", asked)
	}
	added := discover(nil, llm.ProviderSettings{Name: "new", BaseURL: s.URL, API: "openai-completions"})
	if m := added.Find("new", "there"); m == nil || !m.MayThink || m.Provider != "new" || m.BaseURL != s.URL || m.NeedsKey {
		t.Errorf("of a provider that only the hook has: %+v", m)
	}
	if m := added.Find("new", "gpt-5.4"); m == nil || m.Provider != "new" || m.BaseURL != s.URL || m.ContextWindow == 0 {
		t.Errorf("a model that nobody lists: %+v", m)
	}
	if m := discover(&known, llm.ProviderSettings{Name: "core", BaseURL: "http://proxy"}).Find("core", "found"); m != nil {
		t.Errorf("a server that is asked no more has %+v", m)
	}
	if m := discover(&known, llm.ProviderSettings{Name: "core", Models: []llm.ModelSettings{{ID: "one"}}}).Find("core", "found"); m != nil {
		t.Errorf("beside the models that the hook lists there is %+v", m)
	}
}

func TestKeyOfAHookIsReadAsTheSettingsReadIt(t *testing.T) {
	for given, want := range map[string]struct {
		has          bool
		key, problem string
		next         string
	}{
		"sk-literal":       {has: true, key: "sk-literal"},
		"env:THERE":        {has: true, key: "secret"},
		"env: THERE":       {has: true, key: "secret"},
		"env:NONE":         {problem: "environment variable NONE is not set", next: "export NONE, or change api_key in hook k"},
		"env:BLANK":        {problem: "environment variable BLANK is not set", next: "export BLANK, or change api_key in hook k"},
		"env:sk0KeyByMist": {problem: "environment variable … is not set", next: "check api_key in hook k"},
		"!echo of-command": {has: true, key: "of-command"},
		"!exit 7":          {has: true, problem: "exit status 7", next: "check api_key in hook k"}, // nobody knows before it was run
	} {
		ring := ringWith(t, "", map[string]string{"THERE": "secret", "BLANK": " "})
		for _, below := range []*llm.ProviderSpec{nil, {Name: "core", Models: core().Models}} {
			models := llm.NewModels(nil)
			models.Register(Overlay(ring, catalogue.Models, below, llm.ProviderSettings{Name: "core", Hook: "k", API: "openai-completions", BaseURL: "http://h", APIKey: given, Models: []llm.ModelSettings{{ID: "one"}}}))
			spec, _ := models.Lookup("core")
			m := models.Find("core", "one")
			key, err := models.Key(t.Context(), m)
			if spec.HasKey() != want.has || !m.NeedsKey || key != want.key || (err == nil) != (want.problem == "") {
				t.Errorf("%s: has a key %v, %q, %v", given, spec.HasKey(), key, err)
			}
			var known *llm.ProviderError
			if err != nil && (!errors.As(err, &known) || !strings.Contains(err.Error(), want.problem) || known.NextStep != want.next || spec.KeyHint() != want.next) {
				t.Errorf("%s: %v, %+v", given, err, known)
			}
		}
	}
}

func TestARefusalOfAHooksKeyNamesTheHooksSetting(t *testing.T) {
	ring := ringWith(t, "", map[string]string{"K": "x"})
	for _, set := range []llm.ProviderSettings{
		{Name: "core", Hook: "k", APIKey: "env:K"},
		{Name: "new", Hook: "k", APIKey: "env:K", BaseURL: "http://h", API: "openai-completions"},
		{Name: "bare", Hook: "k", BaseURL: "http://h", API: "openai-completions"},
	} {
		known := core()
		below := &known
		if set.Name != "core" {
			below = nil
		}
		key, err := Overlay(ring, catalogue.Models, below, set).Key(t.Context())
		if want := `check api_key of pi.provider("` + set.Name + `") in its hook`; err != nil || ring.Advice(set.Name, key) != want {
			t.Errorf("%s: %q, %v", set.Name, ring.Advice(set.Name, key), err)
		}
	}
}

// What a hook's own server has is told by the list that is used, which may be a fetched one.
func TestAProviderOfAHookKnowsTheListThatIsUsed(t *testing.T) {
	listed := func(provider string) []*llm.Model {
		return []*llm.Model{{Provider: provider, ID: "acme-9", ContextWindow: 7777}}
	}
	spec := Overlay(ringWith(t, "", nil), listed, nil, llm.ProviderSettings{Name: "new", BaseURL: "http://h", API: "openai-responses"})
	if m := spec.Open("acme-9"); m.ContextWindow != 7777 {
		t.Errorf("it is %+v", m)
	}
}

func TestZeroThatAHookSaysCounts(t *testing.T) {
	zero := 0
	known := core()
	spec := Overlay(ringWith(t, "", nil), catalogue.Models, &known, llm.ProviderSettings{Name: "core", Models: []llm.ModelSettings{{ID: "one", ContextWindow: &zero}, {ID: "two"}}})
	models := spec.Models()
	if models[0].ContextWindow != 0 || models[1].BaseURL != "http://own" || models[1].Name != "two" || spec.Default != "one" {
		t.Errorf("%+v", models)
	}
	if known.Models()[0].ContextWindow != 5 {
		t.Error("the program's own model was changed")
	}
}

func TestAScriptNeedsNoKeyUnlessTheHookSaysSo(t *testing.T) {
	known := core()
	known.HasKey = func() bool { return false }
	script := refusing{}
	for key, needs := range map[string]bool{"": false, "k": true} {
		spec := Overlay(keyring.New(keyring.Options{AgentDir: t.TempDir()}), catalogue.Models, &known, llm.ProviderSettings{Name: "core", API: "lua", APIKey: key, Stream: script})
		if m := spec.Models()[0]; m.NeedsKey != needs || m.API != "lua" || (spec.Key != nil) != needs || spec.HasKey != nil && !spec.HasKey() || spec.Stream != script || spec.Discover != nil {
			t.Errorf("%q: %+v, %+v", key, m, spec)
		}
	}
}
