package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// planning offers r a mode that has one tool.
func planning(r *harness, tools ...Tool) {
	r.Start(context.Background())
	r.Modes().Offer(context.Background(), []Mode{{Name: "plan", Tools: tools, Section: "PLAN"}}, nil)
}

// modeIn is the mode in which a program would resume the session of r.
func modeIn(t *testing.T, r *harness) string {
	t.Helper()
	return New(Options{Session: again(r), Models: r.Models(), Model: r.Model(), Thinking: "off"}).Modes().Current()
}

func mustMode(t *testing.T, r *harness, name string) {
	t.Helper()
	if err := r.Modes().Select(t.Context(), name, ModeByCommand); err != nil {
		t.Fatal(err)
	}
}

func TestGoingBackAndForthLeavesTheModeAsItIs(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"), say("c"))
	planning(r)
	r.prompt("one")
	r.prompt("two")
	mustMode(t, r, "plan")
	for _, step := range []struct {
		name string
		do   func(context.Context) (Moved, error)
		talk string
	}{
		{"undo", func(ctx context.Context) (Moved, error) { return r.Undo(ctx, 1) }, "one a"},
		{"undo", func(ctx context.Context) (Moved, error) { return r.Undo(ctx, 1) }, ""},
		{"redo", r.Redo, "one a"},
		{"redo", r.Redo, "one a two b"},
	} {
		_, err := step.do(t.Context())
		if talk := talkOf(r.Session()); err != nil || talk != step.talk {
			t.Fatalf("%s: %q, %v", step.name, talk, err)
		}
		if r.Modes().Current() != "plan" || modeIn(t, r) != "plan" {
			t.Errorf("%s to %q: in mode %q, resumed in %q", step.name, step.talk, r.Modes().Current(), modeIn(t, r))
		}
	}
	mustMode(t, r, "off")
	if modeIn(t, r) != "" {
		t.Error("the end of the mode is not in the session")
	}
	r.prompt("three")
	r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b", "user: three", "assistant: c")
}

func TestAModeIsNoPlaceInTheTree(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	planning(r)
	r.prompt("one")
	leaf := r.Session().Leaf()
	mustMode(t, r, "plan")
	entries := len(r.Session().Entries())
	moved, err := r.Navigate(t.Context(), leaf, NavigateOptions{})
	if err != nil || !moved.Stayed || len(r.Session().Entries()) != entries {
		t.Errorf("it moves to where it is: %+v, %v", moved, err)
	}
}

func TestTheModeOfASessionThatIsResumedCounts(t *testing.T) {
	var told []string
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *ModeSelect) { told = append(told, e.Previous+">"+e.Name+" "+e.Source) })}}, say("a"), say("b"))
	planning(r)
	r.prompt("one")
	first := r.Session().File()
	mustMode(t, r, "plan")
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if r.Modes().Current() != "plan" {
		t.Error("a new session is in another mode")
	}
	r.prompt("two")
	if modeIn(t, r) != "plan" {
		t.Error("the new session does not say its mode")
	}
	mustMode(t, r, "")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if want := []string{">plan command", "plan> command", ">plan restore"}; r.Modes().Current() != "plan" || !slices.Equal(told, want) {
		t.Errorf("in %q, told %q", r.Modes().Current(), told)
	}
}

func TestToolsAndSectionOfAModeAreInTheRequest(t *testing.T) {
	echoed := echo("other")
	r := newHarness(t, Options{Tools: []Tool{echo("usual")}}, say("a"), use(call{"1", "usual", `{}`}), say("b"))
	planning(r, echoed)
	r.prompt("one")
	mustMode(t, r, "plan")
	r.prompt("two")
	requests := r.model.requests
	if got := requests[0]; strings.Contains(got.System, "PLAN") || len(got.Tools) != 1 || got.Tools[0].Name != "usual" {
		t.Errorf("without the mode %s %+v", got.System, got.Tools)
	}
	if got := requests[1]; !strings.HasSuffix(got.System, "\n\nPLAN") || len(got.Tools) != 1 || got.Tools[0].Name != "other" {
		t.Errorf("in the mode %s %+v", got.System, got.Tools)
	}
	if talk := r.talk(); !strings.Contains(talk, `unknown tool "usual"; available tools: other`) {
		t.Errorf("a tool that the mode does not have: %s", talk)
	}
	if b := r.Meter().PrefixBreak(); b != nil {
		t.Errorf("no hook is why: %v", b)
	}
	names := []string{}
	for _, s := range r.Meter().Breakdown().Sources[0].Parts {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, "mode") {
		t.Errorf("the sections are %q", names)
	}
}
