package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestWishForThinkingOutlivesAModelThatOffersLess(t *testing.T) {
	var told []string
	r := newHarness(t, Options{Listeners: []Listener{story(&told)}}, say("a"), say("b"), say("c"))
	if err := r.SetThinking(t.Context(), "xhigh"); err != nil {
		t.Fatal(err)
	}
	strong := r.Model()
	weak := &llm.Model{Provider: "acme", ID: "weak", API: "test", Reasoning: true, Levels: []string{"off", "low", "high"}}
	r.prompt("one")
	r.SetModel(t.Context(), weak, "set")
	r.prompt("two")
	if r.Thinking() != "high" || r.ThinkingWish() != "xhigh" {
		t.Errorf("%s of %s", r.Thinking(), r.ThinkingWish())
	}
	r.SetModel(t.Context(), strong, "set")
	r.prompt("three")
	var asked []string
	for _, q := range r.model.requests {
		asked = append(asked, q.Thinking)
	}
	if got := strings.Join(asked, " "); got != "xhigh high xhigh" {
		t.Errorf("asked for %s", got)
	}
	if got := choices(r.Session()); got != "one xhigh weak high one xhigh" {
		t.Errorf("recorded %s", got)
	}
	if got := strings.Join(told, ", "); !strings.Contains(got, "model one weak high set, thinking xhigh high") {
		t.Errorf("told %s", got)
	}
}

// choices are the models and levels that a session records, in order.
func choices(s *session.Session) string {
	var words []string
	for _, e := range s.Branch() {
		switch e.Type {
		case session.TypeModelChange:
			c, _ := session.Body[session.ModelChange](e)
			words = append(words, c.ModelID)
		case session.TypeThinkingLevelChange:
			c, _ := session.Body[session.ThinkingLevelChange](e)
			words = append(words, c.ThinkingLevel)
		}
	}
	return strings.Join(words, " ")
}

func TestChoiceIsRecordedOnceWheneverItIsMade(t *testing.T) {
	for name, c := range map[string]struct {
		tell   func(r *harness) Listener
		before bool
		want   string
	}{
		"before the first prompt": {before: true, want: "two low"},
		"at the prompt":           {want: "one off two low"},
		"while the model answers, before another turn": {func(r *harness) Listener {
			return on(func(e *MessageEnd) {
				if e.Message.StopReason == message.StopToolUse {
					r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
				}
			})
		}, false, "one off two"},
		"in the last turn":   {func(r *harness) Listener { return r.choosesAt(t, KindTurnEnd) }, false, "one off two"},
		"at the very end":    {func(r *harness) Listener { return r.choosesAt(t, KindAgentEnd) }, false, "one off two"},
		"after the very end": {func(r *harness) Listener { return r.choosesAt(t, KindAgentSettled) }, false, "one off two"},
	} {
		r := newHarness(t, Options{Tools: []Tool{echo("look")}}, use(call{"c1", "look", `{}`}), say("hi"))
		choose := func() {
			r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
			if err := r.SetThinking(t.Context(), "low"); err != nil {
				t.Fatal(err)
			}
		}
		if c.before {
			choose()
		}
		if c.tell != nil {
			r.Listen(c.tell(r))
		}
		r.prompt("go")
		if c.tell == nil && !c.before {
			choose()
		}
		s := r.Session()
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		again, err := session.Open(s.File(), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := choices(again); got != c.want {
			t.Errorf("%s: recorded %q, want %q", name, got, c.want)
		}
		if provider, id := again.Model(); provider+"/"+id != "acme/two" {
			t.Errorf("%s: left with %s/%s", name, provider, id)
		}
		_ = again.Close()
	}
}

// choosesAt chooses another model at the events of a kind.
func (r *harness) choosesAt(t *testing.T, kind Kind) Listener {
	return listener{kind: func(context.Context, Event) error {
		r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
		return nil
	}}
}

func TestSelectRefusesALevelAndChangesNothing(t *testing.T) {
	r := newHarness(t, Options{})
	two := r.Models().Find("acme", "two")
	if err := r.Select(t.Context(), two, "loud", "set"); err == nil || r.Model() == two {
		t.Errorf("%v, model %s", err, r.Model().ID)
	}
	if err := r.Select(t.Context(), two, "low", "set"); err != nil || fmt.Sprint(r.Model().ID, r.Thinking()) != "twolow" {
		t.Errorf("%v, %s %s", err, r.Model().ID, r.Thinking())
	}
}

func TestModelChosenBetweenTwoTriesIsAskedAndRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: patient}, cutBy(overloaded()), say("hi"))
		r.Listen(r.choosesAt(t, KindAutoRetryStart))
		r.prompt("go")
		if got := r.model.requests[1].Model.ID; got != "two" {
			t.Errorf("asked %s", got)
		}
		if got := choices(r.Session()); got != "one off two" {
			t.Errorf("recorded %q", got)
		}
	})
}

func TestLevelChosenBetweenTwoTriesIsRecordedBeforeTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, Options{Settings: patient}, cutBy(overloaded()), say("hi"))
		r.Listen(on(func(*AutoRetryStart) {
			if err := r.SetThinking(t.Context(), "high"); err != nil {
				t.Error(err)
			}
		}))
		r.prompt("go")
		var order []string
		for _, e := range r.Session().Branch() {
			order = append(order, string(e.Type))
		}
		if got := strings.Join(order, " "); r.model.requests[1].Thinking != "high" || got != "model_change thinking_level_change message thinking_level_change message" {
			t.Errorf("asked with %s; entries %s", r.model.requests[1].Thinking, got)
		}
	})
}

func TestModelAndLevelChosenAtTheSameTimeBothCount(t *testing.T) {
	r := newHarness(t, Options{})
	models := r.Models().All()
	for i := range 3000 {
		model, level := models[i%2], []string{"low", "high"}[i/2%2]
		var choosing sync.WaitGroup
		choosing.Go(func() { r.SetModel(t.Context(), model, "set") })
		choosing.Go(func() {
			if err := r.SetThinking(t.Context(), level); err != nil {
				t.Error(err)
			}
		})
		choosing.Wait()
		if r.Model() != model || r.ThinkingWish() != level {
			t.Fatalf("%s %s, want %s %s", r.Model().ID, r.ThinkingWish(), model.ID, level)
		}
	}
}

func TestAChoiceIsRecordedAtRestOrByTheRun(t *testing.T) {
	one, two := &llm.Model{Provider: "acme", ID: "one", Reasoning: true, Levels: []string{"low"}}, &llm.Model{Provider: "acme", ID: "two"}
	var told []string
	is := unsaved(t, "hello")
	idle := false
	c := &choice{events: listening(story(&told)), conversation: &conversation{session: is}, idle: func() bool { return idle }}
	c.restore(selection{one, "high"})
	if c.isUnrecorded() || c.model() != one || c.thinking() != "low" || c.chosen().wish != "high" {
		t.Errorf("%+v", c.chosen())
	}
	if err := c.set(t.Context(), two, "", "set"); err != nil {
		t.Error(err)
	}
	if now := c.chosen(); now.model != two || now.wish != "high" || !c.isUnrecorded() || is.ThinkingLevel() != "" {
		t.Errorf("while a run works: %+v", now)
	}
	if err := c.record(); err != nil || c.isUnrecorded() {
		t.Error(err)
	}
	if provider, id := is.Model(); provider != "acme" || id != "two" || is.ThinkingLevel() != "off" {
		t.Errorf("recorded %s/%s %s", provider, id, is.ThinkingLevel())
	}
	idle = true
	if err := c.set(t.Context(), one, "low", "set"); err != nil || is.ThinkingLevel() != "low" || c.isUnrecorded() {
		t.Errorf("at rest: %v, recorded %s", err, is.ThinkingLevel())
	}
	if c.replace(two, nil); c.model() != one {
		t.Error("a model that was left is replaced")
	}
	want := []string{"model one two off set", "thinking low off", "model two one low set", "thinking off low"}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// cycleRig is an agent with models one, two and deep, which always thinks, that
// cycles through patterns; told is what its listeners hear.
func cycleRig(t *testing.T, told *[]string, patterns ...string) *harness {
	t.Helper()
	r := newHarness(t, Options{Cycle: patterns, Listeners: []Listener{story(told)}}, say("hi"), say("again"))
	r.Models().Register(llm.ProviderSpec{Name: "more", Models: llm.Listed(&llm.Model{Provider: "more", ID: "deep", API: "test", Reasoning: true, Levels: []string{"low", "high"}})})
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
		if err := r.CycleModel(t.Context(), 1); err != nil {
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
		if err := r.CycleModel(t.Context(), 1); err != nil {
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
		if err := r.CycleModel(t.Context(), 1); !errors.Is(err, ErrFewModels) || r.Model().ID != "one" {
			t.Errorf("%s: %v, model %s", pattern, err, r.Model().ID)
		}
	}
	var told []string
	var err error
	r := cycleRig(t, &told)
	r.Listen(on(func(*MessageStart) { err = r.CycleModel(t.Context(), 1) }))
	r.prompt("go")
	if !errors.Is(err, ErrNotIdle) || r.Model().ID != "one" {
		t.Errorf("at work: %v, model %s", err, r.Model().ID)
	}
}

func TestThinkingCyclesThroughWhatTheModelOffers(t *testing.T) {
	var told []string
	r := cycleRig(t, &told)
	r.SetModel(t.Context(), r.Models().Find("more", "deep"), "set")
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

func TestOffIsSaidOfAModelThatNobodyKnowsOnlyIfTheUserSaidIt(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"), say("c"), say("d"), say("e"), say("f"))
	mystery := &llm.Model{Provider: "acme", ID: "mystery", API: "test", MayThink: true}
	r.wish("medium")
	r.SetModel(t.Context(), mystery, "set")
	r.prompt("one") // what becomes of a wish is nobody's word
	r.wish("off")
	r.prompt("two")
	if _, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context()}); err != nil { // nor is what is usual outside
		t.Error(err)
	}
	for _, m := range []*llm.Model{{ID: "talker"}, {ID: "thinker", Reasoning: true}, {ID: "listed", Reasoning: true, Levels: []string{"off", "low"}}} {
		m.Provider, m.API = "acme", "test"
		r.SetModel(t.Context(), m, "set")
		r.prompt(m.ID)
	}
	var said []bool
	for _, q := range r.model.requests {
		said = append(said, q.Off)
	}
	if want := []bool{false, true, false, false, true, false}; !slices.Equal(said, want) {
		t.Errorf("said %v, want %v", said, want)
	}
}

func TestAModelThatThoughtIsNotSaidNotTo(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), thinks("s1"))
	talker := &llm.Model{Provider: "acme", ID: "talker", API: "test", MayThink: true}
	r.SetModel(t.Context(), talker, "set")
	r.wish("low")
	const unknown = "thinking: low, but talker is not known to think: off"
	r.prompt("one")
	if got := r.ThinkingNote(); got != unknown {
		t.Errorf("before: %q", got)
	}
	r.prompt("two")
	if got := r.ThinkingNote(); !strings.HasPrefix(got, "thinking: low, but which levels talker offers is not known: it thinks as it likes (with reasoning = true in a section [[providers.acme.models]]") {
		t.Errorf("after a thought: %q", got)
	}
	r.SetModel(t.Context(), &llm.Model{Provider: "acme", ID: "other", API: "test"}, "set")
	if got := r.ThinkingNote(); got != "thinking: low, but other is not known to think: off" {
		t.Errorf("another model: %q", got)
	}
}
