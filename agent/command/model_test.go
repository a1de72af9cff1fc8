package command

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
)

// run runs a line and returns what it says.
func run(t *testing.T, a *agent.Agent, ui agent.UI, line string) string {
	t.Helper()
	out, err := NewSet(Core(Options{Agent: a, UI: ui}), nil).Run(t.Context(), line)
	if err != nil {
		return "error: " + err.Error()
	}
	return out.Status
}

func TestModelIsCompletedByNameOrIDAndThenItsLevels(t *testing.T) {
	models := newAgent(t).Models()
	models.Register(llm.ProviderSpec{Name: "r", Models: llm.Listed(&llm.Model{Provider: "r", ID: "maker/qwen:8b"}),
		Open: func(id string) *llm.Model { return &llm.Model{Provider: "r", ID: id} }})
	for prefix, want := range map[string]string{
		"p/":             "p/one p/two",
		"tw":             "p/two",
		"maker":          "r/maker/qwen:8b",
		"r/maker/qwen:o": "r/maker/qwen:off",
		"r/maker/qwen:8": "r/maker/qwen:8b",
		"r/maker/qwen:":  "r/maker/qwen:off r/maker/qwen:8b",
		"p/two:":         "p/two:low p/two:medium p/two:high",
		"p/two:h":        "p/two:high",
		"q":              "", // nobody has its key
	} {
		if got := strings.Join(completeRef(models, prefix), " "); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}

func TestListOfModelsHasWhatServersSayTheyHave(t *testing.T) {
	a, asked := newAgent(t), 0
	a.Models().Register(llm.ProviderSpec{Name: "here", Discover: func(context.Context) ([]*llm.Model, error) {
		asked++
		return []*llm.Model{{Provider: "here", ID: "llama", ContextWindow: 131072, Cost: &llm.Price{}}}, nil
	}})
	if got := run(t, a, nil, "/model"); strings.Contains(got, "llama") || asked != 0 {
		t.Errorf("asked %d times for %q", asked, got)
	}
	ui := &picker{choice: "here/llama"}
	if got := run(t, a, ui, "/model"); got != "model: here/llama:off" || asked != 1 || a.Model().ContextWindow != 131072 {
		t.Errorf("said %q, asked %d times, offered %+v", got, asked, ui.choices)
	}
	if got := run(t, a, nil, "/model llama"); got != "model: here/llama:off" {
		t.Errorf("named afterwards: %q", got)
	}
}

func TestModelThatIsNotListedIsListedWhileItIsTheCurrentOne(t *testing.T) {
	a := newAgent(t)
	run(t, a, nil, "/model three")
	ui := &picker{}
	if got := run(t, a, ui, "/model"); got != "model: still q/three" || ui.choices[0].Value != "q/three" {
		t.Errorf("said %q, offered %+v", got, ui.choices)
	}
	if got := run(t, a, nil, "/model"); !strings.HasPrefix(got, "* q/three\n  p/one") {
		t.Error(got)
	}
}

func TestAModelThatItsProviderDoesNotListIsSaidToBeTakenAtItsWord(t *testing.T) {
	a := newAgent(t)
	open := func(provider string) func(string) *llm.Model {
		return func(id string) *llm.Model { return &llm.Model{Provider: provider, ID: id} }
	}
	a.Models().Register(llm.ProviderSpec{Name: "r", Models: llm.Listed(&llm.Model{Provider: "r", ID: "hello-8"}), Open: open("r")})
	a.Models().Register(llm.ProviderSpec{Name: "lists-none", Open: open("lists-none")})
	const note = " is not among the models that are known of r; it is asked for as it is written; its price is not known"
	for line, want := range map[string]string{
		"/model r/hello-8":       "model: r/hello-8:off",
		"/model r/helo-8":        "model: r/helo-8:off\nhelo-8" + note + " (did you mean r/hello-8?)",
		"/model r/brand-new":     "model: r/brand-new:off\nbrand-new" + note,
		"/model lists-none/some": "model: lists-none/some:off",
	} {
		if got := run(t, a, nil, line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestThinkingIsPickedFromWhatTheModelOffers(t *testing.T) {
	a, ui := newAgent(t), &picker{choice: "high"}
	run(t, a, nil, "/model two")
	if got := run(t, a, ui, "/thinking"); got != "thinking: high" || !slices.Equal(ui.choices, agent.Choices("low", "medium", "high")) {
		t.Errorf("said %q, offered %+v", got, ui.choices)
	}
	ui.choice = ""
	if got := run(t, a, ui, "/thinking"); got != "thinking: still high" || a.Thinking() != "high" {
		t.Errorf("choosing nothing said %q", got)
	}
	if got := run(t, a, ui, "/thinking off"); got != "thinking: off, but two always thinks: low" || a.Thinking() != "low" {
		t.Error(got)
	}
	if got := run(t, a, ui, "/thinking loud"); got != `error: unknown thinking level "loud"; p/two offers low, medium, high` {
		t.Error(got)
	}
	run(t, a, nil, "/model three")
	if got := run(t, a, ui, "/thinking"); got != "thinking: off; q/three offers nothing else" {
		t.Error(got)
	}
	completed := strings.Join(thinkingCommand(a, nil).Complete(""), " ")
	if completed != "off" {
		t.Errorf("completed to %q", completed)
	}
}

func TestKeysSayWhatBecameOfModelAndLevel(t *testing.T) {
	a := newAgent(t)
	said := func(f func(context.Context, *agent.Agent) (Outcome, error)) string {
		out, err := f(t.Context(), a)
		if err != nil {
			t.Error(err)
		}
		return out.Status
	}
	for i, want := range []string{"model: p/two:low", "model: p/one:low"} {
		next := func(ctx context.Context, a *agent.Agent) (Outcome, error) { return CycleModel(ctx, a, 1) }
		if got := said(next); got != want {
			t.Errorf("model %d: %q, want %q", i, got, want)
		}
	}
	if got := said(CycleThinking); got != "thinking: off minimal low [medium] high xhigh max" {
		t.Error(got)
	}
	a.Models().Unregister("p")
	next := func(ctx context.Context, a *agent.Agent) (Outcome, error) { return CycleModel(ctx, a, 1) }
	if got := said(next); !strings.HasPrefix(got, "model: still p/one; there are fewer than two models") || a.Model().ID != "one" {
		t.Error(got)
	}
	run(t, a, nil, "/model q/three")
	if got := said(CycleThinking); got != "thinking: off; q/three offers nothing else" {
		t.Error(got)
	}
	a.SetModel(t.Context(), &llm.Model{Provider: "q", ID: "mystery", API: "x", MayThink: true}, "set")
	if got := said(CycleThinking); got != "thinking: nobody knows whether q/mystery thinks, and nothing is said to it; /thinking off tells it not to" {
		t.Error(got)
	}
	run(t, a, nil, "/thinking off")
	if got := said(CycleThinking); got != "thinking: off; q/mystery offers nothing else" {
		t.Error(got)
	}
}
