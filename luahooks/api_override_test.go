package luahooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
)

// coreProvider is a provider of the program that counts how often it is asked
// for its models.
func coreProvider(asked *int) llm.ProviderSpec {
	models := []*llm.Model{
		{Provider: "core", ID: "one", Name: "One", API: "openai-completions", BaseURL: "http://own", ContextWindow: 5, Reasoning: true,
			Levels: []string{"low", "high"}, Input: []string{"text", "image"}, Cost: &llm.Price{Input: 2}, Compat: map[string]any{"x": true}},
		{Provider: "core", ID: "two", API: "openai-completions", BaseURL: "http://own"},
	}
	return llm.ProviderSpec{Name: "core", Aliases: []string{"kernel"}, Default: "one",
		Models: func() []*llm.Model { *asked++; return models },
		Discover: func(context.Context) ([]*llm.Model, error) {
			return []*llm.Model{{Provider: "core", ID: "found", BaseURL: "http://own"}}, nil
		}}
}

func TestListOfAProviderThatAHookChangesIsAskedForWhenSomebodyLooks(t *testing.T) {
	for _, options := range []string{`base_url = "http://proxy"`, `headers = { A = "b" }, models = { "one" }`} {
		r := newRig(t, nil)
		models, asked := r.chain.opts.Models, 0
		models.Register(coreProvider(&asked))
		r.write("a.lua", `pi.provider("core", { `+options+` })`)
		r.chain.Reload(context.Background(), false)
		if asked != 0 {
			t.Errorf("%s: asked %d times at load", options, asked)
		}
		for range 3 {
			if m := models.Find("kernel", "one"); m == nil || m.ContextWindow != 5 {
				t.Errorf("%s: %+v", options, m)
			}
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times", options, asked)
		}
	}
}

func TestWhatAHookDoesNotSayOfAKnownModelStays(t *testing.T) {
	r := newRig(t, nil)
	models, asked := r.chain.opts.Models, 0
	models.Register(coreProvider(&asked))
	r.write("a.lua", `pi.provider("core", { compat = { y = "z", w = { low = "small" } }, models = { { id = "one", context_window = 9, cost = { input = 1, output = 4, cache_read = 0 } },
		{ id = "new", levels = { "max", "off", "low" } }, { id = "still", levels = { "off" } } } })`)
	r.chain.Reload(context.Background(), false)
	one, added, still := models.Find("core", "one"), models.Find("core", "new"), models.Find("core", "still")
	if one.Name != "One" || one.ContextWindow != 9 || !one.Reasoning || fmt.Sprint(one.Levels, one.Input) != "[low high] [text image]" || *one.Cost != (llm.Price{Input: 1, Output: 4, CacheWrite: 1}) {
		t.Errorf("%+v %+v", one, one.Cost)
	}
	if want := (map[string]any{"x": true, "y": "z", "w": map[string]any{"low": "small"}}); !reflect.DeepEqual(one.Compat, want) {
		t.Errorf("switches %v", one.Compat)
	}
	if added.BaseURL != "http://own" || added.Name != "new" || !added.Reasoning || fmt.Sprint(added.Levels, added.Input) != "[off low max] [text]" || added.Cost != nil || added.ContextWindow != 0 {
		t.Errorf("%+v", added)
	}
	if still.Reasoning || llm.Clamp(still, "high") != "off" {
		t.Errorf("%+v", still)
	}
	if models.Find("core", "two") != nil {
		t.Error("a model that the hook does not list is there")
	}
	if spec, _ := models.Lookup("core"); spec.Default != "one" {
		t.Errorf("the model to begin with is %q", spec.Default)
	}
}

func TestDiscoveredModelsAreReachedAsTheHookSays(t *testing.T) {
	t.Setenv("K", "x")
	var asked []Server
	r := newRig(t, nil, func(o *Options) {
		o.Server = func(s Server) llm.ProviderSpec {
			asked = append(asked, s)
			return llm.ProviderSpec{
				Open: func(id string) *llm.Model {
					return &llm.Model{ID: id, Name: id, ContextWindow: 77, BaseURL: s.BaseURL, API: s.API}
				},
				Discover: func(context.Context) ([]*llm.Model, error) {
					return []*llm.Model{{ID: "there", BaseURL: s.BaseURL}}, nil
				},
			}
		}
	})
	models := r.chain.opts.Models
	models.Register(coreProvider(new(int)))
	discovers := func(options, id, base string) {
		t.Helper()
		r.write("a.lua", `pi.provider("core", { `+options+` })`)
		r.chain.Reload(context.Background(), false)
		if problems := models.Discover(t.Context(), time.Minute); len(problems) != 0 {
			t.Error(problems)
		}
		if m := models.Find("core", id); m == nil || m.BaseURL != base || m.Provider != "core" {
			t.Errorf("%s: %+v", options, m)
		}
	}
	discovers(`headers = { A = "b" }`, "found", "http://own")
	discovers(`base_url = "http://proxy", api = "openai-completions", api_key = "$K", headers = { A = "b" }`, "there", "http://proxy")
	if want := (Server{Name: "core", API: "openai-completions", BaseURL: "http://proxy", APIKey: "env:K", Headers: map[string]string{"A": "b"}}); !reflect.DeepEqual(asked, []Server{want}) {
		t.Errorf("asked at %+v", asked)
	}
	r.write("b.lua", `pi.provider("new", { base_url = "http://new", api = "openai-completions" })`)
	r.chain.Reload(context.Background(), false)
	models.Discover(t.Context(), time.Minute)
	if m := models.Find("new", "there"); m == nil || m.Provider != "new" || m.BaseURL != "http://new" {
		t.Errorf("of a provider that only the hook has: %+v", m)
	}
	if m := models.Find("new", "any"); m == nil || m.ContextWindow != 77 || m.Provider != "new" {
		t.Errorf("a model that nobody lists: %+v", m)
	}
	r.write("a.lua", `pi.provider("core", { base_url = "http://proxy" })`)
	r.chain.Reload(context.Background(), false)
	models.Discover(t.Context(), time.Minute)
	if m := models.Find("core", "found"); m != nil {
		t.Errorf("a server that is asked no more has %+v", m)
	}
	r.write("a.lua", `pi.provider("core", { models = { "one" } })`)
	r.chain.Reload(context.Background(), false)
	models.Discover(t.Context(), time.Minute)
	if m := models.Find("core", "found"); m != nil {
		t.Errorf("beside the models that the hook lists there is %+v", m)
	}
}

func TestHookThatNeedsAKeySaysWhere(t *testing.T) {
	t.Setenv("PI_TEST_NONE", "")
	r := newRig(t, map[string]string{"keys.lua": `pi.provider("p", { api = "openai-completions", base_url = "http://h", api_key = "$PI_TEST_NONE", models = { "m" } })`})
	if got := r.chain.opts.Models.KeyMissing("p"); got != "no key for p yet: export PI_TEST_NONE, or change api_key in hook keys" {
		t.Error(got)
	}
}

func TestWrongModelsAreRaisedAtTheirLine(t *testing.T) {
	for list, want := range map[string]string{
		`{ { id = "m", levels = { "hihg" } } }`:        `unknown thinking level "hihg", did you mean "high"?; levels are off,`,
		`{ { id = "m", levels = "high" } }`:            `levels`,
		`{ { id = "" } }`:                              `model 1 has an empty id`,
		`{ "a", "" }`:                                  `model 2 has an empty id`,
		`{ "a" }, compat = { "x" }`:                    `compat`,
		`{ "a" }, compat = { x = print }`:              `compat: at .x: a function cannot be JSON`,
		`{ "a", 3 }`:                                   `model 2 must be an id or a table, not a number`,
		`{ {} }`:                                       `"id" is missing`,
		`{ { id = "m", context_windw = 3 } }`:          `did you mean "context_window"`,
		`{ { id = "m", cost = { in_put = 3 } } }`:      `did you mean "input"`,
		`{ { id = "m", cost = { input = "cheap" } } }`: `input`,
	} {
		r := newRig(t, map[string]string{"bad.lua": "\n" + `pi.provider("p", { api = "openai-completions", base_url = "http://h", models = ` + list + ` })`})
		got := strings.Join(r.host.notices(), "\n")
		if !strings.Contains(got, "bad.lua:2: provider") || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", list, got, want)
		}
	}
}

func TestModelWhoseHookGoesIsToldOnceAndStaysAtHand(t *testing.T) {
	s := newStage(t)
	was := s.agent.Model()
	s.host.forget()
	mustDo(t, os.Remove(filepath.Join(s.dir, "p.lua")))
	s.chain.Reload(context.Background(), false)
	s.chain.Reload(context.Background(), false)
	s.mustSay("the model s/m is gone with the hook that had it; /model chooses another")
	if n := strings.Count(strings.Join(s.host.notices(), "\n"), "is gone"); n != 1 || s.agent.Model() != was {
		t.Errorf("told %d times, model %s", n, s.agent.Model().Ref())
	}
	if err := s.agent.Prompt(t.Context(), agent.Prompt{Text: "hello"}); err == nil || !strings.Contains(err.Error(), `there is no provider "s" (any more)`) {
		t.Error(err)
	}
	s.write("p.lua", parrot)
	s.chain.Reload(context.Background(), false)
	mustDo(t, s.agent.Prompt(t.Context(), agent.Prompt{Text: "hello"}))
}

func TestKeyOfAProviderIsReadAsTheSettingsReadIt(t *testing.T) {
	t.Setenv("PI_TEST_KEY", "secret")
	t.Setenv("PI_TEST_NONE", "")
	for given, want := range map[string]struct {
		spec string
		has  bool
	}{
		"sk-literal":          {"sk-literal", true},
		"$PI_TEST_KEY":        {"env:PI_TEST_KEY", true},
		"env: PI_TEST_KEY":    {"env: PI_TEST_KEY", true},
		"$PI_TEST_NONE":       {"env:PI_TEST_NONE", false},
		"!pass show a key":    {"!pass show a key", true},
		"!echo $PI_TEST_NONE": {"!echo $PI_TEST_NONE", true}, // nobody knows before it was run
	} {
		var resolved []string
		r := newRig(t, map[string]string{"k.lua": `pi.provider("p", { api = "openai-completions", base_url = "http://h", api_key = [[` + given + `]], models = { "m" } })`},
			func(o *Options) {
				o.ResolveKey = func(_ context.Context, spec string) (string, error) {
					resolved = append(resolved, spec)
					return "", os.ErrNotExist
				}
			})
		models := r.chain.opts.Models
		if spec, _ := models.Lookup("p"); spec.HasKey() != want.has || len(resolved) != 0 {
			t.Errorf("%s: has a key %v, resolved %q", given, spec.HasKey(), resolved)
		}
		m := models.Find("p", "m")
		_, err := models.Key(t.Context(), m)
		var known *llm.ProviderError
		if !errors.As(err, &known) || !strings.Contains(known.NextStep, "hook k") || strings.Contains(known.Error()+known.NextStep, "sk-literal") ||
			len(resolved) != 1 || resolved[0] != want.spec || !m.NeedsKey {
			t.Errorf("%s: resolved %q, %v", given, resolved, err)
		}
	}
}
