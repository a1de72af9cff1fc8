package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// tape writes down what a front end for programs is told, in short words: u, a, t and c
// are messages of a user, of the model, of a tool, and custom ones; e is another entry.
type tape struct {
	mu    sync.Mutex
	lines []string
}

func (*tape) Wants(k Kind) bool {
	switch k {
	case KindContext, KindInput, KindBeforeAgentStart, KindAgentBeforeSettle, KindMessageUpdate, KindToolCall, KindToolResult, KindToolClock, KindToolRan,
		KindSessionBeforeCompact, KindSessionCompacting, KindSessionCompact, KindSessionCompactFailed, KindCustomShow, KindToolExecutionUpdate,
		KindAutoCompactionStart, KindAutoCompactionEnd, KindOtherMessageStart, KindOtherMessageEnd:
		return false
	}
	return true
}

func (l *tape) Handle(_ context.Context, e Event) error {
	switch e := e.(type) {
	case *EntryAppended:
		l.note(entryWords(e))
	case *QueueChanged:
		l.note(fmt.Sprintf("queue %v %v", e.Steering, e.FollowUp))
	case *MessageStart:
	case *MessageEnd:
		l.note("a " + strings.TrimPrefix(line(e.Message), "assistant: "))
	case *ToolExecutionStart:
		l.note("start " + e.ID)
	case *ToolExecutionEnd:
		l.note("end " + e.ID)
	case *TurnEnd:
		l.note(fmt.Sprintf("turn_end[%d]", len(e.ToolResults)))
	case *AutoRetryStart:
		l.note("retry of " + line(e.Failed))
	case *AutoRetryWaited:
		l.note(map[bool]string{false: "waited", true: "waited(cancelled)"}[e.Cancelled])
	case *AutoRetryEnd:
		l.note(strings.TrimSpace(fmt.Sprintf("retried %t %s", e.Success, e.FinalError)))
	case *CompactionStart:
		l.note("compaction_start " + e.Reason)
		if e.Failed != nil {
			l.note("of " + line(e.Failed))
		}
	case *CompactionEnd:
		l.note(strings.TrimSpace(fmt.Sprintf("compaction_end %t %s", e.Done != nil, e.ErrorMessage)))
	case *AgentSettled:
		l.note(map[bool]string{false: "settled", true: "settled(aborted)"}[e.Aborted])
	case *Notice:
		l.note("notice " + e.Text)
	default:
		l.note(e.Kind().String())
	}
	return nil
}

// entryWords are the short words for an entry; "" for the answers, which have events of
// their own, and for the records of the model.
func entryWords(e *EntryAppended) string {
	m := e.Message
	switch {
	case e.Entry.Type == session.TypeModelChange, e.Entry.Type == session.TypeThinkingLevelChange:
		return ""
	case m == nil:
		return "e " + e.Entry.Type
	case m.Role == message.RoleAssistant:
		return ""
	case m.Role == message.RoleToolResult:
		return "t " + m.ToolCallID
	}
	return string(m.Role[:1]) + " " + m.Text()
}

func (l *tape) note(words string) {
	if words == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, words)
}

// want checks what was told since the last time.
func (l *tape) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(l.lines, "\n"), strings.Join(want, "\n"))
	}
	l.lines = nil
}

// accepting is a prompt whose acceptance goes on the tape.
func (l *tape) accepting(text string) Prompt {
	return Prompt{Text: text, Source: "rpc", Accepted: func(d Disposition) { l.note("accepted " + string(d)) }}
}

// ofHook is a custom message of a hook.
func ofHook(text string) Prompt {
	return Prompt{Source: "hook", Custom: custom(text)}
}

// whileRunning calls f while the tool "look" runs, once.
func whileRunning(f func()) *fakeTool {
	var once sync.Once
	return tool("look", func(context.Context) (Result, error) { once.Do(f); return TextResult("seen"), nil })
}

func TestFrontEndsAreToldInOrder(t *testing.T) {
	look := use(call{"k", "look", `{}`})
	words := func(s string) []string { return strings.Split(s, "; ") }
	for _, c := range []struct {
		name      string
		settings  Settings
		before    func(*harness) // a run begins
		meanwhile func(*harness) // while the tool runs
		replies   []reply
		want      string
	}{
		{"plain", Settings{}, nil, nil, []reply{say("hi")},
			"accepted started; agent_start; turn_start; u go; a hi; turn_end[0]; agent_end; settled"},
		{"tools", Settings{}, nil, nil, []reply{look, say("hi")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; end k; t k; turn_end[1]; turn_start; a hi; turn_end[0]; agent_end; settled"},
		{"steering", Settings{}, nil, func(r *harness) { r.queue("one", Steer); r.queue("two", Steer) }, []reply{look, say("hi"), say("ho")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; queue [one] []; queue [one two] []; end k; t k; turn_end[1]; " +
				"turn_start; queue [two] []; u one; a hi; turn_end[0]; turn_start; queue [] []; u two; a ho; turn_end[0]; agent_end; settled"},
		{"steering at once", Settings{SteerAll: true}, nil, func(r *harness) { r.queue("one", Steer); r.queue("two", Steer) }, []reply{look, say("hi")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; queue [one] []; queue [one two] []; end k; t k; turn_end[1]; " +
				"turn_start; queue [two] []; u one; queue [] []; u two; a hi; turn_end[0]; agent_end; settled"},
		{"a follow-up", Settings{}, nil, func(r *harness) { r.queue("more", FollowUp) }, []reply{look, say("hi"), say("ho")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; queue [] [more]; end k; t k; turn_end[1]; " +
				"turn_start; a hi; turn_end[0]; turn_start; queue [] []; u more; a ho; turn_end[0]; agent_end; settled"},
		{"queued at rest", Settings{}, func(r *harness) { r.queue("first", Steer); r.queue("last", FollowUp) }, nil, []reply{say("hi"), say("ho")},
			"queue [first] []; queue [first] [last]; accepted started; agent_start; turn_start; u go; queue [] [last]; u first; a hi; turn_end[0]; " +
				"turn_start; queue [] []; u last; a ho; turn_end[0]; agent_end; settled"},
		{"a clear", Settings{}, nil, func(r *harness) {
			r.queue("one", Steer)
			r.queue("more", FollowUp)
			_ = r.SendCustom(r.t.Context(), ofHook("of a hook"), DeliverSteer, false)
			r.Inbox().Clear()
			r.Inbox().Clear()
		}, []reply{look, say("hi")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; queue [one] []; queue [one] [more]; queue [] []; queue [] []; end k; t k; turn_end[1]; " +
				"turn_start; c of a hook; a hi; turn_end[0]; agent_end; settled"},
		{"a message of a hook at rest", Settings{}, func(r *harness) { _ = r.SendCustom(r.t.Context(), ofHook("note"), DeliverSteer, false) }, nil, []reply{say("hi")},
			"c note; accepted started; agent_start; turn_start; u go; a hi; turn_end[0]; agent_end; settled"},
		{"one for the next prompt", Settings{}, func(r *harness) { _ = r.SendCustom(r.t.Context(), ofHook("note"), DeliverNextTurn, false) }, nil, []reply{say("hi")},
			"accepted started; agent_start; turn_start; u go; c note; a hi; turn_end[0]; agent_end; settled"},
		{"other entries", Settings{}, nil, func(r *harness) {
			_, _ = r.Session().Append(session.TypeCustom, session.Custom{CustomType: "x"})
			_ = r.SetSessionName(r.t.Context(), "n")
			_ = r.SetLabel(r.t.Context(), r.Session().Leaf(), "l")
			_, _ = r.EditContext(r.t.Context(), r.Session().Branch()[2].ID, nil)
		}, []reply{look, say("hi")},
			"accepted started; agent_start; turn_start; u go; a assistant k=look{}; start k; e custom; e session_info; session_info_changed; e label; e context_edit; end k; t k; turn_end[1]; " +
				"turn_start; a hi; turn_end[0]; agent_end; settled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &tape{}
			var r *harness
			r = newHarness(t, Options{Settings: c.settings, Listeners: []Listener{l}, Tools: []Tool{whileRunning(func() {
				if c.meanwhile != nil {
					c.meanwhile(r)
				}
			})}}, c.replies...)
			if c.before != nil {
				c.before(r)
			}
			if err := r.Prompt(t.Context(), l.accepting("go")); err != nil {
				t.Error(err)
			}
			l.want(t, words(c.want)...)
		})
	}
}

// queue queues a text of a program.
func (r *harness) queue(text string, q Queue) {
	r.t.Helper()
	if accepted, err := r.Enqueue(r.t.Context(), Prompt{Text: text, Source: "rpc", WhileIdle: true}, q); err != nil || !accepted {
		r.t.Errorf("queue %q: %v, %v", text, accepted, err)
	}
}

func TestAPromptIsAcceptedOrRefused(t *testing.T) {
	gone, errDear := errors.New("no key in the keyring"), errors.New("dear")
	abort := func(r **harness) func() { return func() { (*r).Abort() } }
	var r *harness
	for _, c := range []struct {
		name      string
		listeners []Listener
		key       error
		text      string
		refusal   string // "" for none
		wraps     error
		want      string
	}{
		{"handled", []Listener{on(func(e *Input) { e.Handled = true })}, nil, "go", "", nil, "accepted handled"},
		{"empty", nil, nil, " ", "the prompt is empty", ErrEmptyPrompt, ""},
		{"without a key", nil, gone, "go", "No API key found for acme: no key in the keyring", gone, ""},
		{"without money", nil, errDear, "go", "stopped: this session has cost $2.0000, and max_cost is $1.0000; /new begins another one", nil, ""},
		{"aborted by the input", []Listener{on(func(*Input) { abort(&r)() })}, nil, "go", "Prompt aborted", ErrAborted, ""},
		{"aborted before the start", []Listener{on(func(*BeforeAgentStart) { abort(&r)() })}, nil, "go", "Prompt aborted", ErrAborted, "e custom; session_tree"},
		{"aborted at the start", []Listener{on(func(*AgentStart) { abort(&r)() })}, nil, "go", "interrupted", ErrAborted,
			"accepted started; agent_start; turn_start; u go; a assistant [aborted: interrupted]; turn_end[0]; agent_end; settled(aborted)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &tape{}
			r = newHarness(t, Options{Listeners: append(c.listeners, l)})
			switch {
			case c.key == errDear:
				r.SetSettings(Settings{MaxCost: 1})
				_, _ = r.Session().Append(session.TypeUsage, session.UsageEntry{Kind: "hook", Provider: "acme", Model: "one", Usage: &message.Usage{Cost: message.Cost{Total: 2}}})
				l.lines = nil
			case c.key != nil:
				r.Models().Register(llm.ProviderSpec{Name: "acme", Key: func(context.Context) (string, error) { return "", c.key }})
			}
			err := r.Prompt(t.Context(), l.accepting(c.text))
			if c.refusal == "" && err != nil || c.refusal != "" && (err == nil || err.Error() != c.refusal || c.wraps != nil && !errors.Is(err, c.wraps)) {
				t.Errorf("%v, want %q", err, c.refusal)
			}
			l.want(t, slices.DeleteFunc(strings.Split(c.want, "; "), func(s string) bool { return s == "" })...)
		})
	}
}

// A prompt that is interrupted before its run leaves the conversation as it was, with what
// waited for it, and can be brought back.
func TestAPromptInterruptedBeforeItsRunIsTakenBack(t *testing.T) {
	l := &tape{}
	var r *harness
	stop := true
	r = newHarness(t, Options{Listeners: []Listener{on(func(*BeforeAgentStart) {
		if stop {
			r.Abort()
		}
	}), l}}, say("hi"))
	_ = r.SendCustom(t.Context(), ofHook("note"), DeliverNextTurn, false)
	r.queue("later", Steer)
	if err := r.Prompt(t.Context(), l.accepting("one")); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
	r.wantTalk()
	l.want(t, "queue [later] []", "e custom", "session_tree")
	if _, err := r.Redo(t.Context()); err != nil {
		t.Error(err)
	}
	r.wantTalk("user: one", "custom: note")
	if _, err := r.Undo(t.Context(), 1); err != nil {
		t.Error(err)
	}
	stop = false
	l.lines = nil
	if err := r.Prompt(t.Context(), l.accepting("two")); err != nil {
		t.Error(err)
	}
	r.wantTalk("user: two", "custom: note", "user: later", "assistant: hi")
	l.want(t, "accepted started", "agent_start", "turn_start", "u two", "c note", "queue [] []", "u later", "a hi", "turn_end[0]", "agent_end", "settled")
}

// What is queued for a prompt that is not accepted yet goes to its run; if there is none,
// it is a prompt of its own, unless somebody wanted an end.
func TestAPromptInPreflightTakesMessages(t *testing.T) {
	for _, c := range []struct {
		name    string
		input   func(*harness, *Input)
		talk    []string
		handed  []string
		waiting []string
	}{
		{"started", func(*harness, *Input) {}, []string{"user: go", "user: later", "assistant: hi"}, nil, []string{}},
		{"handled", func(_ *harness, e *Input) { e.Handled = true }, nil, []string{"later"}, []string{}},
		{"aborted", func(r *harness, _ *Input) { r.Abort() }, nil, nil, []string{"later"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r *harness
			r = newHarness(t, Options{Listeners: []Listener{on(func(e *Input) {
				if e.StreamingBehavior != "" {
					return
				}
				if _, err := r.Enqueue(t.Context(), Prompt{Text: "no"}, Steer); !errors.Is(err, ErrNoRun) {
					t.Error(err)
				}
				if accepted, err := r.Enqueue(t.Context(), Prompt{Text: "later", Source: "rpc", InPreflight: true}, Steer); !accepted || err != nil {
					t.Error(accepted, err)
				}
				c.input(r, e)
			})}}, say("hi"))
			_ = r.Prompt(t.Context(), Prompt{Text: "go", Source: "rpc", Accepted: func(Disposition) {}})
			r.wantTalk(c.talk...)
			var handed []string
			for p := range r.Inbox().TakeSubmitted() {
				handed = append(handed, p.Text)
			}
			if waiting, _ := r.Inbox().Texts(); !slices.Equal(handed, c.handed) || !slices.Equal(waiting, c.waiting) {
				t.Errorf("handed to the front end %q, waiting %q", handed, waiting)
			}
			if _, err := r.Enqueue(t.Context(), Prompt{Text: "no", InPreflight: true}, Steer); !errors.Is(err, ErrNoRun) {
				t.Error(err)
			}
		})
	}
}

// Whoever appends and from which goroutine: every entry is told once, in its order.
func TestEntriesOfManyAreToldOnceAndInOrder(t *testing.T) {
	var told []string
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *EntryAppended) { told = append(told, e.Entry.ID) })}})
	var appending sync.WaitGroup
	for range 4 {
		appending.Go(func() {
			for range 50 {
				if _, err := r.Session().Append(session.TypeCustom, session.Custom{CustomType: "x"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	appending.Wait()
	var want []string
	for _, e := range r.Session().Entries() {
		want = append(want, e.ID)
	}
	if len(want) != 200 || !slices.Equal(told, want) {
		t.Errorf("%d told of %d, in another order or not all", len(told), len(want))
	}
	first := r.Session()
	if err := r.NewSession(t.Context(), NewSessionOptions{Setup: func(s *session.Session) error {
		_, err := s.Append(session.TypeCustom, session.Custom{CustomType: "setup"})
		return err
	}}); err != nil {
		t.Error(err)
	}
	_, _ = first.Append(session.TypeCustom, session.Custom{CustomType: "late"})
	if len(told) != 200 {
		t.Errorf("%d entries of other times were told", len(told)-200)
	}
	if _, err := r.Session().Append(session.TypeCustom, session.Custom{CustomType: "x"}); err != nil || len(told) != 201 {
		t.Error(err, len(told))
	}
}

// The queue of a session goes with it, and what hooks sent is in no list.
func TestQueuedTextsGoWithTheirSession(t *testing.T) {
	l := &tape{}
	r := newHarness(t, Options{})
	r.Listen(l)
	r.queue("one", Steer)
	r.queue("two", FollowUp)
	if steering, followUp := r.Inbox().Texts(); !slices.Equal(steering, []string{"one"}) || !slices.Equal(followUp, []string{"two"}) {
		t.Error(steering, followUp)
	}
	if steering, followUp := r.Inbox().Clear(); !slices.Equal(steering, []string{"one"}) || !slices.Equal(followUp, []string{"two"}) {
		t.Error(steering, followUp)
	}
	r.queue("three", Steer)
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Error(err)
	}
	l.want(t, "queue [one] []", "queue [one] [two]", "queue [] []", "queue [three] []",
		"session_before_switch", "session_before_new", "session_shutdown", "queue [] []", "session_switch", "session_new", "session_start")
	if r.Pending() != 0 {
		t.Errorf("%d wait", r.Pending())
	}
}

// What front ends are told where a run does not go straight on.
func TestFrontEndsAreToldOfTrouble(t *testing.T) {
	look := use(call{"k", "look", `{}`})
	abort := func(r *harness) { r.Abort() }
	const failure = "acme: HTTP 529 overloaded_error: Overloaded"
	const opens = "accepted started; agent_start; turn_start; u go; "
	cut := cutBy(overloaded(), append(callDeltas(call{"x", "look", `{}`}), text("half"))...)
	length := deltas(append(callDeltas(call{"k", "look", `{"n":`}), stop(message.StopLength))...)
	for _, c := range []struct {
		name    string
		at      func(func()) Listener // when meanwhile is called, once
		then    func(*harness)
		replies []reply
		want    string
	}{
		{"a retry", nil, nil, []reply{fail(overloaded()), say("hi")},
			opens + "retry of assistant [error: " + failure + "]; waited; a hi; retried true; turn_end[0]; agent_end; settled"},
		{"a retry of a cut answer", nil, nil, []reply{cut, say("hi")},
			opens + "retry of assistant: half [error: " + failure + "]; waited; a hi; retried true; turn_end[0]; agent_end; settled"},
		{"no retry is left", nil, nil, []reply{fail(overloaded()), fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited; a assistant [error: " + failure + " (tried 2 times)]; retried false " + failure + " (tried 2 times); " +
				"turn_end[0]; agent_end; settled"},
		{"a wait that is ended alone", when[*AutoRetryStart], func(r *harness) { r.Interrupt().Retry() }, []reply{fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited(cancelled); a assistant [aborted: Retry cancelled]; retried false Retry cancelled; turn_end[0]; agent_end; settled(aborted)"},
		{"a wait that is ended with the run", when[*AutoRetryStart], abort, []reply{fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited(cancelled); a assistant [aborted: interrupted]; retried false interrupted; turn_end[0]; agent_end; settled(aborted)"},
		{"retries that are turned off in the wait", when[*AutoRetryStart], func(r *harness) {
			s := r.Settings()
			s.Retry.MaxAttempts = 0
			r.SetSettings(s)
		}, []reply{fail(overloaded()), fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited; a assistant [error: " + failure + "]; retried false " + failure + "; turn_end[0]; agent_end; settled"},
		{"an abort in a stream", when[*MessageStart], abort, []reply{stall("half")},
			opens + "a half [aborted: interrupted]; turn_end[0]; agent_end; settled(aborted)"},
		{"an abort before the first byte", when[*TurnStart], abort, nil,
			opens + "a assistant [aborted: interrupted]; turn_end[0]; agent_end; settled(aborted)"},
		{"an abort in tools", when[*ToolExecutionUpdate], abort, []reply{look},
			opens + "a assistant k=look{}; start k; end k; t k; turn_end[1]; agent_end; settled(aborted)"},
		{"the limit of an answer with calls", nil, nil, []reply{length, say("hi")},
			opens + "a assistant k=look{}; start k; end k; t k; turn_end[1]; turn_start; a hi; turn_end[0]; agent_end; settled"},
		{"steering that is switched to all at once", when[*TurnStart], func(r *harness) {
			r.queue("one", Steer)
			r.queue("two", Steer)
			s := r.Settings()
			s.SteerAll = true
			r.SetSettings(s)
		}, []reply{say("hi"), say("ho")},
			"accepted started; agent_start; turn_start; queue [one] []; queue [one two] []; u go; a hi; turn_end[0]; turn_start; queue [two] []; u one; queue [] []; u two; a ho; turn_end[0]; agent_end; settled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &tape{}
				var r *harness
				o := Options{Settings: Settings{Retry: RetrySettings{MaxAttempts: 1, BaseDelay: time.Second}}, Listeners: []Listener{l}}
				o.Tools = []Tool{&fakeTool{spec: echo("look").spec, run: func(ctx context.Context, _ json.RawMessage, update Update) (Result, error) {
					if update == nil {
						return TextResult("seen"), nil
					}
					update(TextResult("begun"))
					<-ctx.Done()
					return Result{}, ctx.Err()
				}}}
				if c.at != nil {
					done := false
					o.Listeners = append(o.Listeners, c.at(func() {
						if !done {
							done = true
							c.then(r)
						}
					}))
				}
				r = newHarness(t, o, c.replies...)
				_ = r.Prompt(t.Context(), l.accepting("go"))
				l.want(t, strings.Split(c.want, "; ")...)
			})
		})
	}
}

// when is a listener that calls f with each event of one kind.
func when[E Event](f func()) Listener { return on(func(E) { f() }) }

func TestFrontEndsAreToldWhatDidNotFit(t *testing.T) {
	l := &tape{}
	r := full(t, Options{Listeners: []Listener{l}}, say("one"), overflow(), say("the summary"), say("two"), overflow(), say("the summary"), overflow())
	r.prompt("first")
	l.lines = nil
	r.prompt("second")
	l.mu.Lock()
	at := slices.Index(l.lines, "compaction_start overflow")
	if at < 2 || at+3 > len(l.lines) || l.lines[at-1] != "e context_edit" || !strings.HasPrefix(l.lines[at-2], "a assistant [error:") || l.lines[at+1] != "of "+strings.TrimPrefix(l.lines[at-2], "a ") {
		t.Errorf("told %q", l.lines)
	}
	l.mu.Unlock()
}

// What a program queues while the context is compacted behind a run is worked on before
// the agent settles.
func TestWhatIsQueuedBehindARunIsWorkedOn(t *testing.T) {
	l := &tape{}
	var r *harness
	once := true
	r = full(t, Options{Listeners: []Listener{l, started(func(*CompactionStart) {
		if once {
			once = false
			r.queue("two", Steer)
			if accepted, err := r.Enqueue(t.Context(), Prompt{Text: "three", Source: "rpc", InPreflight: true}, FollowUp); !accepted || err != nil {
				t.Error(accepted, err)
			}
		}
	})}}, say("one"), using(95000, text("two")), say("the summary"), say("three"), say("four"))
	r.prompt("first")
	l.lines = nil
	r.prompt("second")
	l.want(t, "agent_start", "turn_start", "u second", "a two", "turn_end[0]", "agent_end",
		"compaction_start threshold", "queue [two] []", "queue [two] [three]", "e compaction", "compaction_end true",
		"agent_start", "turn_start", "queue [] [three]", "u two", "a three", "turn_end[0]", "turn_start", "queue [] []", "u three", "a four", "turn_end[0]", "agent_end", "settled")
	if _, err := r.Enqueue(t.Context(), Prompt{Text: "late", InPreflight: true}, Steer); !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
}

// A triggering message of a hook begins a run as a prompt does.
func TestAMessageOfAHookBeginsARun(t *testing.T) {
	l := &tape{}
	r := newHarness(t, Options{Listeners: []Listener{l}}, say("hi"))
	if err := r.SendCustom(t.Context(), ofHook("wake up"), DeliverSteer, true); err != nil {
		t.Fatal(err)
	}
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	l.want(t, "agent_start", "turn_start", "c wake up", "a hi", "turn_end[0]", "agent_end", "settled")
}

// The tape of a call that a tool makes: its id is that of the other one with a number, the
// progress has the arguments as they were sent, and the ends say how long it took.
func TestCallsInCallsSayWhoseTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		listen := []Listener{
			on(func(e *ToolCall) {
				if e.Name == "inner" {
					e.Input = json.RawMessage(`{"n":2}`)
				}
			}),
			on(func(e *ToolExecutionStart) { told = append(told, "start "+e.ID) }),
			on(func(e *ToolExecutionUpdate) { told = append(told, "update "+e.ID+" "+string(e.Input)) }),
			on(func(e *ToolExecutionEnd) { told = append(told, "end "+e.ID+" "+e.Took.String()) }),
		}
		var r *harness
		inner := echo("inner")
		inner.run = func(_ context.Context, input json.RawMessage, update Update) (Result, error) {
			update(TextResult("half"))
			time.Sleep(time.Second)
			return TextResult(string(input)), nil
		}
		outer := tool("outer", func(ctx context.Context) (Result, error) {
			r.CallTool(ctx, "inner", json.RawMessage(`{"n":1}`))
			return r.CallTool(ctx, "inner", json.RawMessage(`{"n":1}`)), nil
		})
		quick := tool("quick", func(context.Context) (Result, error) { return TextResult("ok"), nil })
		r = newHarness(t, Options{Now: time.Now, Tools: []Tool{outer, inner, quick}, Listeners: listen}, use(call{"k", "outer", `{}`}, call{"q", "quick", `{}`}), say("hi"))
		r.prompt("go")
		want := []string{"start k", "start q", "start k/1", "update k/1 {\"n\":1}", "end k/1 1s", "start k/2", "update k/2 {\"n\":1}", "end k/2 1s", "end k 2s", "end q 0s"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q\nwant %q", told, want)
		}
	})
}

// Answers record how much the model was to think, also where a hook replaces them.
func TestAnswersRecordTheirThinkingLevel(t *testing.T) {
	swap := false
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *MessageEnd) {
		if swap {
			e.Message = &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("mine")}}
		}
	})}}, say("one"), fail(errors.New("no")), say("two"))
	if err := r.SetThinking(t.Context(), "high"); err != nil {
		t.Fatal(err)
	}
	r.prompt("first")
	_ = r.Prompt(t.Context(), Prompt{Text: "second"})
	if err := r.SetThinking(t.Context(), "off"); err != nil {
		t.Fatal(err)
	}
	swap = true
	r.prompt("third")
	var levels []string
	for _, it := range r.Session().Context() {
		if it.Message.Role == message.RoleAssistant {
			levels = append(levels, it.Message.ThinkingLevel)
		}
	}
	if !slices.Equal(levels, []string{"high", "high", "off"}) || strings.Count(r.file(), `"thinkingLevel":"high","timestamp"`) != 2 {
		t.Errorf("levels %q in\n%s", levels, r.file())
	}
}
