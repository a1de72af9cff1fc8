package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pi/session"
	"pi/session/message"
)

// Whenever the interrupt comes: the run ends with ErrAborted, what is stored is
// in pairs, and the next prompt works.
func TestInterruptAtAnyMomentLeavesASessionThatGoesOn(t *testing.T) {
	calls := use(call{"a", "look", `{"n":1}`}, call{"b", "look", `{"n":2}`})
	prompt := "user: go"
	answer := `assistant a=look{"n":1} b=look{"n":2}`
	aborted := "assistant [aborted: interrupted]"
	for _, kind := range []struct {
		at     Kind
		before bool // anything is sent
		want   []string
	}{
		{KindInput, true, nil},
		{KindBeforeAgentStart, true, []string{prompt, aborted}},
		{KindAgentStart, true, []string{prompt, aborted}},
		{KindTurnStart, true, []string{prompt, aborted}},
		{KindContext, true, []string{prompt, aborted}},
		{KindMessageStart, false, []string{prompt, aborted}},
		{KindMessageUpdate, false, []string{prompt, aborted}},
		{KindMessageEnd, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolExecutionStart, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolCall, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolResult, false, []string{prompt, answer, "toolResult a error: interrupted; what the tool had to say is not kept", "toolResult b error: interrupted; what the tool had to say is not kept"}},
		{KindToolExecutionEnd, false, []string{prompt, answer, "toolResult a: ok", "toolResult b: ok"}},
		{KindTurnEnd, false, []string{prompt, answer, "toolResult a: ok", "toolResult b: ok"}},
	} {
		t.Run(kind.at.String(), func(t *testing.T) {
			var r *harness
			once := true
			var both sync.WaitGroup // nobody is done before both run
			both.Add(2)
			look := tool("look", func(context.Context) (Result, error) {
				both.Done()
				both.Wait()
				return TextResult("ok"), nil
			})
			stopper := listener{kind.at: func(context.Context, Event) error {
				if once {
					once = false
					r.Abort()
				}
				return nil
			}}
			r = newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{stopper}}, calls, say("never"))
			if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
				t.Errorf("error %v", err)
			}
			r.wantTalk(kind.want...)
			if sent := len(r.model.requests); kind.before && sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
			r.wantGoesOn()
		})
	}
}

func TestInterruptInMidStreamKeepsThePartialText(t *testing.T) {
	started := make(chan struct{})
	r := newHarness(t, Options{Listeners: []Listener{listener{KindMessageEnd: func(ctx context.Context, _ Event) error { return ctx.Err() }},
		on(func(e *Notice) { t.Errorf("the end of the message was not heard: %s", e.Text) })}}, hang(started))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
		t.Errorf("error %v", err)
	}
	r.wantTalk("user: go", "assistant: half an ans [aborted: interrupted]")
	r.wantGoesOn()
	for _, m := range r.model.requests[1].Messages {
		if strings.Contains(m.Text(), "half") {
			t.Error("the aborted answer is sent again")
		}
	}
}

func TestInterruptStopsTheToolsAndKeepsWhatTheySaid(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		var r *harness
		work := tool("work", func(ctx context.Context) (Result, error) {
			r.Abort()
			<-ctx.Done()
			return TextResult("one line, "), ctx.Err()
		})
		work.spec.Sequential = sequential
		r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", `{}`}, call{"b", "rm", `{}`}))
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
		r.wantTalk("user: go", "assistant a=work{} b=rm{}", "toolResult a error: one line, interrupted", `toolResult b error: unknown tool "rm"; available tools: work`)
		r.wantGoesOn()
	}
}

func TestNobodyIsAskedAboutAResultAfterAnInterrupt(t *testing.T) {
	var r *harness
	work := tool("work", func(context.Context) (Result, error) { r.Abort(); return TextResult("a secret"), nil })
	r = newHarness(t, Options{Tools: []Tool{work}, Listeners: []Listener{on(func(*ToolResult) { t.Error("asked") })}}, use(call{"a", "work", `{}`}))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	r.wantTalk("user: go", "assistant a=work{}", "toolResult a error: interrupted; what the tool had to say is not kept")
}

func TestSequentialCallsAfterAnInterruptDoNotRun(t *testing.T) {
	var r *harness
	ran := 0
	work := tool("work", func(ctx context.Context) (Result, error) {
		ran++
		r.Abort()
		return TextResult("done"), nil
	})
	work.spec.Sequential = true
	r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", `{}`}, call{"b", "work", `{"n":1}`}))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	if ran != 1 {
		t.Errorf("%d ran", ran)
	}
	r.wantTalk("user: go", `assistant a=work{} b=work{"n":1}`, "toolResult a: done", "toolResult b error: interrupted")
}

func TestWhatWaitedAtAnInterruptCanBeTakenBack(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*MessageUpdate) {
		for _, m := range []string{"one", "two"} {
			_, _ = r.Enqueue(t.Context(), Prompt{Text: m}, Steer)
		}
		_, _ = r.Enqueue(t.Context(), Prompt{Text: "later"}, FollowUp)
		r.Abort()
	})}}, say("hm"))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	if got := r.Inbox().TakeQueued(); !reflect.DeepEqual(got, []string{"one", "two", "later"}) {
		t.Errorf("taken %q", got)
	}
	r.events.all = nil
	r.wantGoesOn()
}

func TestProviderIsNotCalledOnceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newHarness(t, Options{}, say("never"))
	if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) || len(r.model.requests) != 0 {
		t.Errorf("%v after %d requests", err, len(r.model.requests))
	}
}

func TestCloseInterruptsAndWaits(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	l := &log{}
	r := newHarness(t, Options{Listeners: []Listener{l}}, hang(started))
	go func() { ended <- r.Prompt(context.Background(), Prompt{Text: "go"}) }()
	<-started
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrAborted) {
		t.Errorf("prompt: %v", err)
	}
	if got := strings.Join(l.kinds[len(l.kinds)-2:], " "); got != "agent_settled session_shutdown" {
		t.Errorf("last events: %s", got)
	}
	if s, err := session.Read(r.Session().File()); err != nil || len(s.Branch()) == 0 {
		t.Errorf("the file: %v", err)
	}
}

func TestWaitIdleHonoursItsContext(t *testing.T) {
	var r *harness
	work := &fakeTool{echo("work").spec, func(context.Context, json.RawMessage, Update) (Result, error) {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.WaitIdle(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("while it works: %v", err)
		}
		return Result{}, nil
	}}
	r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", ""}), say("done"))
	r.prompt("go")
	if err := r.WaitIdle(t.Context()); err != nil {
		t.Errorf("idle: %v", err)
	}
}

// changes are the ways to another session, also while a prompt runs. other is the file of
// a session that is there.
var changes = map[string]func(r *harness, ctx context.Context, other string) error{
	"new": func(r *harness, ctx context.Context, _ string) error {
		return r.Interrupting().NewSession(ctx, NewSessionOptions{})
	},
	"switch": func(r *harness, ctx context.Context, other string) error {
		return r.Interrupting().SwitchWith(ctx, other, nil)
	},
	"branch": func(r *harness, ctx context.Context, _ string) error {
		_, err := r.Interrupting().Branch(ctx, r.Session().Branch()[0].ID)
		return err
	},
	"clone": func(r *harness, ctx context.Context, _ string) error { return r.Interrupting().Clone(ctx) },
}

// otherSession is the file of a session with one message.
func otherSession(t *testing.T) string {
	t.Helper()
	s := session.New(session.Options{Dir: t.TempDir(), Cwd: "/p", Now: testTime})
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("elsewhere")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.File()
}

// works begins a prompt that hangs in the middle of its answer. wait returns how it ended.
func (r *harness) works(started <-chan struct{}) (wait func() error) {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- r.Prompt(context.Background(), Prompt{Text: "go"}) }()
	<-started
	return func() error { return <-ended }
}

func TestASessionIsReplacedWhileAPromptRuns(t *testing.T) {
	for name, do := range changes {
		t.Run(name, func(t *testing.T) {
			l, started := &log{}, make(chan struct{})
			r := newHarness(t, Options{Listeners: []Listener{l}}, hang(started))
			r.model.replies = append(r.model.replies, say("here I am"))
			other, first := otherSession(t), r.Session()
			ended := r.works(started)
			if _, err := r.Enqueue(t.Context(), Prompt{Text: "later"}, Steer); err != nil {
				t.Fatal(err)
			}
			l.mu.Lock()
			l.kinds = nil
			l.mu.Unlock()
			if err := do(r, t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if err := ended(); !errors.Is(err, ErrAborted) {
				t.Errorf("the prompt ended with %v", err)
			}
			kinds := strings.Join(l.kinds, " ")
			asked, settled, left := strings.Index(kinds, "session_before"), strings.Index(kinds, "agent_settled"), strings.Index(kinds, "session_shutdown")
			if asked != 0 || settled < asked || left < settled {
				t.Errorf("events %s", kinds)
			}
			old := first.Context()
			if last := old[len(old)-1].Message; last.Text() != "half an ans" || last.StopReason != message.StopAborted || r.Session() == first || !first.ReadOnly() {
				t.Errorf("the old session ends with %+v", last)
			}
			if n := r.Inbox().Pending(); n != 0 || !r.IsIdle() {
				t.Errorf("%d messages wait in the new session", n)
			}
			r.prompt("there?")
			if !strings.HasSuffix(r.talk(), "user: there?\nassistant: here I am") || strings.Contains(r.talk(), "later") {
				t.Error(r.talk())
			}
		})
	}
}

func TestAListenerThatIsAgainstItLeavesTheWorkAlone(t *testing.T) {
	for name, do := range changes {
		t.Run(name, func(t *testing.T) {
			started, goOn := make(chan struct{}), make(chan struct{})
			wait := tool("wait", func(ctx context.Context) (Result, error) {
				close(started)
				select {
				case <-goOn:
					return TextResult("done"), nil
				case <-ctx.Done():
					return Result{}, ctx.Err()
				}
			})
			against := []Listener{on(func(e *SessionBeforeSwitch) { e.Cancel = true }), on(func(e *SessionBeforeBranch) { e.Cancel = true })}
			r := newHarness(t, Options{Tools: []Tool{wait}, Listeners: against}, use(call{"a", "wait", `{}`}), say("ok"))
			first, ended := r.Session(), r.works(started)
			if err := do(r, t.Context(), otherSession(t)); !errors.Is(err, ErrCancelled) {
				t.Error(err)
			}
			close(goOn)
			if err := ended(); err != nil || r.Session() != first {
				t.Errorf("the prompt ended with %v", err)
			}
			r.wantTalk("user: go", "assistant a=wait{}", "toolResult a: done", "assistant: ok")
		})
	}
}

func TestWhatCannotBeDoneInterruptsNothing(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("no session\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		do   func(r *harness) error
		want string
	}{
		"no session":       {func(r *harness) error { return r.Interrupting().SwitchWith(r.t.Context(), text, nil) }, "not a session file"},
		"no such entry":    {func(r *harness) error { _, err := r.Interrupting().Branch(r.t.Context(), "nope"); return err }, `no entry "nope"`},
		"a polite caller":  {func(r *harness) error { return r.NewSession(r.t.Context(), NewSessionOptions{}) }, ErrNotIdle.Error()},
		"a polite branch":  {func(r *harness) error { _, err := r.Branch(r.t.Context(), r.Session().Leaf()); return err }, ErrNotIdle.Error()},
		"the same session": {func(r *harness) error { return r.Interrupting().SwitchWith(r.t.Context(), r.Session().File(), nil) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			started, goOn := make(chan struct{}), make(chan struct{})
			wait := tool("wait", func(ctx context.Context) (Result, error) {
				close(started)
				<-goOn
				return TextResult("done"), ctx.Err()
			})
			r := newHarness(t, Options{Tools: []Tool{wait}}, use(call{"a", "wait", `{}`}), say("ok"))
			first, ended := r.Session(), r.works(started)
			err := c.do(r)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			close(goOn)
			if err := ended(); err != nil || r.Session() != first {
				t.Errorf("the prompt ended with %v", err)
			}
		})
	}
}

func TestACallerThatGivesUpLeavesEverySessionAsItWas(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	deaf := tool("deaf", func(context.Context) (Result, error) {
		close(started)
		<-goOn
		return TextResult("done"), nil
	})
	r := newHarness(t, Options{Tools: []Tool{deaf}}, use(call{"a", "deaf", `{}`}))
	other, first, ended := otherSession(t), r.Session(), r.works(started)
	ctx, cancel := context.WithCancel(t.Context())
	open := func(context.Context) (*session.Session, error) {
		defer cancel()
		return session.Open(other, session.Options{})
	}
	if err := r.Interrupting().SwitchWith(ctx, other, open); !errors.Is(err, ErrAborted) || r.Session() != first {
		t.Error(err)
	}
	close(goOn)
	_ = ended()
	s, err := session.Open(other, session.Options{}) // nobody has it any more
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestACloneHasTheWholeBranchTheNameAndTheChoice(t *testing.T) {
	for _, kept := range []bool{true, false} {
		o := Options{}
		if !kept {
			o.Session = session.New(session.Options{Cwd: "/p", Now: testTime})
		}
		var asked SessionBeforeBranch
		r := newHarness(t, Options{Session: o.Session, Listeners: []Listener{on(func(e *SessionBeforeBranch) { asked = *e })}}, say("a"), say("b"))
		if err := r.SetSessionName(t.Context(), "mine"); err != nil {
			t.Fatal(err)
		}
		r.prompt("one")
		r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
		_ = r.SetThinking(t.Context(), "low")
		first, leaf := r.Session(), r.Session().Leaf()
		if err := r.Interrupting().Clone(t.Context()); err != nil {
			t.Fatal(err)
		}
		if asked.EntryID != leaf || asked.EntryIndex != len(first.Path(leaf))-1 {
			t.Errorf("asked %+v", asked)
		}
		s := r.Session()
		if s == first || s.Name() != "mine" || s.Header().ParentSession != first.File() || r.Model().ID != "two" || r.Thinking() != "low" {
			t.Errorf("name %q, parent %q, model %s", s.Name(), s.Header().ParentSession, r.Model().ID)
		}
		r.wantTalk("user: one", "assistant: a")
		r.prompt("two")
		r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b")
	}
}

func TestABranchForAProgramKeepsANameGivenElsewhere(t *testing.T) {
	r := newHarness(t, Options{}, say("a"), say("b"))
	r.prompt("one")
	first := r.Session().Branch()
	if err := r.SetSessionName(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	recalled, err := r.Interrupting().Branch(t.Context(), first[len(first)-2].ID)
	if err != nil || recalled.Text != "one" || r.Session().Name() != "mine" {
		t.Errorf("recalled %+v, name %q, %v", recalled, r.Session().Name(), err)
	}
	r.prompt("two")
	r.wantTalk("user: two", "assistant: b")
}

func TestASessionThatHoldsNothingIsNotCloned(t *testing.T) {
	r := newHarness(t, Options{})
	if err := r.Interrupting().Clone(t.Context()); err == nil || !strings.Contains(err.Error(), "not been saved yet") {
		t.Error(err)
	}
	r = newHarness(t, Options{Session: session.New(session.Options{Cwd: "/p", Now: testTime})})
	if err := r.Interrupting().Clone(t.Context()); err == nil || !strings.Contains(err.Error(), "no current entry") {
		t.Error(err)
	}
}
