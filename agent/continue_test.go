package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// hint is a draft of a message that the model sees.
func hint(s string) session.Draft {
	return session.Draft{Type: session.TypeCustomMessage, Body: session.CustomMessage{CustomType: "hint", Content: []message.Block{message.TextBlock(s)}}}
}

// goOnTwice makes the first n ends of a turn go on with a message.
func goOnTimes(n int) Listener {
	return on(func(e *TurnEnd) {
		if e.TurnIndex < n {
			e.Entries = append(e.Entries, hint(fmt.Sprintf("red %d", e.TurnIndex)))
			e.Continue, e.ContinuedBy = true, "tests"
		}
	})
}

func TestTurnThatListenersContinueIsFollowedByAnother(t *testing.T) {
	l := &log{}
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 8}, Listeners: []Listener{goOnTimes(2), l}}, say("one"), say("two"), say("three"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: one", "custom: red 0", "assistant: two", "custom: red 1", "assistant: three")
	if n := strings.Count(strings.Join(l.kinds, " "), "agent_end"); n != 1 || !strings.HasSuffix(strings.Join(l.kinds, " "), "turn_end agent_before_settle agent_end agent_settled") {
		t.Errorf("events %v", l.kinds)
	}
	if last := r.model.requests[2].Messages; last[len(last)-1].Text() != "red 1" {
		t.Errorf("sent %q", last[len(last)-1].Text())
	}
}

func TestContinuationsHaveALimitPerPrompt(t *testing.T) {
	for limit, want := range map[int]string{
		0: "stopped: hook tests wants the model asked once more, and hooks may add 0 requests until somebody says something (max_continuations)",
		2: "stopped: hook tests wants the model asked once more, and hooks may add 2 requests until somebody says something (max_continuations)",
	} {
		r := newHarness(t, Options{Settings: Settings{MaxContinuations: limit}, Listeners: []Listener{goOnTimes(99)}}, say("a"), say("b"), say("c"), say("d"), say("e"), say("f"))
		for range 2 { // the count begins anew with each prompt
			before := len(r.model.requests)
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			var limited *LimitError
			if !errors.As(err, &limited) || limited.Limit != "max_continuations" || err.Error() != want || len(r.model.requests)-before != limit+1 {
				t.Errorf("limit %d: %v after %d requests", limit, err, len(r.model.requests)-before)
			}
		}
	}
}

func TestContinuationIsNoRequestOfItsOwnWhereOneFollowsAnyway(t *testing.T) {
	always := on(func(e *TurnEnd) { e.Continue = e.TurnIndex < 2 })
	var r *harness
	late := on(func(e *TurnEnd) {
		if e.TurnIndex == 1 {
			_ = r.Submit(context.Background(), Prompt{Text: "and this"})
		}
	})
	r = newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{always, late}}, use(call{"a", "look", `{}`}), say("b"), say("c"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant a=look{}", "toolResult a: look{}", "assistant: b", "user: and this", "assistant: c")
}

func TestContinuationWithoutAWordEndsTheRunAndNamesTheHook(t *testing.T) {
	for name, l := range map[string]Listener{
		"turn_end":            on(func(e *TurnEnd) { e.Continue, e.ContinuedBy = true, "tests" }),
		"agent_before_settle": on(func(e *AgentBeforeSettle) { e.Continue, e.ContinuedBy = true, "tests" }),
		"with what the model does not see": on(func(e *TurnEnd) {
			e.Continue, e.ContinuedBy = true, "tests"
			e.Entries = []session.Draft{{Type: session.TypeCustom, Body: session.Custom{CustomType: "x", Data: input(`1`)}}}
		}),
	} {
		r := newHarness(t, Options{Settings: Settings{MaxContinuations: 8}, Listeners: []Listener{l}}, say("a"))
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		if want := "hook tests wants the model to go on, but the answer is the last message and nothing was added, so there is nothing to send"; err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
		r.wantGoesOnWithout()
	}
}

// wantGoesOnWithout is wantGoesOn when nobody listens any more.
func (r *harness) wantGoesOnWithout() {
	r.t.Helper()
	r.events.all = nil
	r.wantGoesOn()
}

func TestAnswerTakenOutOfTheContextCanBeAskedForAgain(t *testing.T) {
	var r *harness
	again := on(func(e *TurnEnd) {
		if e.Message.Text() == "bad" {
			e.Entries = []session.Draft{{Type: session.TypeContextEdit, Body: session.ContextEdit{TargetID: e.EntryIDs[0]}}}
			e.Continue = true
		}
	})
	r = newHarness(t, Options{Settings: Settings{MaxContinuations: 1}, Listeners: []Listener{again}}, say("bad"), say("good"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: good")
	if len(r.model.requests[1].Messages) != 1 || !strings.Contains(r.file(), "bad") {
		t.Error("the bad answer is sent, or gone from the file")
	}
}

func TestEntriesOfListenersAreAddedAllOrNone(t *testing.T) {
	none := "\"nothing\""
	for _, c := range []struct {
		name    string
		drafts  func(branch []*session.Entry) []session.Draft
		failure string
	}{
		{"two hooks", func([]*session.Entry) []session.Draft { return []session.Draft{hint("one"), hint("two")} }, ""},
		{"an edit of nothing", func([]*session.Entry) []session.Draft {
			return []session.Draft{hint("one"), {Type: session.TypeContextEdit, Body: session.ContextEdit{TargetID: "nothing"}}}
		}, `turn_end: the entries of hooks were not added: entry 2: no entry ` + none},
		{"a compaction that keeps nothing that is there", func([]*session.Entry) []session.Draft {
			return []session.Draft{hint("one"), {Type: session.TypeCompaction, Body: session.Compaction{Summary: "s", FirstKeptEntryID: "nothing"}}}
		}, `turn_end: the entries of hooks were not added: entry 2: compaction: first_kept_entry_id: entry ` + none + ` is not on the branch`},
		{"a compaction between call and result", func(branch []*session.Entry) []session.Draft {
			return []session.Draft{{Type: session.TypeCompaction, Body: session.Compaction{Summary: "s", FirstKeptEntryID: branch[len(branch)-1].ID}}}
		}, `lies between a tool call and its result`},
		{"another type", func([]*session.Entry) []session.Draft {
			return []session.Draft{{Type: session.TypeLabel, Body: session.Label{}}}
		}, `turn_end: the entries of hooks were not added: entry 1: a label entry cannot be added (custom, custom_message, context_edit and compaction can)`},
		{"what is no JSON", func([]*session.Entry) []session.Draft {
			return []session.Draft{hint("one"), {Type: session.TypeCustom, Body: session.Custom{CustomType: "x", Data: input(`{`)}}}
		}, "append custom entry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			var r *harness
			add := on(func(e *TurnEnd) {
				if e.TurnIndex == 0 {
					e.Entries = c.drafts(r.Session().Branch())
				}
			})
			r = newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{add, l}}, use(call{"a", "look", `{}`}), say("done"))
			r.prompt("go")
			if c.failure == "" {
				r.wantTalk("user: go", "assistant a=look{}", "toolResult a: look{}", "custom: one", "custom: two", "assistant: done")
				return
			}
			r.wantTalk("user: go", "assistant a=look{}", "toolResult a: look{}", "assistant: done")
			if len(l.notes) != 1 || !strings.Contains(l.notes[0], c.failure) {
				t.Errorf("notices %q", l.notes)
			}
		})
	}
}

func TestCompactionOfAListenerIsMarkedAsItsOwnAndSeenAtOnce(t *testing.T) {
	compact := on(func(e *TurnEnd) {
		e.Entries = []session.Draft{{Type: session.TypeCompaction, Body: session.Compaction{Summary: "all of it"}}}
	})
	l := &log{}
	r := newHarness(t, Options{Listeners: []Listener{compact, l}}, say("done"))
	r.prompt("go")
	if !strings.Contains(r.file(), `"fromHook":true`) || len(r.Session().Context()) != 1 || len(r.Seen()) != 1 {
		t.Errorf("%s\n%s", r.talk(), r.file())
	}
	if !strings.Contains(strings.Join(l.kinds, " "), "turn_end session_compact context agent_before_settle") {
		t.Errorf("events %v", l.kinds)
	}
}

func TestShownEntriesAreShown(t *testing.T) {
	shown := 0
	var end *AgentEnd
	add := on(func(e *TurnEnd) {
		visible := hint("look")
		body := visible.Body.(session.CustomMessage)
		body.Display = true
		e.Entries = []session.Draft{{Type: visible.Type, Body: body}, hint("psst")}
	})
	r := newHarness(t, Options{Listeners: []Listener{add, on(func(*CustomShow) { shown++ }), on(func(e *AgentEnd) { end = e })}}, say("done"))
	r.prompt("go")
	if shown != 1 || len(end.Messages) != 4 {
		t.Errorf("%d shown, %d messages of the run", shown, len(end.Messages))
	}
}

func TestListenersMayGoOnBeforeTheRunSettles(t *testing.T) {
	var told []string
	settle := on(func(e *AgentBeforeSettle) {
		told = append(told, fmt.Sprintf("%s/%d", e.Outcome, len(e.Messages)))
		if len(told) == 1 {
			e.Entries, e.Continue = []session.Draft{hint("open items: 1")}, true
		}
	})
	l := &log{}
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 1}, Listeners: []Listener{settle, l}}, say("one"), say("two"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: one", "custom: open items: 1", "assistant: two")
	if !reflect.DeepEqual(told, []string{"completed/2", "completed/4"}) || strings.Count(strings.Join(l.kinds, " "), "agent_end") != 1 {
		t.Errorf("told %q, events %v", told, l.kinds)
	}
}

func TestListenersCannotPassTheLimitOfTurns(t *testing.T) {
	var r *harness
	for name, l := range map[string]Listener{
		"going on after a turn":    goOnTimes(9),
		"going on before settling": on(func(e *AgentBeforeSettle) { e.Entries, e.Continue = []session.Draft{hint("more")}, true }),
		"sending while it settles": on(func(*AgentBeforeSettle) { _ = r.Submit(context.Background(), Prompt{Text: "more"}) }),
	} {
		r = newHarness(t, Options{Settings: Settings{MaxTurns: 2, MaxContinuations: 8}, Listeners: []Listener{l}}, say("a"), say("b"), say("c"))
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Limit != "max_turns" || len(r.model.requests) != 2 {
			t.Errorf("%s: %v after %d requests", name, err, len(r.model.requests))
		}
	}
}

func TestFailedModelCallCanBeFollowedByAnother(t *testing.T) {
	settle := on(func(e *AgentBeforeSettle) { e.Continue = e.Outcome == "error" })
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 1}, Listeners: []Listener{settle}}, fail(errors.New("no route")), say("two"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant [error: acme: no route]", "assistant: two")
}

func TestRunThatEndedForGoodDoesNotGoOn(t *testing.T) {
	block := on(func(e *ToolCall) { e.Block, e.Reason, e.Terminate = true, "no", true })
	var r *harness
	stop := on(func(e *TurnStart) { r.Abort() })
	for _, c := range []struct {
		name, outcome string
		listener      Listener
		settings      Settings
		noticed       bool
		is            func(error) bool
	}{
		{"limit", "error", on(func(*Notice) {}), Settings{MaxTurns: 1, MaxContinuations: 8}, true, func(err error) bool { var l *LimitError; return errors.As(err, &l) }},
		{"gate", "error", block, Settings{MaxContinuations: 8}, true, func(err error) bool { var e *TerminatedError; return errors.As(err, &e) }},
		{"interrupt", "aborted", stop, Settings{MaxContinuations: 8}, false, func(err error) bool { return errors.Is(err, ErrAborted) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			asked := 0
			settle := on(func(e *AgentBeforeSettle) {
				asked++
				if e.Outcome != c.outcome {
					t.Errorf("outcome %s", e.Outcome)
				}
				e.Entries, e.Continue, e.ContinuedBy = []session.Draft{hint("more")}, true, "tests"
			})
			r = newHarness(t, Options{Tools: []Tool{echo("look")}, Settings: c.settings, Listeners: []Listener{c.listener, settle, l}}, use(call{"a", "look", `{}`}), say("b"))
			if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !c.is(err) || asked != 1 || len(r.model.requests) > 1 {
				t.Errorf("%v after %d requests, asked %d times", err, len(r.model.requests), asked)
			}
			if !strings.HasSuffix(r.talk(), "custom: more") {
				t.Errorf("the entries are not there: %s", r.talk())
			}
			if c.noticed != (len(l.notes) == 1) {
				t.Errorf("notices %q", l.notes)
			}
		})
	}
}

func TestInterruptReachesWhoHoldsTheEndOfATurn(t *testing.T) {
	var r *harness
	hold := listener{KindTurnEnd: func(ctx context.Context, _ Event) error {
		r.Abort()
		<-ctx.Done()
		return nil
	}}
	r = newHarness(t, Options{Listeners: []Listener{hold}}, say("a"))
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestMessageThatComesWhileTheRunSettlesIsDelivered(t *testing.T) {
	l := &log{}
	var r *harness
	once := true
	settle := on(func(*AgentBeforeSettle) {
		if once {
			once = false
			_ = r.Submit(context.Background(), Prompt{Text: "one more thing"})
		}
	})
	r = newHarness(t, Options{Listeners: []Listener{settle, l}}, say("a"), say("b"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: a", "user: one more thing", "assistant: b")
	if !strings.HasSuffix(strings.Join(l.kinds, " "), "turn_end agent_before_settle agent_end agent_settled") {
		t.Errorf("events %v", l.kinds)
	}
}

func TestTurnEndSaysHowFullTheContextIs(t *testing.T) {
	var got TurnUsage
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 100, Output: 20, CacheRead: 30, CacheWrite: 50, TotalTokens: 200}}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{on(func(e *TurnEnd) {
		if e.TurnIndex == 0 {
			got = e.Used()
		}
	})}}, deltas(append(callDeltas(call{"a", "look", `{}`}), usage, stop(message.StopToolUse))...), say("done"))
	r.model.mu.Lock()
	r.Model().ContextWindow = 1000
	r.model.mu.Unlock()
	r.prompt("go")
	// "look{}" is six characters: two tokens
	if got.Input != 100 || got.Tokens != 202 || got.Window != 1000 || got.Percent != 20.2 {
		t.Errorf("%+v", got)
	}
}

func TestContextUsageIsOfWhatListenersMakeOfTheContext(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *Context) { e.Items = e.Items[len(e.Items)-1:] })}}, say("four"))
	if _, err := r.Session().AppendMessage(userMessage([]message.Block{message.TextBlock(strings.Repeat("long ", 100))})); err != nil {
		t.Fatal(err)
	}
	around := aroundMessages(r)
	if got := r.Totals().Tokens; got != around+125 {
		t.Errorf("%d tokens before anybody looked, %d of them around the messages", got, around)
	}
	r.prompt("four")
	if got := r.Totals().Tokens; got != around+2 {
		t.Errorf("%d tokens, want the prompt and the answer", got)
	}
}

func TestCompactionIsSeenAlsoWhereNobodyListensToTheContext(t *testing.T) {
	compact := on(func(e *TurnEnd) {
		e.Entries = []session.Draft{{Type: session.TypeCompaction, Body: session.Compaction{Summary: "all of it"}}}
	})
	r := newHarness(t, Options{Listeners: []Listener{compact}}, say("done"))
	r.prompt("go")
	if seen := r.Seen(); len(seen) != 1 || seen[0].Message.Summary != "all of it" {
		t.Errorf("%d messages", len(seen))
	}
}

// aroundMessages is the estimate of what a request carries beside its messages.
func aroundMessages(r *harness) int {
	return r.meter.promptSource().Tokens + r.meter.toolSource().Tokens
}

func TestContextUsageCountsWhatIsInForce(t *testing.T) {
	ask := func(text string) *message.Message {
		return &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(text)}}
	}
	answer := func(tokens int, stop message.StopReason) *message.Message {
		return &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("four")}, StopReason: stop, Usage: &message.Usage{Input: tokens}}
	}
	image := &message.Message{Role: message.RoleUser, Content: []message.Block{{Type: message.BlockImage, Data: "AAAA", MimeType: "image/png"}}}
	bash := &message.Message{Role: message.RoleBashExecution, Command: "ls", Output: "a", ExcludeFromContext: true}
	for _, c := range []struct {
		name     string
		messages []*message.Message
		compact  int // before this message, keeping the one before it; 0: never
		want     int // without what an answer that counts has counted too; -1: not much
	}{
		{"nothing", nil, 0, 0},
		{"no answer that counted", []*message.Message{ask("12345"), answer(0, message.StopEnd)}, 0, 3},
		{"the last good answer, and what follows", []*message.Message{ask("x"), answer(50, message.StopEnd), ask("ääää"), image}, 0, 1251},
		{"a failed answer says nothing", []*message.Message{answer(50, message.StopEnd), answer(70, message.StopError), answer(80, message.StopAborted)}, 0, 50},
		{"what is not sent is not counted", []*message.Message{answer(50, message.StopEnd), bash}, 0, 50},
		{"an answer before a compaction says nothing", []*message.Message{ask("x"), answer(5000, message.StopEnd), ask("y")}, 2, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newHarness(t, Options{})
			var last string
			for i, m := range c.messages {
				if c.compact > 0 && i == c.compact {
					if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "s", FirstKeptEntryID: last}); err != nil {
						t.Fatal(err)
					}
				}
				e, err := r.Session().AppendMessage(m)
				if err != nil {
					t.Fatal(err)
				}
				last = e.ID
			}
			got := r.Totals().Tokens
			if r.Meter().Breakdown().Counted == 0 {
				got -= aroundMessages(r)
			}
			if c.want >= 0 && got != c.want || c.want < 0 && (got <= 0 || got > 100) {
				t.Errorf("%d tokens, want %d", got, c.want)
			}
		})
	}
}

func TestTotalsKnowWhetherEveryPriceIsKnown(t *testing.T) {
	for _, c := range []struct {
		name   string
		price  *llm.Price
		cost   float64
		tokens int
		want   bool
	}{
		{"nothing used", nil, 0, 0, true},
		{"no price", nil, 0, 5, false},
		{"free", &llm.Price{}, 0, 5, true},
		{"a cost that somebody wrote", nil, 0.1, 5, true},
	} {
		r := newHarness(t, Options{})
		r.Models().Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(&llm.Model{Provider: "acme", ID: "one", Cost: c.price})})
		u := &message.Usage{Input: c.tokens, Cost: message.Cost{Total: c.cost}}
		if _, err := r.Session().AppendMessage(&message.Message{Role: message.RoleAssistant, Provider: "acme", Model: "one", Usage: u}); err != nil {
			t.Fatal(err)
		}
		r.spending.record(t.Context(), session.UsageEntry{Kind: "hook", Provider: "acme", Model: "one", Usage: u})
		got := r.Totals()
		if got.Priced != c.want || got.Input != 2*c.tokens || got.Cost.Total != 2*c.cost {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestWhatAToolUsedIsCountedAndKept(t *testing.T) {
	var end *AgentEnd
	look := tool("look", func(context.Context) (Result, error) {
		return Result{Usage: &message.Usage{Output: 7}}, nil
	})
	r := newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{on(func(e *AgentEnd) { end = e })}}, use(call{"a", "look", `{}`}), say("done"))
	r.prompt("go")
	if got := r.CallTool(t.Context(), "look", nil); got.IsError {
		t.Errorf("%+v", got)
	}
	if end.Usage.Output != 7 || r.Totals().Output != 14 || !strings.Contains(r.file(), `"kind":"tool"`) {
		t.Errorf("the run %+v, the session %+v", end.Usage, r.Totals())
	}
}

// A message that comes when it is clear already that the model is asked once more, because a
// listener wants that, is in that request.
func TestWhatSteersAFurtherTurnIsInItsRequest(t *testing.T) {
	r := newHarness(t, Options{Settings: Settings{MaxContinuations: 1}})
	if _, err := r.Session().AppendMessage(userMessage([]message.Block{message.TextBlock("go")})); err != nil {
		t.Fatal(err)
	}
	further := newRun(r.parts)
	r.inbox.enter(inRun)
	r.inbox.enqueue(Prompt{Text: "mind this", Source: "interactive"}, Steer)
	if err := further.addTurn(t.Context(), Continuation{Continue: true, ContinuedBy: "h"}); err != nil {
		t.Fatal(err)
	}
	r.wantTalk("user: go", "user: mind this")
}
