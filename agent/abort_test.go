package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

// endless streams words until nobody listens any more.
func endless(words ...string) reply {
	return func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for i := 0; ; i++ {
			if !yield(text(words[i%len(words)]), nil) {
				return
			}
		}
	}
}

// forbid stops answers in which a word stands.
func forbid(word string) Listener {
	return on(func(e *MessageUpdate) {
		if strings.Contains(e.Message().Text(), word) {
			e.Abort = &Abort{Reason: "says " + word, Inject: "do not say " + word, By: "rules"}
		}
	})
}

func TestListenerStopsAnAnswerAndTheModelIsAskedAgain(t *testing.T) {
	l := &log{}
	var end *AgentEnd
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{forbid("bad"), l, on(func(e *AgentEnd) { end = e })}},
		endless("so ", "bad", "never"), say("good"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: so bad [aborted: stopped by hook rules: says bad]", "custom: do not say bad", "assistant: good")
	want := `turn_start context message_start message_update message_update message_end context message_start message_update message_update message_end turn_end`
	if !strings.Contains(strings.Join(l.kinds, " "), want) || strings.Contains(strings.Join(l.kinds, " "), "custom_show") {
		t.Errorf("events %v", l.kinds)
	}
	sent := r.model.requests[1].Messages
	if len(sent) != 2 || sent[1].Role != message.RoleUser || sent[1].Text() != "do not say bad" {
		t.Errorf("sent %d messages, the last %q", len(sent), sent[len(sent)-1].Text())
	}
	if len(end.Messages) != 4 || !strings.Contains(r.file(), `"customType":"pi.abort"`) || !strings.Contains(r.file(), `"display":false,"details":{"hook":"rules","reason":"says bad"}`) {
		t.Errorf("%d messages of the run, file\n%s", len(end.Messages), r.file())
	}
}

// A listener that looks at deltas behind the stream says so later.
func TestAbortMayComeWithAnyLaterUpdateUpToTheLast(t *testing.T) {
	for _, at := range []llm.DeltaKind{llm.DeltaText, llm.DeltaToolCall, llm.DeltaStop} {
		late := on(func(e *MessageUpdate) {
			if e.Delta.Kind == at && !strings.Contains(e.Message().Text(), "again") {
				e.Abort = &Abort{Inject: "no tools"}
			}
		})
		ended := on(func(e *MessageEnd) {
			if stopped := e.Message.StopReason == message.StopAborted; stopped == (e.Message.Text() == "again") {
				t.Errorf("message_end of %q with %s", e.Message.Text(), e.Message.StopReason)
			}
		})
		r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{late, ended}},
			deltas(append(append([]llm.Delta{text("let me")}, callDeltas(call{"a", "look", `{}`})...), stop(message.StopToolUse))...), say("again"))
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		if at != llm.DeltaText && at != llm.DeltaStop && err != nil {
			t.Error(err)
		}
		if at == llm.DeltaToolCall {
			r.wantTalk("user: go", "assistant: let me [aborted: stopped by a listener]", "custom: no tools", "assistant: again")
		}
		if at == llm.DeltaStop && !strings.HasPrefix(r.talk(), "user: go\nassistant: let me [aborted: stopped by a listener]\ncustom: no tools") {
			t.Error(r.talk())
		}
		if strings.Contains(r.talk(), "toolResult") {
			t.Errorf("a call of a stopped answer ran: %s", r.talk())
		}
	}
}

// stall says something and then nothing more until nobody listens.
func stall(said string) reply {
	return func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		if yield(text(said), nil) {
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
		}
	}
}

func TestAStopEndsAnAnswerWhoseModelSaysNothingMore(t *testing.T) {
	var first *MessageUpdate
	behind := on(func(e *MessageUpdate) {
		if first == nil {
			first = e
			go func() { e.Stop(&Abort{Reason: "says bad", Inject: "do not say bad", By: "rules"}) }()
		}
	})
	var told []string
	ended := on(func(e *MessageEnd) {
		if e.Abort != nil {
			told = append(told, e.Abort.By+" "+e.Abort.Reason+" "+e.Message.Text())
		}
	})
	r := newHarness(t, Options{Listeners: []Listener{behind, ended, on(func(e *AgentEnd) { first.Stop(&Abort{By: "nobody"}) })}}, stall("so bad"), say("good"), say("fine"))
	r.prompt("go")
	if len(told) != 1 || told[0] != "rules says bad so bad" {
		t.Errorf("front ends hear %q", told)
	}
	want := []string{"user: go", "assistant: so bad [aborted: stopped by hook rules: says bad]", "custom: do not say bad", "assistant: good"}
	r.wantTalk(want...)
	r.prompt("on") // no stop of an answer that is over reaches another one
	r.wantTalk(append(want, "user: on", "assistant: fine")...)
}

func TestTheContextOfUpdatesTellsAnswersApart(t *testing.T) {
	var seen []string
	contexts := map[context.Context]string{}
	l := listener{KindMessageUpdate: func(ctx context.Context, e Event) error {
		if contexts[ctx] == "" {
			contexts[ctx] = e.(*MessageUpdate).Delta.Text
		}
		seen = append(seen, contexts[ctx])
		return nil
	}}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{l}},
		deltas(append([]llm.Delta{text("a"), text("b")}, append(callDeltas(call{"1", "look", `{}`}), stop(message.StopToolUse))...)...),
		deltas(text("c"), text("d"), stop(message.StopEnd)))
	r.prompt("go")
	if got := strings.Join(seen, ""); got != "aaaaaccc" {
		t.Errorf("updates belong to %q", got)
	}
}

func TestAStopWhileTheLastUpdateIsHandledCounts(t *testing.T) {
	once := true
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *MessageUpdate) {
		if once && e.Delta.Kind == llm.DeltaStop {
			once = false
			e.Stop(&Abort{By: "first"})
			e.Stop(&Abort{By: "second"})
		}
	})}}, say("bad"), say("good"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: bad [aborted: stopped by hook first]", "assistant: good")
}

func TestAnswersAreStoppedThreeTimesPerPrompt(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{forbid("bad")}})
	for range 2 { // anew with each prompt
		for range 4 {
			r.model.replies = append(r.model.replies, say("bad"))
		}
		before := len(r.model.requests)
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		var limit *LimitError
		if want := "stopped by hook rules: says bad; hooks may stop 3 answers per prompt"; !errors.As(err, &limit) || err.Error() != want || len(r.model.requests)-before != 4 {
			t.Errorf("%v after %d requests", err, len(r.model.requests)-before)
		}
	}
	r.wantGoesOnWithout()
}

func TestStopWithoutAWordAsksAgainAsItWas(t *testing.T) {
	once := true
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *MessageUpdate) {
		if once {
			once, e.Abort = false, &Abort{By: "x"}
		}
	})}}, say("a"), say("b"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: a [aborted: stopped by hook x]", "assistant: b")
}

func TestStoppedAnswerCountsBeforeAFailureOfItsStream(t *testing.T) {
	broken := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		if yield(text("bad"), nil) {
			yield(llm.Delta{}, errors.New("no route"))
		}
	}
	last := on(func(e *MessageUpdate) {
		if e.Delta.Kind == llm.DeltaStop && e.Message().Text() == "bad" {
			e.Abort = &Abort{Inject: "no", By: "x"}
		}
	})
	r := newHarness(t, Options{Listeners: []Listener{last}}, broken, say("good"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant: bad [aborted: stopped by hook x]", "custom: no", "assistant: good")
}

func TestInterruptWinsOverAStop(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(e *MessageUpdate) { r.Abort(); e.Abort = &Abort{Inject: "no"} })}}, say("bad"), say("never"))
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) || len(r.model.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(r.model.requests))
	}
	r.wantTalk("user: go", "assistant: bad [aborted: interrupted]")
}
