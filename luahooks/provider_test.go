package luahooks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

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

func TestHookThatNeedsAKeySaysWhere(t *testing.T) {
	t.Setenv("PI_TEST_NONE", "")
	r := newRig(t, map[string]string{"keys.lua": `pi.provider("p", { api = "openai-completions", base_url = "http://h", api_key = "$PI_TEST_NONE", models = { "m" } })`})
	if got := r.chain.opts.Models.KeyMissing("p"); got != "no key for p yet: export PI_TEST_NONE, or change api_key in hook keys" {
		t.Error(got)
	}
}

func TestWrongModelsAreRaisedAtTheirLine(t *testing.T) {
	for list, want := range map[string]string{
		`{ { id = "m", levels = { "hihg" } } }`:   `unknown thinking level "hihg", did you mean "high"?; levels are off,`,
		`{ { id = "m", levels = "high" } }`:       `levels`,
		`{ { id = "" } }`:                         `model 1 has an empty id`,
		`{ "a", "" }`:                             `model 2 has an empty id`,
		`{ "a" }, compat = { "x" }`:               `compat`,
		`{ "a" }, compat = { x = print }`:         `compat: at .x: a function cannot be JSON`,
		`{ "a", 3 }`:                              `model 2 must be an id or a table, not a number`,
		`{ {} }`:                                  `"id" is missing`,
		`{ { id = "m", context_windw = 3 } }`:     `did you mean "context_window"`,
		`{ { id = "m", cost = { in_put = 3 } } }`: `did you mean "input"`,
		`{ { id = "m", cost = { input = 1, above = { tokens = 5, input = 3 } } } }`: `above must be a list of tables`,
		`{ { id = "m", cost = { input = "cheap" } } }`:                              `input`,
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

func TestSettingsOfAProviderAreHandedIn(t *testing.T) {
	given := map[string]llm.ProviderSettings{}
	r := newRig(t, map[string]string{"k.lua": `
		pi.provider("literal", { api = "openai-completions", base_url = "http://h//", api_key = "sk-literal", headers = { A = "b" } })
		pi.provider("named", { api = "openai-completions", base_url = "http://h", api_key = "$PI_TEST_KEY", models = {} })
		pi.provider("env", { api = "openai-completions", base_url = "http://h", api_key = "env: PI_TEST_KEY" })
		pi.provider("command", { api = "openai-completions", base_url = "http://h", api_key = "!echo $PI_TEST_KEY" })
		pi.provider("script", { stream = function() end, compat = { a = { b = 1 } } })`},
		func(o *Options) {
			o.Overlay = func(below *llm.ProviderSpec, set llm.ProviderSettings) llm.ProviderSpec {
				if below != nil {
					t.Errorf("below %s there is %+v", set.Name, below)
				}
				given[set.Name] = set
				return llm.ProviderSpec{Name: set.Name}
			}
		})
	r.mustBeQuiet()
	server := func(name, url, key string) llm.ProviderSettings {
		return llm.ProviderSettings{Name: name, Hook: "k", API: "openai-completions", BaseURL: url, APIKey: key}
	}
	literal, named := server("literal", "http://h", "sk-literal"), server("named", "http://h", "env:PI_TEST_KEY")
	literal.Headers, named.Models = map[string]string{"A": "b"}, []llm.ModelSettings{}
	if given["script"].Stream == nil {
		t.Error("the script does not answer")
	}
	for _, want := range []llm.ProviderSettings{literal, named, server("env", "http://h", "env: PI_TEST_KEY"), server("command", "http://h", "!echo $PI_TEST_KEY"),
		{Name: "script", Hook: "k", API: "lua", Compat: map[string]any{"a": map[string]any{"b": 1.0}}, Stream: given["script"].Stream}} {
		if got := given[want.Name]; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestPriceThatNobodyKnowsIsNil(t *testing.T) {
	s := newStage(t)
	s.agent.Models().Register(llm.ProviderSpec{Name: "core", Models: llm.Listed(
		&llm.Model{Provider: "core", ID: "part", Cost: &llm.Price{Input: 2.5, Output: 0, CacheRead: -1, CacheWrite: -1}},
		&llm.Model{Provider: "core", ID: "none"})})
	s.check([]try{
		{"event", `local c = ctx.find_model("core", "part").cost; return c.input .. " " .. c.output .. " " .. tostring(c.cache_read) .. " " .. tostring(c.cache_write)`, "2.5 0 nil nil"},
		{"event", `return tostring(ctx.find_model("core", "none").cost)`, "nil"},
		{"event", `return tostring(ctx.find_model("core", "part") == ctx.find_model("core", "part"))`, "true"},
	})
}

func TestPriceThatAHookLeavesOutIsNotKnown(t *testing.T) {
	const unknown = -1
	for cost, want := range map[string]llm.Price{
		`{}`:                               {Input: unknown, Output: unknown, CacheRead: unknown, CacheWrite: unknown},
		`{ input = 3 }`:                    {Input: 3, Output: unknown, CacheRead: 3, CacheWrite: 3},
		`{ input = 0, output = 0 }`:        {},
		`{ output = 2, cache_read = 0.5 }`: {Input: unknown, Output: 2, CacheRead: 0.5, CacheWrite: unknown},
		`{ input = 1, output = 2, cache_write = 0 }`: {Input: 1, Output: 2, CacheRead: 1},
	} {
		r := newRig(t, map[string]string{"p.lua": `pi.provider("p", { api = "openai-completions", base_url = "http://h", models = { { id = "m", cost = ` + cost + ` } } })`})
		m := r.chain.opts.Models.Find("p", "m")
		if m == nil || *m.Cost != want {
			t.Errorf("%s: %+v; notices %q", cost, m, r.host.notices())
		}
	}
	r := newRig(t, map[string]string{"p.lua": `pi.provider("p", { api = "openai-completions", base_url = "http://h", models = { { id = "m", cost = { input = -1 } } } })`})
	if got := strings.Join(r.host.notices(), "\n"); !strings.Contains(got, "never below zero") {
		t.Errorf("a price below zero: %s", got)
	}
}

func TestAnswersOfAScriptCostWhatItsModelCosts(t *testing.T) {
	s := newStage(t)
	s.write("dear.lua", `pi.provider("dear", { models = { { id = "m", cost = { input = 1000, output = 2000 } } }, stream = function(_, emit)
		emit{ type = "text", text = "hi" } emit{ type = "usage", input = 100, output = 10, cache_read = 50 } end })`)
	s.chain.Reload(context.Background(), false)
	s.agent.SetModel(t.Context(), s.agent.Models().Find("dear", "m"), "set")
	before := s.agent.Totals().Cost.Total
	mustDo(t, s.agent.Prompt(t.Context(), agent.Prompt{Text: "go"}))
	if got := s.agent.Totals().Cost.Total - before; got < 0.169 || got > 0.171 {
		t.Errorf("it cost %v, want 0.17", got)
	}
}

// The model is listed once before providers change, and once after; the user
// chooses another one in between.
func TestModelThatIsChosenWhileProvidersChangeStays(t *testing.T) {
	s := newStage(t)
	models, asked := s.agent.Models(), 0
	chosen := &llm.Model{Provider: "other", ID: "two"}
	models.Register(llm.ProviderSpec{Name: "core", Models: func() []*llm.Model {
		if asked++; asked == 2 {
			s.agent.SetModel(t.Context(), chosen, "set")
		}
		return []*llm.Model{{Provider: "core", ID: "one", ContextWindow: asked}}
	}})
	s.agent.SetModel(t.Context(), &llm.Model{Provider: "core", ID: "one"}, "set")
	s.chain.providers.refresh()
	if asked != 2 || s.agent.Model() != chosen {
		t.Errorf("asked %d times, model %s", asked, s.agent.Model().Ref())
	}
}
