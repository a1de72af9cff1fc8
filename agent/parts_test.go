package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/session"
	"pi/session/message"
)

// The parts of an agent work without one: each is made of what it needs, and of
// nothing else.

// partsOf are parts with a session in memory, whose model gives these replies.
func partsOf(t *testing.T, o Options, replies ...reply) (parts, *scripted) {
	t.Helper()
	model := &scripted{replies: replies}
	o = withModels(o, model)
	if o.Session == nil {
		o.Session = unsaved(t, "go")
	}
	o.Thinking, o.Now = "off", testTime
	return newParts(o, &work.Claim{}), model
}

// talked is a session of prompts that have answers.
func talked(t *testing.T, texts ...string) *session.Session {
	t.Helper()
	s := unsaved(t)
	for i, text := range texts {
		m := userMessage([]message.Block{message.TextBlock(text)})
		if i%2 == 1 {
			m.Role, m.StopReason = message.RoleAssistant, message.StopEnd
		}
		if _, err := s.AppendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func used(tokens int) llm.Delta {
	return llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: tokens}}
}

func TestAnAskerAsksAgainAndRecordsWhatTheFirstAttemptUsed(t *testing.T) {
	l := &log{}
	broken := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		_ = yield(used(7), nil) && yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Status: 529, Retryable: true})
	}
	p, model := partsOf(t, Options{Listeners: []Listener{l}, Settings: Settings{Retry: RetrySettings{MaxAttempts: 1}}},
		broken, deltas(text("short"), used(3), stop(message.StopEnd)))
	r := &llm.Request{Model: p.choice.model(), Thinking: "off", Messages: []*message.Message{userMessage([]message.Block{message.TextBlock("sum up")})}}
	m, end, err := p.asker.askOutside(t.Context(), r)
	if err != nil || m.Text() != "short" || m.Usage.Input != 3 || end.Reason != message.StopEnd || len(model.requests) != 2 {
		t.Errorf("%+v, %+v, %v", m, end, err)
	}
	if u, _ := p.spending.used(); u.Input != 7 {
		t.Errorf("recorded %+v", u)
	}
	if got := strings.Join(l.kinds, " "); got != "auto_retry_start auto_retry_waited auto_retry_end" {
		t.Errorf("events %s", got)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.asker.askOutside(gone, r); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestAnAnswerIsHandedOnAsItComes(t *testing.T) {
	broken := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		_ = yield(text("half"), nil) && yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Status: 529, Retryable: true})
	}
	refused := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Status: 529, Retryable: true})
	}
	whole := deltas(text("one"), used(3), text(" two"), stop(message.StopEnd))
	for name, c := range map[string]struct {
		answers  []reply
		enough   string // the piece after which no more is wanted
		seen     string
		reason   message.StopReason
		err      string
		requests int
	}{
		"whole":                          {answers: []reply{whole}, seen: "0one 0 two ", reason: message.StopEnd, requests: 1},
		"enough":                         {answers: []reply{whole}, enough: "one", seen: "0one ", reason: message.StopAborted, requests: 1},
		"again, for nothing was seen":    {answers: []reply{refused, whole}, seen: "0one 0 two ", reason: message.StopEnd, requests: 2},
		"not again, after part of it":    {answers: []reply{broken, whole}, seen: "0half ", err: "acme: HTTP 529", requests: 1},
		"not again, when who sees fails": {answers: []reply{whole, whole}, enough: "fail", seen: "0one ", err: "acme: boom", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, Options{Settings: Settings{Retry: RetrySettings{MaxAttempts: 1}}}, c.answers...)
			seen := ""
			m, err := r.Complete(t.Context(), Completion{Messages: []session.Item{{Message: userMessage([]message.Block{message.TextBlock("sum up")})}},
				Update: func(d llm.Delta, position int) error {
					seen += fmt.Sprint(position) + d.Text + " "
					switch c.enough {
					case d.Text:
						return ErrEnough
					case "fail":
						return errors.New("boom")
					}
					return nil
				}})
			if seen != c.seen || len(r.model.requests) != c.requests || c.err == "" && (err != nil || m.StopReason != c.reason) || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("seen %q in %d requests, %+v, %v", seen, len(r.model.requests), m, err)
			}
		})
	}
}

func TestAnAskerMakesARequestOnceThereIsAllThatItTakes(t *testing.T) {
	p, model := partsOf(t, Options{})
	p.asker.models.Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(p.choice.model()),
		Key: func(context.Context) (string, error) { return "", errors.New("no such variable") }})
	build := func() *llm.Request { t.Error("it is made without a key"); return &llm.Request{} }
	err := p.asker.send(t.Context(), p.choice.model(), "", build, nil)
	var failed *llm.ProviderError
	if !errors.As(err, &failed) || failed.Message != "no such variable" || failed.NextStep == "" || len(model.requests) != 0 {
		t.Errorf("%v", err)
	}
}

func TestAMeterCountsWhatTheLastAnswerCountedAndWhatFollows(t *testing.T) {
	p, _ := partsOf(t, Options{})
	s := p.conversation.current()
	around := p.meter.promptSource().Tokens + p.meter.toolSource().Tokens
	if counted, estimated := p.meter.contextTokens(s.Context()); counted != 0 || estimated != around+1 {
		t.Errorf("without an answer %d and %d, around it %d", counted, estimated, around)
	}
	if _, err := s.AppendMessage(&message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("four")},
		StopReason: message.StopEnd, Usage: &message.Usage{Input: 995, Output: 5}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendMessage(userMessage([]message.Block{message.TextBlock(strings.Repeat("abcd", 10))})); err != nil {
		t.Fatal(err)
	}
	if counted, estimated := p.meter.contextTokens(s.Context()); counted != 1000 || estimated != 10 {
		t.Errorf("%d and %d", counted, estimated)
	}
	if b := p.meter.Breakdown(); b.Tokens != 1010 || b.Counted != 1000 {
		t.Errorf("%+v", b)
	}
	if _, ready := p.meter.ReadyUsage(); ready {
		t.Error("nothing was sent, and the usage is at hand")
	}
}

func TestACompactorCompactsWhatWasRequested(t *testing.T) {
	l := &log{}
	s := talked(t, "two and two?", "four", "and two more?", "six")
	o := compacting(false)
	o.Session, o.Listeners = s, []Listener{l}
	p, _ := partsOf(t, o, deltas(text("the notes"), used(5), stop(message.StopEnd)))
	if p.compactor.performRequested(t.Context(), true) {
		t.Error("nobody requested it")
	}
	var done *Compacted
	request := &compactRequest{done: func(d *Compacted, err error) { done = d }}
	if !p.inbox.putCompact(request) || !p.compactor.performRequested(t.Context(), true) {
		t.Fatal("it is not compacted")
	}
	if done == nil || done.Entry.Message().Summary != "the notes" || done.Usage.Input != 5 || p.inbox.takeCompact() != nil {
		t.Errorf("%+v", done)
	}
	want := "context compaction_start session_before_compact session_compacting session_compact context compaction_end"
	if got := strings.Join(l.kinds, " "); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if p.compactor.state.Interrupt() {
		t.Error("it goes on")
	}
}

func TestACompactionThatNobodyAskedForIsTriedOnceUntilAGoodAnswer(t *testing.T) {
	var notices []string
	s := talked(t, "tell me", strings.Repeat("long ", 1000), "and now?", "that was it")
	p, model := partsOf(t, Options{Session: s, Listeners: []Listener{on(func(e *Notice) { notices = append(notices, e.Text) })},
		Settings: Settings{Compaction: CompactionSettings{Enabled: true, ReserveTokens: 100, KeepRecentTokens: 10}}},
		fail(errors.New("no route")), say("the first part"), say("both parts"))
	p.choice.chosen().model.ContextWindow = 1000
	c := autoCompact{compactor: p.compactor, noteSaved: func(err error) error { return err }}
	for range 2 { // of which only the first asks for a summary
		if c.contextForRequest(t.Context(), false); len(model.requests) != 1 {
			t.Errorf("%d requests", len(model.requests))
		}
	}
	if len(notices) != 1 || !strings.HasPrefix(notices[0], "the context is nearly full and was not compacted") {
		t.Errorf("notices %q", notices)
	}
	p.compactor.state.tried.Store(false)
	if seen := c.contextForRequest(t.Context(), false); len(seen.items) == 0 || seen.items[0].Message.Summary != "both parts" {
		t.Errorf("%q, notices %q", seen.items[0].Message.Summary, notices)
	}
}

// sessionsOf replace the session of p.
func sessionsOf(p parts) *sessions {
	return &sessions{busy: &work.Claim{}, events: p.events, conversation: p.conversation, spending: p.spending, choice: p.choice, inbox: p.inbox,
		system: p.prompts, modes: p.modes, compaction: &p.compactor.state, userShell: p.userShell}
}

func TestSessionsAreReplacedUnlessSomebodyIsAgainstIt(t *testing.T) {
	var against bool
	var told []string
	p, _ := partsOf(t, Options{Listeners: []Listener{story(&told), on(func(e *SessionBeforeSwitch) { e.Cancel = against })}})
	s, before, next := sessionsOf(p), p.conversation.current(), unsaved(t, "next")
	if _, err := next.Append(session.TypeModelChange, session.ModelChange{Provider: "acme", ModelID: "two"}); err != nil {
		t.Fatal(err)
	}
	c := sessionSwitch{reason: "resume", open: func(context.Context) (*session.Session, error) { return next, nil }}
	if _, err := s.busy.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.replace(t.Context(), c); !errors.Is(err, ErrNotIdle) {
		t.Errorf("while a run works: %v", err)
	}
	s.busy.End()
	against = true
	if err := s.replace(t.Context(), c); !errors.Is(err, ErrCancelled) || p.conversation.current() != before {
		t.Errorf("against it: %v", err)
	}
	against, told = false, nil
	var late *compactRequest
	refused := make(chan error, 1)
	if late = (&compactRequest{done: func(_ *Compacted, err error) { refused <- err }}); !p.inbox.putCompact(late) {
		t.Fatal("it is not stored")
	}
	if err := s.replace(t.Context(), c); err != nil || p.conversation.current() != next || p.choice.model().ID != "two" {
		t.Errorf("%v, with %s", err, p.choice.model().ID)
	}
	if err := <-refused; !errors.Is(err, errLeft) {
		t.Errorf("the compaction that waited: %v", err)
	}
	if got := strings.Join(told, ", "); got != "shutdown resume, start resume, model one two off restore, context next" {
		t.Errorf("told %s", got)
	}
}

func TestATreeMovesItsLeafOnceTheListenersAgree(t *testing.T) {
	var moved *SessionTree
	s := unsaved(t, "one", "two")
	p, _ := partsOf(t, Options{Session: s, Listeners: []Listener{on(func(e *SessionTree) { moved = e })}})
	tree := &tree{busy: &work.Claim{}, events: p.events, conversation: p.conversation, choice: p.choice, modes: p.modes, meter: p.meter, asker: p.asker}
	first, second := s.Branch()[0].ID, s.Branch()[1].ID
	to := func(id string) func(*session.Session) (move, error) {
		return func(*session.Session) (move, error) {
			return move{target: id, to: id, options: NavigateOptions{Label: "here"}}, nil
		}
	}
	m, err := tree.moveLeaf(t.Context(), to(second))
	if err != nil || !m.Stayed || moved != nil {
		t.Errorf("where it is: %+v, %v", m, err)
	}
	m, err = tree.moveLeaf(t.Context(), to(first))
	if err != nil || m.Stayed || m.Leaf != first || moved == nil || moved.OldLeafID == first {
		t.Errorf("%+v, %v, told %+v", m, err, moved)
	}
	p.events.all = []Listener{on(func(e *SessionBeforeTree) { e.Cancel = true })}
	leaf := s.Leaf()
	if _, err = tree.moveLeaf(t.Context(), to(second)); !errors.Is(err, ErrCancelled) || s.Leaf() != leaf {
		t.Errorf("against it: %v", err)
	}
}

func TestARunNeedsNoAgent(t *testing.T) {
	p, _ := partsOf(t, Options{Tools: []Tool{echo("look")}}, use(call{"a", "look", `{}`}), say("done"))
	r := newRun(p)
	if err := r.run(t.Context(), Prompt{Text: "look at it"}); err != nil {
		t.Fatal(err)
	}
	var talk []string
	for _, it := range p.conversation.current().Context()[1:] {
		talk = append(talk, line(it.Message))
	}
	if got := strings.Join(talk, "\n"); got != "user: look at it\nassistant a=look{}\ntoolResult a: look{}\nassistant: done" {
		t.Errorf("%s", got)
	}
}
