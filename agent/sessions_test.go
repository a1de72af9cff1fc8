package agent

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pi/session"
)

// story writes down the events around a session in words.
func story(told *[]string) Listener {
	add := func(words ...string) { *told = append(*told, strings.Join(words, " ")) }
	return listener{
		KindSessionShutdown: func(_ context.Context, e Event) error { add("shutdown", e.(*SessionShutdown).Reason); return nil },
		KindSessionStart:    func(_ context.Context, e Event) error { add("start", e.(*SessionStart).Reason); return nil },
		KindModelSelect: func(_ context.Context, e Event) error {
			m := e.(*ModelSelect)
			add("model", m.Previous.ID, m.Model.ID, m.ThinkingLevel, m.Source)
			return nil
		},
		KindThinkingLevelSelect: func(_ context.Context, e Event) error {
			add("thinking", e.(*ThinkingLevelSelect).Previous, e.(*ThinkingLevelSelect).Level)
			return nil
		},
		KindContext: func(_ context.Context, e Event) error {
			if n := len(e.(*Context).Items); n > 0 {
				add("context", e.(*Context).Items[0].Message.Text())
			} else {
				add("context")
			}
			return nil
		},
	}
}

func TestNewSessionIsAnnouncedAndEmpty(t *testing.T) {
	var told []string
	r := newRig(t, Options{Listeners: []Listener{story(&told)}}, say("hi"), say("hello"))
	r.prompt("one")
	first := r.Session()
	r.SystemPrompt()
	told = nil
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"shutdown new", "start new", "context"}; !reflect.DeepEqual(told, want) {
		t.Errorf("events %q, want %q", told, want)
	}
	if r.Session() == first || len(r.Seen()) != 0 || !first.ReadOnly() {
		t.Error("the old session is still there")
	}
	r.prompt("two")
	r.wantTalk("user: two", "assistant: hello")
}

func TestSwitchedSessionGoesOnWithItsModelAndItsTalk(t *testing.T) {
	var told []string
	r := newRig(t, Options{Listeners: []Listener{story(&told)}}, say("hi"), say("hello"), say("again"))
	r.prompt("one")
	first := r.Session().File()
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	second := r.Models().Find("acme", "two")
	r.SetModel(t.Context(), second, "cycle")
	r.SetModel(t.Context(), second, "cycle") // no other model, no event
	if err := r.SetThinking(t.Context(), "low"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetThinking(t.Context(), "loud"); err == nil {
		t.Error("loud is a level")
	}
	r.prompt("two")
	told = nil
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	want := []string{"shutdown resume", "start resume", "model two one off restore", "thinking low off", "context one"}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("events %q, want %q", told, want)
	}
	r.prompt("three")
	r.wantTalk("user: one", "assistant: hi", "user: three", "assistant: again")
	told = nil
	if err := r.SwitchSession(t.Context(), first); err != nil || len(told) != 0 {
		t.Errorf("to where it is: %v, events %q", err, told)
	}
}

func TestSessionThatCannotBeOpenedLeavesTheOldOne(t *testing.T) {
	var told []string
	r := newRig(t, Options{Listeners: []Listener{story(&told)}}, say("hi"))
	r.prompt("one")
	told = nil
	r.newSession = func(string) (*session.Session, error) { return nil, errors.New("no room") }
	r.openSession = func(string) (*session.Session, error) { return nil, errors.New("no such file") }
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err == nil || err.Error() != "new session: no room" {
		t.Error(err)
	}
	if err := r.SwitchSession(t.Context(), "/nowhere"); err == nil || err.Error() != "no such file" {
		t.Error(err)
	}
	if len(told) != 0 || !r.IsIdle() {
		t.Errorf("events %q", told)
	}
	r.wantGoesOn()
}

func TestNoPromptBeginsWhileTheSessionIsReplaced(t *testing.T) {
	var r *rig
	r = newRig(t, Options{Listeners: []Listener{on(func(*SessionShutdown) {
		if err := r.Prompt(t.Context(), Prompt{Text: "now"}); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	})}})
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Error(err)
	}
}

func TestSeenIsOfTheCurrentSession(t *testing.T) {
	r := newRig(t, Options{}, say("hi"))
	r.prompt("one")
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil || len(r.Seen()) != 0 {
		t.Errorf("%v: %d messages of the old session", err, len(r.Seen()))
	}
}

func TestSessionReplacedWhileItsContextIsLookedAtIsForgotten(t *testing.T) {
	var r *rig
	first := true
	r = newRig(t, Options{}, say("hi"))
	r.prompt("one")
	r.listeners = []Listener{on(func(*Context) {
		if first {
			first = false
			if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
				t.Error(err)
			}
		}
	})}
	if old := r.Context(t.Context()); len(old) != 2 || len(r.Seen()) != 0 {
		t.Errorf("%d messages, seen %d", len(old), len(r.Seen()))
	}
}

func TestSubmittedPromptsWakeTheFrontEndAndKeepTheirOrder(t *testing.T) {
	r := newRig(t, Options{})
	r.Submit(Prompt{Text: "a"})
	r.Submit(Prompt{Text: "b", Source: "hook"})
	<-r.Submitted()
	if got := r.TakeSubmitted(); len(got) != 2 || got[0].Text != "a" || got[1].Text != "b" {
		t.Errorf("%+v", got)
	}
	if got := r.TakeSubmitted(); len(got) != 0 {
		t.Errorf("again: %+v", got)
	}
}
