package agent

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pi/session"
)

func TestBranchOnAUserMessageHasWhatWasBeforeIt(t *testing.T) {
	l := &log{}
	g := golden{t, l}
	r := newHarness(t, Options{Listeners: []Listener{l}}, say("a"), say("b"), say("c"))
	r.prompt("one")
	r.prompt("two")
	source := r.Session()
	file := r.file()
	l.kinds = nil
	got, err := r.Branch(t.Context(), sentTo(r)[1])
	if err != nil || got.Text != "two" {
		t.Fatalf("%+v, %v", got, err)
	}
	g.step("/branch", "session_before_branch session_shutdown session_branch session_start context")
	s := r.Session()
	if s == source || s.Header().ParentSession != source.File() || talkOf(again(r)) != "one a" {
		t.Errorf("%+v has %q", s.Header(), talkOf(s))
	}
	r.prompt("three")
	r.wantTalk("user: one", "assistant: a", "user: three", "assistant: c")
	if now, err := os.ReadFile(source.File()); err != nil || string(now) != file {
		t.Error("the session that was left has changed")
	}
}

func TestBranchOnTheFirstMessageBeginsEmpty(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	first := r.Session().Entries()[0]
	source := r.Session().File()
	if _, err := r.Navigate(t.Context(), first.ID, NavigateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Branch(t.Context(), sentTo(r)[0]); err != nil || got.Text != "one" {
		t.Fatalf("%+v, %v", got, err)
	}
	r.prompt("two")
	r.wantTalk("user: two", "assistant: b")
	if h := r.Session().Header(); h.ParentSession != source {
		t.Errorf("%+v", h)
	}
}

func TestBranchOnAnAnswerHasIt(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	id := last(r)
	r.prompt("two")
	if got, err := r.Branch(t.Context(), id); err != nil || got.Text != "" || talkOf(again(r)) != "one a" {
		t.Errorf("%+v, %v, %q", got, err, talkOf(again(r)))
	}
}

func TestBranchKeepsTheConversationIfAListenerWantsItSo(t *testing.T) {
	var asked SessionBeforeBranch
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *SessionBeforeBranch) {
		asked = *e
		e.SkipConversationRestore = true
	})}}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	source, id := r.Session(), sentTo(r)[0]
	if got, err := r.Branch(t.Context(), id); err != nil || got.Text != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if talkOf(again(r)) != "one a two b" || r.Session() == source {
		t.Errorf("it has %q", talkOf(r.Session()))
	}
	if asked.EntryID != id || source.Branch()[asked.EntryIndex].ID != id {
		t.Errorf("asked about %+v", asked)
	}
}

func TestBranchThatIsForbiddenOrCannotBeChangesNothing(t *testing.T) {
	l := &log{}
	cancel := true
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *SessionBeforeBranch) { e.Cancel = cancel }), l}}, say("a"))
	r.prompt("one")
	source, id := r.Session(), sentTo(r)[0]
	l.kinds = nil
	if _, err := r.Branch(t.Context(), id); !errors.Is(err, ErrCancelled) {
		t.Errorf("forbidden: %v", err)
	}
	cancel = false
	if _, err := r.Branch(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(), `no entry "nothing"`) {
		t.Errorf("no such entry: %v", err)
	}
	r.sessions.copySession = func(*session.Session, string) (*session.Session, error) { return nil, errors.New("no room") }
	if _, err := r.Branch(t.Context(), id); err == nil || err.Error() != "no room" {
		t.Errorf("no room: %v", err)
	}
	if got := strings.Join(l.kinds, " "); strings.Contains(got, "shutdown") || r.Session() != source || !r.IsIdle() {
		t.Errorf("events %s", got)
	}
	r.wantGoesOn()
}

func TestBranchKeepsTheModelThatIsUsed(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	id := last(r)
	two := r.Models().Find("acme", "two")
	r.SetModel(t.Context(), two, "set")
	r.prompt("two")
	if _, err := r.Branch(t.Context(), id); err != nil || r.Model() != two {
		t.Errorf("%v, model %s", err, r.Model().ID)
	}
}

func TestASessionForReadingIsBranchedIntoOneThatIsWritten(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("one")
	_ = r.Session().Close()
	s, err := session.Read(r.Session().File())
	if err != nil {
		t.Fatal(err)
	}
	r = newHarness(t, Options{Session: s}, say("b"))
	if _, err := r.Branch(t.Context(), s.Leaf()); err != nil {
		t.Fatal(err)
	}
	r.prompt("two")
	r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b")
}
