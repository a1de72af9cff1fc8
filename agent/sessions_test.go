package agent

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pi/session"
	"pi/session/message"
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
	r := newHarness(t, Options{Listeners: []Listener{story(&told)}}, say("hi"), say("hello"))
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
	r := newHarness(t, Options{Listeners: []Listener{story(&told)}}, say("hi"), say("hello"), say("again"))
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
	r := newHarness(t, Options{Listeners: []Listener{story(&told)}}, say("hi"))
	r.prompt("one")
	told = nil
	r.sessions.newSession = func(string) (*session.Session, error) { return nil, errors.New("no room") }
	r.sessions.openSession = func(string) (*session.Session, error) { return nil, errors.New("no such file") }
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
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*SessionShutdown) {
		if err := r.Prompt(t.Context(), Prompt{Text: "now"}); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
	})}})
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Error(err)
	}
}

func TestSeenIsOfTheCurrentSession(t *testing.T) {
	r := newHarness(t, Options{}, say("hi"))
	r.prompt("one")
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil || len(r.Seen()) != 0 {
		t.Errorf("%v: %d messages of the old session", err, len(r.Seen()))
	}
}

func TestSessionReplacedWhileItsContextIsLookedAtIsForgotten(t *testing.T) {
	var r *harness
	first := true
	r = newHarness(t, Options{}, say("hi"))
	r.prompt("one")
	r.events.all = []Listener{on(func(*Context) {
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
	r := newHarness(t, Options{})
	_ = r.Submit(context.Background(), Prompt{Text: "a"})
	_ = r.Submit(context.Background(), Prompt{Text: "b", Source: "hook"})
	<-r.Inbox().Submitted()
	if got := slices.Collect(r.Inbox().TakeSubmitted()); len(got) != 2 || got[0].Text != "a" || got[1].Text != "b" {
		t.Errorf("%+v", got)
	}
	if got := slices.Collect(r.Inbox().TakeSubmitted()); len(got) != 0 {
		t.Errorf("again: %+v", got)
	}
}

// against is a listener that cancels one of the two questions about a session.
func against(k Kind) Listener {
	return listener{k: func(_ context.Context, e Event) error {
		switch e := e.(type) {
		case *SessionBeforeSwitch:
			e.Cancel = true
		case *SessionBeforeNew:
			e.Cancel = true
		}
		return nil
	}}
}

func TestSessionThatAListenerWantsToKeepStaysAsItIs(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		do   func(*harness) error
		want string
	}{
		{"new, by the switch", KindSessionBeforeSwitch, func(r *harness) error { return r.NewSession(r.t.Context(), NewSessionOptions{}) }, "session_before_switch"},
		{"new", KindSessionBeforeNew, func(r *harness) error { return r.NewSession(r.t.Context(), NewSessionOptions{}) }, "session_before_switch session_before_new"},
		{"resume", KindSessionBeforeSwitch, func(r *harness) error { return r.SwitchSession(r.t.Context(), "/elsewhere.jsonl") }, "session_before_switch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			r := newHarness(t, Options{Listeners: []Listener{l, against(c.kind)}}, say("a"))
			r.prompt("one")
			if err := r.SendCustom(t.Context(), Prompt{Custom: custom("waits")}, DeliverNextTurn, false); err != nil {
				t.Fatal(err)
			}
			opened := func(string) (*session.Session, error) {
				t.Error("a session was opened")
				return nil, errors.New("no")
			}
			r.sessions.newSession, r.sessions.openSession = opened, opened
			current, file, seen := r.Session(), r.file(), len(r.Seen())
			l.kinds = nil
			if err := c.do(r); !errors.Is(err, ErrCancelled) {
				t.Error(err)
			}
			if r.Session() != current || r.file() != file || len(r.Seen()) != seen || !r.IsIdle() {
				t.Error("something has changed")
			}
			if got := strings.Join(l.kinds, " "); got != c.want {
				t.Errorf("events %s", got)
			}
			r.events.all = nil
			r.model.replies = append(r.model.replies, say("b"))
			r.prompt("two")
			r.wantTalk("user: one", "assistant: a", "user: two", "custom: waits", "assistant: b")
		})
	}
}

func TestEventsOfASessionSayWhereItComesFromAndGoesTo(t *testing.T) {
	var before []SessionBeforeSwitch
	var shut []SessionShutdown
	var switched []SessionSwitch
	var started []SessionStart
	var fresh []string
	r := newHarness(t, Options{Listeners: []Listener{
		on(func(e *SessionBeforeSwitch) { before = append(before, *e) }), on(func(e *SessionShutdown) { shut = append(shut, *e) }),
		on(func(e *SessionSwitch) { switched = append(switched, *e) }), on(func(e *SessionStart) { started = append(started, *e) }),
		on(func(e *SessionNew) { fresh = append(fresh, e.SessionID) })}}, say("a"))
	r.Start(t.Context())
	r.prompt("one")
	first := r.Session()
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	second := r.Session()
	if err := r.SwitchSession(t.Context(), first.File()); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []SessionBeforeSwitch{{Reason: "new"}, {Reason: "resume", TargetSessionFile: first.File()}}; !reflect.DeepEqual(before, want) {
		t.Errorf("before %+v", before)
	}
	if want := []SessionShutdown{{"new", second.File()}, {"resume", first.File()}, {Reason: "quit"}}; !reflect.DeepEqual(shut, want) {
		t.Errorf("shutdown %+v", shut)
	}
	if want := []SessionSwitch{{"new", first.File()}, {"resume", second.File()}}; !reflect.DeepEqual(switched, want) {
		t.Errorf("switch %+v", switched)
	}
	want := []SessionStart{{"startup", first.ID(), first.File(), ""}, {"new", second.ID(), second.File(), first.File()}, {"resume", first.ID(), first.File(), second.File()}}
	if !reflect.DeepEqual(started, want) || !reflect.DeepEqual(fresh, []string{second.ID()}) {
		t.Errorf("start %+v, new %v", started, fresh)
	}
}

func TestInterruptWhileListenersAreAskedChangesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := newHarness(t, Options{Listeners: []Listener{on(func(*SessionBeforeSwitch) { cancel() })}})
	current := r.Session()
	if err := r.NewSession(ctx, NewSessionOptions{}); !errors.Is(err, ErrAborted) || r.Session() != current {
		t.Error(err)
	}
}

func TestInterruptAfterThatIsTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := &log{}
	alive := listener{KindSessionStart: func(ctx context.Context, _ Event) error { return ctx.Err() }}
	r := newHarness(t, Options{Listeners: []Listener{on(func(*SessionShutdown) { cancel() }), alive, l}})
	current := r.Session()
	if err := r.NewSession(ctx, NewSessionOptions{}); err != nil || r.Session() == current || len(l.notes) != 0 {
		t.Error(err, l.notes)
	}
}

func TestListenerToTheQuestionCannotReplaceTheSessionItself(t *testing.T) {
	r := newHarness(t, Options{})
	r.Listen(on(func(*SessionBeforeSwitch) {
		if err := r.NewSession(t.Context(), NewSessionOptions{}); !errors.Is(err, ErrNotIdle) {
			t.Error(err)
		}
	}))
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Error(err)
	}
}

func TestNewSessionIsSetUpBeforeItIsCurrent(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	current := r.Session()
	setup := func(s *session.Session) error {
		if r.Session() != current {
			t.Error("it is current already")
		}
		_, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("from before")}})
		return err
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{Setup: setup}); err != nil {
		t.Fatal(err)
	}
	r.wantTalk("user: from before")
	current = r.Session()
	if err := r.NewSession(t.Context(), NewSessionOptions{Setup: func(*session.Session) error { return errors.New("no") }}); err == nil || err.Error() != "set up the new session: no" || r.Session() != current {
		t.Error(err)
	}
}

func TestShutdownIsSignalledOnceAndLetsTheRunEnd(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.Listen(on(func(*TurnStart) { r.Shutdown(); r.Shutdown() }))
	select {
	case <-r.ShutdownRequested():
		t.Error("nobody asked")
	default:
	}
	r.prompt("go")
	<-r.ShutdownRequested()
	r.wantTalk("user: go", "assistant: a")
}

func TestNameAndLabelAreKeptAndTold(t *testing.T) {
	var told []string
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *SessionInfoChanged) { told = append(told, e.Name) })}}, say("a"))
	r.prompt("one")
	id := r.Session().Leaf()
	for _, name := range []string{"first", ""} {
		if err := r.SetSessionName(t.Context(), name); err != nil || r.Session().Name() != name {
			t.Error(err)
		}
	}
	if err := r.SetLabel(t.Context(), id, "here"); err != nil || !strings.Contains(r.file(), `"targetId":"`+id+`","label":"here"`) {
		t.Error(err)
	}
	if err := r.SetLabel(t.Context(), "nothing", "here"); err == nil {
		t.Error("nothing has a label")
	}
	if !reflect.DeepEqual(told, []string{"first", ""}) {
		t.Errorf("told %q", told)
	}
}

func TestOldSessionThatCannotBeSavedIsToldAndLeftAllTheSame(t *testing.T) {
	l := &log{}
	r := newHarness(t, Options{Session: unwritable(t), Listeners: []Listener{l}}, say("a"), say("b"))
	_ = r.Prompt(t.Context(), Prompt{Text: "one"})
	old := r.Session()
	l.kinds = nil
	err := r.NewSession(t.Context(), NewSessionOptions{})
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) || r.Session() == old || !r.IsIdle() {
		t.Errorf("%v", err)
	}
	if got := strings.Join(l.kinds, " "); !strings.HasSuffix(got, "session_shutdown session_switch session_new session_start context") {
		t.Errorf("events %s", got)
	}
	r.prompt("two")
	r.wantTalk("user: two", "assistant: b")
}

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
