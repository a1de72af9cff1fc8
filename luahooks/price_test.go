package luahooks

import (
	"context"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
)

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

// The model is listed once before providers change, and once after; the person
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
