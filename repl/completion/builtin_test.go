package completion

import (
	"iter"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/session"
	"pi/session/folder"
)

// builtIn are the program's own commands, with models and sessions to choose from.
func builtIn(t *testing.T) []command.Command {
	t.Helper()
	one, two := &llm.Model{Provider: "p", ID: "one", API: "x", Reasoning: true}, &llm.Model{Provider: "p", ID: "two-large", API: "x"}
	models := llm.NewModels(nil)
	models.Register(llm.ProviderSpec{Name: "p", Models: llm.Listed(one, two)})
	a := agent.New(agent.Options{Session: session.New(session.Options{}), Models: models, Model: one, Thinking: "low"})
	sessions := &command.Sessions{
		IDs:  func(string) []string { return []string{"0a1b2c3d", "ffee0011"} },
		Scan: func(bool) iter.Seq2[folder.Info, error] { return func(func(folder.Info, error) bool) {} },
	}
	return command.NewSet(command.Core(command.Options{Agent: a, UI: agent.NoUI{}, Sessions: sessions}), nil).All()
}

func TestTabLosesNothingForAnyBuiltInCommand(t *testing.T) {
	all := builtIn(t)
	c := &Completer{Commands: func() []command.Command { return all }}
	check := func(text string) (items int) {
		r := c.Complete(t.Context(), text, len(text))
		for _, item := range r.Items {
			if applied, _ := r.Apply(text, item); !hasInOrder(applied, text) {
				t.Errorf("%q becomes %q", text, applied)
			}
		}
		return len(r.Items)
	}
	for _, known := range all {
		name := "/" + known.Name
		for end := range len(name) {
			if check(name[:end+1]) == 0 || check(strings.ToUpper(name[:end+1])) == 0 {
				t.Errorf("%q completes to nothing", name[:end+1])
			}
		}
		if known.Complete == nil {
			continue
		}
		for _, candidate := range known.Complete("") {
			for i := range len(candidate) {
				begin, middle, scattered := candidate[:i+1], candidate[i:], candidate[i:i+1]+candidate[len(candidate)-1:]
				for _, typed := range []string{begin, middle, strings.ToUpper(middle), scattered, "zq" + begin} {
					found := check(name + " " + typed)
					if found == 0 && (typed == begin || typed == middle) {
						t.Errorf("%s %q completes to nothing, and there is %q", name, typed, candidate)
					}
				}
			}
		}
	}
}
