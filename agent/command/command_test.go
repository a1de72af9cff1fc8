package command

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
)

func named(name, hook string, aliases ...string) Command {
	return Command{Name: name, Hook: hook, Aliases: aliases, Help: "does " + name,
		Run: func(_ context.Context, args string) (Outcome, error) {
			return Outcome{Status: hook + name + "(" + args + ")"}, nil
		}}
}

func TestLineRunsTheCommandItNames(t *testing.T) {
	set := NewSet([]Command{named("new", "", "clear")}, func() []Command {
		return []Command{named("pop", "h:"), named("new", "h:")}
	})
	for _, c := range []struct{ line, want string }{
		{"/new", "new()"},
		{"/clear", "new()"},
		{"  /pop  3  \"two words\" ", `h:pop(3  "two words")`},
		{"/pop\nline two", "h:pop(line two)"},
		{"/new x", "new(x)"}, // the hook's command of that name is not reached
	} {
		out, err := set.Run(t.Context(), c.line)
		if err != nil || out.Status != c.want {
			t.Errorf("%q ran %q, %v; want %q", c.line, out.Status, err, c.want)
		}
	}
}

func TestCommandsOfHooksAreAskedForEachTime(t *testing.T) {
	hooks := []Command{named("pop", "h")}
	set := NewSet(nil, func() []Command { return hooks })
	if _, ok := set.Lookup("pop"); !ok {
		t.Error("pop is not known")
	}
	hooks = nil
	if _, ok := set.Lookup("pop"); ok {
		t.Error("pop is still known after its hook is gone")
	}
}

func TestUnknownCommandSuggestsTheNearest(t *testing.T) {
	set := NewSet([]Command{named("thinking", ""), named("model", ""), named("new", "", "clear")}, nil)
	for _, c := range []struct{ name, nearest string }{
		{"hlep", "help"}, {"modle", "model"}, {"thi", "thinking"}, {"claer", "clear"}, {"usr/bin/env", ""}, {"xyz", ""}, {"", ""},
	} {
		_, err := set.Run(t.Context(), "/"+c.name+" args")
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != c.name || unknown.Nearest != c.nearest {
			t.Errorf("/%s: %#v; want nearest %q", c.name, err, c.nearest)
		}
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abcd", 1}, {"abc", "xbc", 1}, {"kitten", "sitting", 3}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// picker answers a Select with one option.
type picker struct {
	agent.UI
	choice  string
	options []string
}

func (p *picker) HasUI() bool { return p != nil }

func (p *picker) Select(_ context.Context, _ string, options []string, _ agent.DialogOptions) (string, bool, error) {
	p.options = options
	return p.choice, p.choice != "", nil
}

func newAgent(t *testing.T) *agent.Agent {
	t.Helper()
	one, two := &agent.Model{Provider: "p", ID: "one", API: "x"}, &agent.Model{Provider: "p", ID: "two", API: "x"}
	models := agent.NewModels(nil)
	models.Register(agent.ProviderSpec{Name: "p", Models: []*agent.Model{one, two}})
	models.Register(agent.ProviderSpec{Name: "q", HasKey: func() bool { return false },
		Models: []*agent.Model{{Provider: "q", ID: "three", API: "x"}}})
	open := func() *session.Session { return session.New(session.Options{}) }
	return agent.New(agent.Options{Session: open(), Models: models, Model: one, Thinking: "low",
		NewSession: func(string) (*session.Session, error) { return open(), nil }})
}

func TestEachCommandSaysWhatItDid(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"/model", "* p/one\n  p/two"},
		{"/model two", "model: p/two:low"},
		{"/model p/two:high", "model: p/two:high"},
		{"/model three", "model: q/three:low\nno key for q yet: set api_key of [providers.q] in config.toml, or its environment variable"},
		{"/thinking", "thinking: off minimal [low] medium high xhigh max"},
		{"/thinking max", "thinking: max"},
		{"/tools", "no tools are active"},
	} {
		a := newAgent(t)
		out, err := NewSet(Core(a, nil), nil).Run(t.Context(), c.line)
		if err != nil || out.Status != c.want {
			t.Errorf("%s said %q, %v; want %q", c.line, out.Status, err, c.want)
		}
	}
}

func TestModelIsPickedWhereAPersonCanBeAsked(t *testing.T) {
	a, ui := newAgent(t), &picker{choice: "p/two"}
	out, err := NewSet(Core(a, ui), nil).Run(t.Context(), "/model")
	if err != nil || a.Model().ID != "two" || out.Status != "model: p/two:low" {
		t.Errorf("model %s, said %q, %v", a.Model().Ref(), out.Status, err)
	}
	if got := strings.Join(ui.options, " "); got != "p/one p/two" {
		t.Errorf("offered %q: a model without a key cannot be used", got)
	}
	ui.choice = ""
	if _, err = NewSet(Core(a, ui), nil).Run(t.Context(), "/model"); err != nil || a.Model().ID != "two" {
		t.Errorf("choosing nothing left %s, %v", a.Model().Ref(), err)
	}
}

func TestWrongArgumentsChangeNothing(t *testing.T) {
	for _, line := range []string{"/model nosuch", "/thinking much", "/new please", "/help nosuch"} {
		a := newAgent(t)
		id := a.Session().ID()
		if out, err := NewSet(Core(a, nil), nil).Run(t.Context(), line); err == nil {
			t.Errorf("%s said %q and did not fail", line, out.Status)
		}
		if a.Model().ID != "one" || a.Thinking() != "low" || a.Session().ID() != id {
			t.Errorf("%s changed something", line)
		}
	}
}

func TestNewStartsAnEmptySession(t *testing.T) {
	a := newAgent(t)
	left := a.Session().ID()
	out, err := NewSet(Core(a, nil), nil).Run(t.Context(), "/clear")
	if err != nil || a.Session().ID() == left || out.Status != "new session "+a.Session().ID() {
		t.Errorf("said %q, %v", out.Status, err)
	}
}

func TestSessionAddsUpWhatWasUsed(t *testing.T) {
	a := newAgent(t)
	usage := &session.Usage{Input: 10, Output: 5, CacheRead: 3, Cost: session.Cost{Total: 0.25}}
	for _, m := range []*session.Message{
		{Role: session.RoleUser, Content: []session.Block{session.TextBlock("hi")}},
		{Role: session.RoleAssistant, Content: []session.Block{session.TextBlock("ho")}, Usage: usage},
		{Role: session.RoleAssistant, Content: []session.Block{session.TextBlock("ho")}, Usage: usage},
	} {
		if _, err := a.Session().AppendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	out, err := NewSet(Core(a, nil), nil).Run(t.Context(), "/session")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not saved", a.Session().ID(), "entries  3 (3", "1 of you, 2 of the model", "p/one:low",
		"20 in, 10 out, 6 cache read", "$0.5000"} {
		if !strings.Contains(out.Status, want) {
			t.Errorf("no %q in\n%s", want, out.Status)
		}
	}
}

func TestArgumentsAreCompleted(t *testing.T) {
	set := NewSet(Core(newAgent(t), nil), nil)
	for _, c := range []struct{ name, prefix, want string }{
		{"thinking", "m", "minimal medium max"}, {"model", "p/", "p/one p/two"}, {"help", "th", "thinking"}, {"model", "z", ""},
	} {
		cmd, _ := set.Lookup(c.name)
		if got := strings.Join(cmd.Complete(c.prefix), " "); got != c.want {
			t.Errorf("/%s %s completes to %q, want %q", c.name, c.prefix, got, c.want)
		}
	}
}
