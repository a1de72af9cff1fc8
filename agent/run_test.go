package agent

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestPromptIsInTheFileBeforeAnythingIsSent(t *testing.T) {
	var r *harness
	var seen string
	r = newHarness(t, Options{}, func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		seen = r.file()
		say("hi")(ctx, q, yield)
	})
	r.prompt("remember the milk")
	if !strings.Contains(seen, "remember the milk") {
		t.Errorf("when the request was sent the file held %q", seen)
	}
}

func TestTurnsGoOnUntilThereAreNoCalls(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}},
		use(call{"a", "look", `{"n":1}`}), use(call{"b", "look", `{"n":2}`}, call{"c", "look", `{"n":3}`}), say("done"))
	r.prompt("go")
	r.wantTalk("user: go",
		`assistant a=look{"n":1}`, `toolResult a: look{"n":1}`,
		`assistant b=look{"n":2} c=look{"n":3}`, `toolResult b: look{"n":2}`, `toolResult c: look{"n":3}`,
		"assistant: done")
}

func TestTurnAndRunReportWhatTheyAdded(t *testing.T) {
	var turns []*TurnEnd
	var end *AgentEnd
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 5, Output: 2, TotalTokens: 7}}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{
		on(func(e *TurnEnd) { turns = append(turns, e) }), on(func(e *AgentEnd) { end = e })}},
		deltas(append(callDeltas(call{"a", "look", `{}`}), usage, stop(message.StopToolUse))...), deltas(text("ok"), usage, stop(message.StopEnd)))
	r.prompt("go")
	branch := r.Session().Branch()
	last := branch[len(branch)-1].ID
	if len(turns) != 2 || len(turns[0].EntryIDs) != 2 || len(turns[0].ToolResults) != 1 || !reflect.DeepEqual(turns[1].EntryIDs, []string{last}) {
		t.Errorf("turns %+v", turns)
	}
	if end == nil || end.Usage.Input != 10 || len(end.Messages) != 4 || end.Messages[3].Text() != "ok" {
		t.Errorf("end %+v", end)
	}
}

// The prefix of a request may not change, or prompt caches are lost.
func TestEachRequestExtendsTheOneBefore(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}},
		use(call{"a", "look", `{"n": 1}`}), use(call{"b", "look", `{"n":2}`}), say("one"), say("two"))
	r.prompt("first")
	r.prompt("second")
	var before []string
	for i, q := range r.model.requests {
		var now []string
		for _, m := range q.Messages {
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			now = append(now, string(b))
		}
		if len(now) <= len(before) || !slices.Equal(now[:len(before)], before) {
			t.Errorf("request %d is\n%s\nthe one before\n%s", i, now, before)
		}
		if q.System != r.model.requests[0].System || !reflect.DeepEqual(q.Tools, r.model.requests[0].Tools) {
			t.Errorf("request %d has another system prompt or other tools", i)
		}
		before = now
	}
}

func TestSteeringIsDeliveredAfterTheToolsAndBeforeTheNextCall(t *testing.T) {
	for _, c := range []struct {
		name string
		all  bool
		want []string
	}{
		{"one at a time", false, []string{"user: go", "assistant a=look{}", "toolResult a: ok", "user: s1", "assistant: x", "user: s2", "assistant: y", "user: f", "assistant: z"}},
		{"all", true, []string{"user: go", "assistant a=look{}", "toolResult a: ok", "user: s1", "user: s2", "assistant: x", "user: f", "assistant: y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *harness
			look := tool("look", func(ctx context.Context) (Result, error) {
				for _, m := range []struct {
					text string
					q    Queue
				}{{"f", FollowUp}, {"s1", Steer}, {"s2", Steer}} {
					if ok, err := r.Enqueue(ctx, Prompt{Text: m.text}, m.q); !ok || err != nil {
						t.Errorf("enqueue %s: %v, %v", m.text, ok, err)
					}
				}
				return TextResult("ok"), nil
			})
			r = newHarness(t, Options{Tools: []Tool{look}, Settings: Settings{SteerAll: c.all}}, use(call{"a", "look", `{}`}), say("x"), say("y"), say("z"))
			r.prompt("go")
			r.wantTalk(c.want...)
		})
	}
}

func TestSteeringTypedDuringTheLastAnswerLeadsToAnotherTurn(t *testing.T) {
	var r *harness
	once := sync.OnceFunc(func() { _, _ = r.Enqueue(t.Context(), Prompt{Text: "wait"}, Steer) })
	r = newHarness(t, Options{Listeners: []Listener{on(func(*MessageUpdate) { once() })}}, say("bye"), say("waiting"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: bye", "user: wait", "assistant: waiting")
}

func TestQueuedTextPassesTheInputEvent(t *testing.T) {
	var r *harness
	var behaviors []string
	l := on(func(e *Input) {
		behaviors = append(behaviors, e.StreamingBehavior)
		e.Handled = e.Text == "mine"
		e.Text = strings.ToUpper(e.Text)
	})
	look := tool("look", func(ctx context.Context) (Result, error) {
		for _, p := range []struct {
			text     string
			accepted bool
			err      error
		}{{"mine", false, nil}, {"yours", true, nil}, {" ", false, ErrEmptyPrompt}} {
			if ok, err := r.Enqueue(ctx, Prompt{Text: p.text}, FollowUp); ok != p.accepted || !errors.Is(err, p.err) {
				t.Errorf("enqueue %q: %v, %v", p.text, ok, err)
			}
		}
		return Result{}, nil
	})
	r = newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{l}}, use(call{"a", "look", ``}), say("x"), say("y"))
	r.prompt("go")
	r.wantTalk("user: GO", "assistant a=look{}", "toolResult a: (no output)", "assistant: x", "user: YOURS", "assistant: y")
	if want := []string{"", "follow_up", "follow_up", "follow_up"}; !reflect.DeepEqual(behaviors, want) {
		t.Errorf("behaviors %q, want %q", behaviors, want)
	}
}

// Whatever moment a message comes in: it is delivered, or the caller is told
// that it has to prompt.
func TestNothingIsLostWhenMessagesRaceWithTheEndOfTheRun(t *testing.T) {
	for range 50 {
		replies := make([]reply, 12)
		for i := range replies {
			replies[i] = say("ok")
		}
		r := newHarness(t, Options{Session: session.New(session.Options{Now: testTime})}, replies...)
		accepted, began := 0, make(chan struct{})
		var sender sync.WaitGroup
		r.events.all = []Listener{on(func(*AgentStart) { close(began) })}
		sender.Go(func() {
			<-began
			for range 10 {
				ok, err := r.Enqueue(t.Context(), Prompt{Text: "more"}, FollowUp)
				if ok {
					accepted++
				} else if !errors.Is(err, ErrNoRun) {
					t.Error(err)
				}
			}
		})
		r.prompt("go")
		sender.Wait()
		if got := strings.Count(r.talk(), "user: more"); got != accepted || r.Pending() != 0 {
			t.Fatalf("%d accepted, %d delivered, %d waiting", accepted, got, r.Pending())
		}
	}
}

// A message whose input event takes until the run has looked at the queues for
// the last time is not accepted.
func TestMessageThatComesTooLateIsNotAccepted(t *testing.T) {
	var r *harness
	over, asked, refused := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	r = newHarness(t, Options{Listeners: []Listener{listener{
		KindInput: func(_ context.Context, e Event) error {
			if e.(*Input).StreamingBehavior != "" {
				close(asked)
				<-over
			}
			return nil
		},
		KindMessageEnd: func(context.Context, Event) error {
			go func() {
				_, err := r.Enqueue(t.Context(), Prompt{Text: "more"}, Steer)
				refused <- err
			}()
			<-asked
			return nil
		},
		KindAgentEnd: func(context.Context, Event) error {
			close(over)
			if err := <-refused; !errors.Is(err, ErrNoRun) {
				t.Errorf("enqueue: %v", err)
			}
			return nil
		},
	}}}, say("bye"))
	r.prompt("go")
	if r.Pending() != 0 {
		t.Error("it waits for ever")
	}
}

func TestEnqueueNeedsARun(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Shell: func(ctx context.Context, _ string, _ func(string)) (BashOutcome, error) {
		if ok, err := r.Enqueue(ctx, Prompt{Text: "x"}, Steer); ok || !errors.Is(err, ErrNoRun) {
			t.Errorf("during a shell command: %v, %v", ok, err)
		}
		return BashOutcome{}, nil
	}})
	if ok, err := r.Enqueue(t.Context(), Prompt{Text: "x"}, Steer); ok || !errors.Is(err, ErrNoRun) {
		t.Errorf("idle: %v, %v", ok, err)
	}
	if _, err := r.Bash(t.Context(), UserCommand{Line: "true"}); err != nil {
		t.Error(err)
	}
}

func TestLimitsEndTheRunAndTheSessionGoesOn(t *testing.T) {
	same, other := use(call{"a", "look", `{"n": 1}`}), use(call{"b", "look", `{"n":2}`})
	broken := use(call{"a", "look", `{"n":`})
	for _, c := range []struct {
		name     string
		settings Settings
		replies  []reply
		limit    string
		ran      int
	}{
		{"max_turns", Settings{MaxTurns: 2}, []reply{same, other}, "max_turns", 2},
		{"max_turns is not reached by the last turn", Settings{MaxTurns: 2}, []reply{same, say("done")}, "", 1},
		{"max_repeats", Settings{MaxRepeats: 3}, []reply{same, use(call{"b", "look", `{"n":1}`}), same}, "max_repeats", 3},
		{"max_repeats counts broken arguments", Settings{MaxRepeats: 2}, []reply{broken, broken}, "max_repeats", 0},
		{"max_repeats counts calls that are refused", Settings{MaxRepeats: 2}, []reply{use(call{"a", "no", `{}`}), use(call{"a", "no", `{}`})}, "max_repeats", 0},
		{"max_repeats within one message", Settings{MaxRepeats: 2},
			[]reply{use(call{"a", "look", `{}`}, call{"b", "look", `{}`}, call{"c", "look", `{"n":5}`})}, "max_repeats", 3},
		{"max_repeats counts a call though others stand between", Settings{MaxRepeats: 3}, []reply{same, other, same, other, same, other, say("done")}, "max_repeats", 6},
		{"a new call in between starts anew", Settings{MaxRepeats: 2}, []reply{same, other, same, say("done")}, "", 3},
		{"no limits", Settings{}, []reply{same, same, same, same, say("done")}, "", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran atomic.Int64
			look := tool("look", func(context.Context) (Result, error) { ran.Add(1); return TextResult("ok"), nil })
			r := newHarness(t, Options{Tools: []Tool{look}, Settings: c.settings}, c.replies...)
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			var limit *LimitError
			if errors.As(err, &limit); c.limit == "" && err != nil || c.limit != "" && (limit == nil || limit.Limit != c.limit) {
				t.Errorf("error %v, want %q", err, c.limit)
			}
			if n := int(ran.Load()); n != c.ran {
				t.Errorf("the tool ran %d times, want %d", n, c.ran)
			}
			r.wantGoesOn()
		})
	}
}

func TestMessagesThatWaitAtALimitCanBeTakenBack(t *testing.T) {
	var r *harness
	look := tool("look", func(ctx context.Context) (Result, error) {
		_, _ = r.Enqueue(ctx, Prompt{Text: "steer"}, Steer)
		return Result{}, nil
	})
	r = newHarness(t, Options{Tools: []Tool{look}, Settings: Settings{MaxTurns: 1}}, use(call{"a", "look", ``}))
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); err == nil {
		t.Error("no limit")
	}
	if got := r.Inbox().TakeQueued(); !reflect.DeepEqual(got, []string{"steer"}) || r.Pending() != 0 {
		t.Errorf("taken %q", got)
	}
}

func TestPausedAnswerIsGoneOnWithAtOnce(t *testing.T) {
	var r *harness
	once := sync.OnceFunc(func() { _, _ = r.Enqueue(t.Context(), Prompt{Text: "and?"}, Steer) })
	r = newHarness(t, Options{Listeners: []Listener{on(func(*MessageUpdate) { once() })}},
		deltas(text("searching"), stop(llm.StopPause)), say("found"), say("more"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: searching", "assistant: found", "user: and?", "assistant: more")
}

func TestPauseWithoutAWordIsNotAskedForEver(t *testing.T) {
	r := newHarness(t, Options{}, deltas(stop(llm.StopPause)))
	r.prompt("go")
	if len(r.model.requests) != 1 {
		t.Errorf("%d requests", len(r.model.requests))
	}
}

func TestListenersRewriteHandleAndAddToThePrompt(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{
		on(func(e *Input) { e.Text, e.Handled = e.Text+"!", e.Text == "mine" }),
		on(func(e *BeforeAgentStart) {
			e.SystemPrompt += " and be kind"
			e.Messages = append(e.Messages, &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock("for " + e.Prompt)}})
		})}}, say("hello"))
	r.prompt("mine")
	if r.talk() != "" || len(r.model.requests) != 0 {
		t.Errorf("a handled prompt led to %q", r.talk())
	}
	r.prompt("yours")
	r.wantTalk("user: yours!", "custom: for yours!", "assistant: hello")
	if q := r.model.requests[0]; !strings.HasSuffix(q.System, " and be kind") || len(q.Messages) != 2 || q.Messages[1].Role != message.RoleUser {
		t.Errorf("request %+v", q)
	}
	if strings.HasSuffix(r.SystemPrompt(), "kind") {
		t.Error("the change outlives its prompt")
	}
}

func TestEmptyPromptIsRefused(t *testing.T) {
	r := newHarness(t, Options{})
	for _, text := range []string{"", " \n\t"} {
		if err := r.Prompt(t.Context(), Prompt{Text: text}); !errors.Is(err, ErrEmptyPrompt) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if len(r.Session().Entries()) != 0 || !r.IsIdle() {
		t.Error("it left something behind")
	}
}

func TestOnePromptAtATime(t *testing.T) {
	var r *harness
	look := tool("look", func(ctx context.Context) (Result, error) {
		if err := r.Prompt(ctx, Prompt{Text: "too"}); !errors.Is(err, ErrBusy) {
			t.Errorf("prompt: %v", err)
		}
		if err := r.NewSession(ctx, NewSessionOptions{}); !errors.Is(err, ErrNotIdle) {
			t.Errorf("new session: %v", err)
		}
		if _, err := r.Bash(ctx, UserCommand{Line: "true"}); !errors.Is(err, ErrBusy) {
			t.Errorf("bash: %v", err)
		}
		return TextResult("ok"), nil
	})
	r = newHarness(t, Options{Tools: []Tool{look}}, use(call{"a", "look", ``}), say("done"))
	r.prompt("go")
	if !strings.HasSuffix(r.talk(), "assistant: done") {
		t.Error(r.talk())
	}
}

func TestContextListenersDecideWhatIsSentAndLeaveTheSession(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{
		on(func(e *Context) { e.Items = e.Items[len(e.Items)-1:] }),
		on(func(e *Context) {
			e.Items = append(e.Items, session.Item{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("psst")}}, Index: -1})
		}),
	}}, say("a"), say("b"))
	r.prompt("one")
	r.prompt("two")
	var sent []string
	for _, m := range r.model.requests[1].Messages {
		sent = append(sent, m.Text())
	}
	var seen []string
	for _, item := range r.Seen() {
		seen = append(seen, item.Message.Text())
	}
	if !reflect.DeepEqual(sent, []string{"two", "psst"}) || !reflect.DeepEqual(seen, []string{"two", "psst", "b"}) {
		t.Errorf("sent %q, seen %q", sent, seen)
	}
	r.wantTalk("user: one", "assistant: a", "user: two", "assistant: b")
}

// unwritable is a session whose file cannot be made.
func unwritable(t *testing.T) *session.Session {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return session.New(session.Options{Dir: filepath.Join(file, "sub"), Cwd: "/p", Now: testTime})
}

func TestFailedSaveIsToldOnceAndTheAnswerStillGiven(t *testing.T) {
	l := &log{}
	r := newHarness(t, Options{Session: unwritable(t), Tools: []Tool{echo("look")}, Listeners: []Listener{l}},
		use(call{"a", "look", `{}`}), say("answer"), say("again"))
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	var unsaved *session.SaveError
	if !errors.As(err, &unsaved) || len(l.notes) != 0 {
		t.Errorf("error %v, notices %q", err, l.notes)
	}
	if !strings.HasSuffix(r.talk(), "assistant: answer") {
		t.Error(r.talk())
	}
	r.prompt("next") // told already
	if len(l.notes) != 0 || !strings.HasSuffix(r.talk(), "assistant: again") {
		t.Errorf("notices %q, talk %s", l.notes, r.talk())
	}
}

func TestFailedSaveIsANoticeWhereTheRunFailedToo(t *testing.T) {
	l := &log{}
	r := newHarness(t, Options{Session: unwritable(t), Listeners: []Listener{l}}, fail(errors.New("no route")))
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	var unsaved *session.SaveError
	var provider *llm.ProviderError
	if errors.As(err, &unsaved) || !errors.As(err, &provider) || len(l.notes) != 1 || !strings.HasPrefix(l.notes[0], "save session") {
		t.Errorf("error %v, notices %q", err, l.notes)
	}
}

func TestReadOnlySessionRefusesThePromptBeforeAnythingIsSent(t *testing.T) {
	r := newHarness(t, Options{}, say("a"))
	r.prompt("go")
	if err := r.Session().Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Prompt(t.Context(), Prompt{Text: "again"}); !errors.Is(err, session.ErrReadOnly) || len(r.model.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(r.model.requests))
	}
	if !r.IsIdle() {
		t.Error("the agent is not idle")
	}
}
