package agent

import (
	"errors"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestUndoAndRedoGoBackAndForth(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"), say("c"), say("d"))
	r.prompt("one")
	r.prompt("two")
	r.prompt("three")
	type step struct {
		do   string
		n    int
		text string // given back
		talk string // afterwards
		err  error
	}
	for i, s := range []step{
		{"redo", 0, "", "one a two b three c", ErrNothingToRedo},
		{"undo", 1, "three", "one a two b", nil},
		{"undo", 1, "two", "one a", nil},
		{"redo", 0, "", "one a two b", nil},
		{"redo", 0, "", "one a two b three c", nil},
		{"redo", 0, "", "one a two b three c", ErrNothingToRedo},
		{"undo", 3, "one", "", nil},
		{"undo", 1, "", "", ErrNothingToUndo},
		{"redo", 0, "", "one a two b three c", nil},
		{"undo", 2, "two", "one a", nil},
		{"redo", 0, "", "one a two b three c", nil},
		{"undo", 1, "three", "one a two b", nil},
	} {
		var m Moved
		var err error
		if s.do == "undo" {
			m, err = r.Undo(t.Context(), s.n)
		} else {
			m, err = r.Redo(t.Context())
		}
		if !errors.Is(err, s.err) || m.Text != s.text || talkOf(r.Session()) != s.talk {
			t.Fatalf("step %d, %s: %v, gave back %q, left %q", i, s.do, err, m.Text, talkOf(r.Session()))
		}
		if now := again(r); talkOf(now) != s.talk || now.Leaf() != r.Session().Leaf() {
			t.Fatalf("step %d, %s: opened again it has %q", i, s.do, talkOf(now))
		}
	}
	r.prompt("four")
	if _, err := r.Redo(t.Context()); !errors.Is(err, ErrNothingToRedo) {
		t.Errorf("redo after a prompt: %v", err)
	}
	r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b", "user: four", "assistant: d")
}

func TestUndoneTurnsAreRedoneInAnotherProcess(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	for range 2 {
		if _, err := r.Undo(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		r = reopened(t, r)
	}
	if talkOf(r.Session()) != "" {
		t.Fatalf("left %q", talkOf(r.Session()))
	}
	for _, want := range []string{"one a", "one a two b"} {
		if _, err := r.Redo(t.Context()); err != nil {
			t.Fatal(err)
		}
		r = reopened(t, r)
		if got := talkOf(r.Session()); got != want {
			t.Errorf("redone: %q, want %q", got, want)
		}
	}
}

// reopened is an agent on the same session in what might be another process.
func reopened(t *testing.T, r *harness) *harness {
	t.Helper()
	if err := r.Session().Close(); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(r.Session().File(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newHarness(t, Options{Session: s})
}

func TestWhatAddsNothingDoesNotKeepFromRedo(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("one")
	if _, err := r.Undo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := r.SetSessionName(t.Context(), "name"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Session().Append("hook_own", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Redo(t.Context()); err != nil || talkOf(r.Session()) != "one a" {
		t.Errorf("%v, %q", err, talkOf(r.Session()))
	}
}

func TestUndoOfMoreThanThereIsSaysHowMuchThereIs(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	if _, err := r.Undo(t.Context(), 1); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("in an empty session: %v", err)
	}
	r.prompt("one")
	for _, n := range []int{2, 0, -1} {
		if _, err := r.Undo(t.Context(), n); err == nil || !strings.Contains(err.Error(), "not from 1 to 1") {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestUndoPassesPromptsThatAnEditHasTakenOut(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	two, answer := sentTo(r)[1], last(r)
	for _, id := range []string{two, answer} {
		if _, err := r.EditContext(t.Context(), id, nil); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := r.Undo(t.Context(), 1); err != nil || m.Text != "one" || talkOf(r.Session()) != "" {
		t.Errorf("%+v, %v, left %q", m, err, talkOf(r.Session()))
	}
	if _, err := r.Redo(t.Context()); err != nil || talkOf(r.Session()) != "one a" {
		t.Errorf("redone: %v, %q", err, talkOf(r.Session()))
	}
}

func TestUndoTellsWhatWentWithThePrompt(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	p := Prompt{Text: "look", Attachments: []message.Block{{Type: message.BlockImage, Data: "AA==", MimeType: "image/png"}}}
	if err := r.Prompt(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if m, err := r.Undo(t.Context(), 1); err != nil || m.Text != "look" || m.Attachments != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestASessionForReadingDoesNotMove(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("one")
	id := sentTo(r)[0]
	_ = r.Session().Close()
	for name, err := range map[string]error{"undo": second(r.Undo(t.Context(), 1)), "navigate": second(r.Navigate(t.Context(), id, NavigateOptions{}))} {
		if !errors.Is(err, session.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMoveThatCannotBeSavedIsMadeAndTold(t *testing.T) {
	r := newHarness(t, Options{Session: unwritable(t)}, say("a"))
	if err := r.Prompt(t.Context(), Prompt{Text: "one"}); !isSaveError(err) {
		t.Fatal(err)
	}
	if m, err := r.Undo(t.Context(), 1); !isSaveError(err) || m.Text != "one" || len(r.Session().Context()) != 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
