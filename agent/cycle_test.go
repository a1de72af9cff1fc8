package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
)

// cycleRig is an agent with models one, two and deep, which always thinks, that
// cycles through patterns; told is what its listeners hear.
func cycleRig(t *testing.T, told *[]string, patterns ...string) *rig {
	t.Helper()
	r := newRig(t, Options{Cycle: patterns, Listeners: []Listener{story(told)}}, say("hi"), say("again"))
	r.models.Register(llm.ProviderSpec{Name: "more", Models: llm.Listed(&llm.Model{Provider: "more", ID: "deep", API: "test", Reasoning: true, Levels: []string{"low", "high"}})})
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
	r.SetModel(t.Context(), &llm.Model{Provider: "more", ID: "plain", API: "test"}, "set")
	if ok, err := r.CycleThinking(t.Context()); ok || err != nil || r.ThinkingWish() != "high" {
		t.Errorf("a model that does not think: %v %v %s", ok, err, r.ThinkingWish())
	}
}
