//go:build unix

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pi/agent"
)

func (p *audience) SetPlan(items []agent.PlanItem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = items
}

func (p *audience) Custom(c agent.Component, _ agent.SurfaceOptions) (agent.Surface, error) {
	p.closed = make(chan struct{})
	p.custom <- c
	return p, nil
}

func (p *audience) RequestRender() {
	select {
	case p.again <- struct{}{}:
	default:
	}
}

func (p *audience) Done() <-chan struct{} { return p.closed }

func (p *audience) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
}

func TestSnakeIsPlayedUntilItBites(t *testing.T) {
	t.Parallel()
	s := newStage(t, "snake.lua")
	s.audience.custom, s.audience.again = make(chan agent.Component, 1), make(chan struct{}, 1)
	ended := make(chan string)
	go func() {
		out, err := s.chain.Commands()[0].Run(context.Background(), "")
		if err != nil {
			out.Status = err.Error()
		}
		ended <- out.Status
	}()
	game := <-s.audience.custom
	shown := func() string { return strings.Join(game.Render(60, 15).Lines, "\n") }
	if first := shown(); strings.Count(first, "@@") != 1 || strings.Count(first, "oo") != 2 || strings.Count(first, "()") != 1 || !strings.Contains(first, "0 points") {
		t.Errorf("it begins with\n%s", first)
	}
	for _, key := range []string{"up", "p"} {
		if !game.HandleInput(agent.Key{Name: key}) {
			t.Errorf("%s is left to the line", key)
		}
	}
	stopped := shown()
	if !strings.Contains(stopped, "p goes on") {
		t.Errorf("stopped it shows\n%s", stopped)
	}
	game.HandleInput(agent.Key{Name: "p"})
	for !strings.Contains(shown(), "over: Enter plays again") { // it meets the wall
		<-s.audience.again
	}
	game.HandleInput(agent.Key{Name: "q"})
	if got := <-ended; !strings.HasPrefix(got, "snake: ") || !strings.HasSuffix(got, " points") {
		t.Errorf("it says %q", got)
	}
	s.audience.present = false
	if out, err := s.chain.Commands()[0].Run(context.Background(), ""); err != nil || out.Status != "snake needs a terminal" {
		t.Errorf("without a terminal: %q, %v", out.Status, err)
	}
}

func TestWordsForTodosAreCompletedAndExplained(t *testing.T) {
	t.Parallel()
	s := newStage(t, "todo_words.lua")
	s.git("init", "-q")
	s.write("a.go", "package a\n\n\t// TODO: retry\n// done\n")
	s.git("add", "a.go")
	s.handle(&agent.SessionStart{Reason: "new", SessionID: "s"})
	found, err := s.chain.Completions()[0].Complete(context.Background(), "re")
	if want := []agent.Choice{{Value: "#a.go:3", Label: "#a.go:3", Description: "// TODO: retry"}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("offered %+v, %v, told %q", found, err, s.audience.told)
	}
	for prompt, want := range map[string]string{"do #a.go:3 now": "do #a.go:3 now\n\na.go:3: // TODO: retry", "see #7 and #b.go:1": "see #7 and #b.go:1"} {
		e := &agent.Input{Text: prompt}
		if s.handle(e); e.Text != want {
			t.Errorf("%q is sent as %q", prompt, e.Text)
		}
	}
}

func TestTheTodoListIsThePlan(t *testing.T) {
	t.Parallel()
	s := newStage(t, "todo.lua")
	plan := func(input string) string {
		result := s.agent.CallTool(context.Background(), "todo", []byte(input))
		if result.IsError {
			t.Fatalf("the tool says %+v", result)
		}
		s.audience.mu.Lock()
		defer s.audience.mu.Unlock()
		var steps []string
		for _, x := range s.audience.plan {
			steps = append(steps, x.Content+" "+x.Status)
		}
		return strings.Join(steps, ", ")
	}
	if got := plan(`{"items":[{"text":"one","done":true},{"text":"two","done":false},{"text":"three","done":false}]}`); got != "one completed, two in_progress, three pending" {
		t.Errorf("the plan is %q", got)
	}
	if got := plan(`{"items":[{"text":"one","done":true}]}`); got != "one completed" {
		t.Errorf("when all is done the plan is %q", got)
	}
	if got := plan(`{"items":[]}`); got != "" {
		t.Errorf("after its end the plan is %q", got)
	}
}
