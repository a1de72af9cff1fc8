package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestScopeIsWhatThePatternsMean(t *testing.T) {
	m := newShelf(manyModels)
	for _, c := range []struct{ patterns, want, problems string }{
		{"openai/gpt-5:low", "openai/gpt-5:low", ""},
		{"openai/gpt-5* *flash*:high", "openai/gpt-5 openai/gpt-5-mini gemini/gemini-2.5-flash-lite:high", ""},
		{"router/*coder*", "router/qwen/qwen3-coder:free router/qwen/qwen3-coder", ""}, // a slash is a character
		{"google/*lite openai/gpt-5-min?", "gemini/gemini-2.5-flash-lite openai/gpt-5-mini", ""},
		{"*CODER:free:low", "router/qwen/qwen3-coder:free:low", ""},
		{"o3:h*", "openai/o3:high", ""},
		{"openai/gpt-5 gpt-5-mini openai/gpt-5 openai/gpt-5:low", "openai/gpt-5 openai/gpt-5-mini openai/gpt-5:low", ""},
		{"claude-opus* nothing/at-all openai/gpt-5", "openai/gpt-5", `"claude-opus*" fits no model that can be used|no such model: "nothing/at-all"`},
		{"anthropic/claude-opus-4", "", "no key for anthropic yet"},
		{"[ openai/gpt-5", "openai/gpt-5", `"[" is no pattern`},
		{"gpt-5-mini:loud", "", "no thinking level"},
		{"mini", "", "may be any of"},
	} {
		choices, problems := m.Scope(strings.Fields(c.patterns))
		var got []string
		for _, choice := range choices {
			got = append(got, strings.TrimSuffix(choice.Model.Ref()+":"+choice.Level, ":"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.patterns, got, c.want)
		}
		wanted := strings.FieldsFunc(c.problems, func(r rune) bool { return r == '|' })
		if len(problems) != len(wanted) {
			t.Errorf("%s: problems %v, want %q", c.patterns, problems, wanted)
			continue
		}
		for i, want := range wanted {
			if !strings.Contains(problems[i].Error(), want) {
				t.Errorf("%s: problem %v, want %q", c.patterns, problems[i], want)
			}
		}
	}
}

func TestNoPatternsMeanWhatCanBeUsedAndDoesNotStandAside(t *testing.T) {
	m := newShelf("a key x y\n b z\n c key w")
	m.Register(ProviderSpec{Name: "aside", Aside: true, Models: Listed(&Model{Provider: "aside", ID: "v"})})
	choices, problems := m.Scope(nil)
	var got []string
	for _, c := range choices {
		got = append(got, c.Model.Ref()+c.Level)
	}
	if strings.Join(got, " ") != "a/x a/y c/w" || len(problems) != 0 {
		t.Errorf("%q %v", got, problems)
	}
}

// cycleRig is an agent with models one, two and deep, which always thinks, that
// cycles through patterns; told is what its listeners hear.
func cycleRig(t *testing.T, told *[]string, patterns ...string) *rig {
	t.Helper()
	r := newRig(t, Options{Cycle: patterns, Listeners: []Listener{story(told)}}, say("hi"), say("again"))
	r.models.Register(ProviderSpec{Name: "more", Models: Listed(&Model{Provider: "more", ID: "deep", API: "test", Reasoning: true, Levels: []string{"low", "high"}})})
	return r
}

func TestCyclingGoesRoundAndIsToldAsThat(t *testing.T) {
	var told []string
	r := cycleRig(t, &told)
	if err := r.SetThinking(t.Context(), "medium"); err != nil {
		t.Fatal(err)
	}
	told = nil
	for range 3 {
		if err := r.CycleModel(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"model one two medium cycle", "model two deep low cycle", "thinking medium low", "model deep one medium cycle", "thinking low medium"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestCyclingSetsTheLevelOfTheListAndKnowsWhereItIs(t *testing.T) {
	var told []string
	r := cycleRig(t, new([]string), "acme/two:low", "acme/two:high", "more/*", "gone/*")
	r.Listen(on(func(e *Notice) { told = append(told, e.Text) }))
	var went []string
	for range 4 {
		if err := r.CycleModel(t.Context()); err != nil {
			t.Fatal(err)
		}
		went = append(went, r.Model().ID+":"+r.Thinking())
	}
	if got := strings.Join(went, " "); got != "two:low two:high deep:high two:low" {
		t.Error(got)
	}
	if n := strings.Count(strings.Join(told, "\n"), "gone/*"); n != 1 {
		t.Errorf("the pattern that fits nothing is told of %d times: %q", n, told)
	}
}

func TestCyclingChangesNothingWithoutAChoiceOrAtWork(t *testing.T) {
	for _, pattern := range []string{"acme/one", "acme/two", "nothing*"} {
		var told []string
		r := cycleRig(t, &told, pattern)
		if err := r.CycleModel(t.Context()); !errors.Is(err, ErrFewModels) || r.Model().ID != "one" {
			t.Errorf("%s: %v, model %s", pattern, err, r.Model().ID)
		}
	}
	var told []string
	var err error
	r := cycleRig(t, &told)
	r.Listen(on(func(*MessageStart) { err = r.CycleModel(t.Context()) }))
	r.prompt("go")
	if !errors.Is(err, ErrNotIdle) || r.Model().ID != "one" {
		t.Errorf("at work: %v, model %s", err, r.Model().ID)
	}
}

func TestThinkingCyclesThroughWhatTheModelOffers(t *testing.T) {
	var told []string
	r := cycleRig(t, &told)
	r.SetModel(t.Context(), r.models.Find("more", "deep"), "set")
	for _, want := range []string{"high", "low", "high"} {
		if ok, err := r.CycleThinking(t.Context()); !ok || err != nil || r.Thinking() != want {
			t.Errorf("%v %v %s, want %s", ok, err, r.Thinking(), want)
		}
	}
	r.SetModel(t.Context(), &Model{Provider: "more", ID: "plain", API: "test"}, "set")
	if ok, err := r.CycleThinking(t.Context()); ok || err != nil || r.ThinkingWish() != "high" {
		t.Errorf("a model that does not think: %v %v %s", ok, err, r.ThinkingWish())
	}
}
