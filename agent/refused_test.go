package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func thinks(signature string, more ...llm.Delta) reply {
	return deltas(append([]llm.Delta{{Kind: llm.DeltaThinking, Text: "hm"}, {Kind: llm.DeltaSignature, Text: signature},
		{Kind: llm.DeltaText, Index: 1, Text: "yes"}}, append(more, stop(message.StopEnd))...)...)
}

// bound refuses a request whose thoughts do not fit, with a hint.
func bound() reply {
	return fail(&llm.ProviderError{Provider: "acme", Status: 400, Message: "bound to a different conversation", Unfit: true, NextStep: "set the switch"})
}

// leftOut are the signatures that each request of a model left out, sorted.
func (s *scripted) leftOut() (all []string) {
	for _, r := range s.requests {
		var list []string
		for thought := range r.Refused {
			list = append(list, thought.Signature)
		}
		slices.Sort(list)
		all = append(all, strings.Join(list, "+"))
	}
	return all
}

func TestARequestWhoseThoughtsAreRefusedIsMadeAgainWithoutThem(t *testing.T) {
	seen := &log{}
	r := newHarness(t, Options{Listeners: []Listener{seen}, Settings: patient},
		thinks("s1"), bound(), thinks("s2"), thinks("s3"), bound(), thinks("s4"))
	for _, text := range []string{"one", "two", "three", "four"} {
		r.prompt(text)
	}
	want := []string{"", "", "s1", "s1", "s1", "s1+s2+s3"}
	if got := r.model.leftOut(); !slices.Equal(got, want) {
		t.Errorf("left out: %q, want %q", got, want)
	}
	const note = "earlier thoughts of acme/one did not fit the conversation any more, and its server refused them: asked again without them (set the switch)"
	if !slices.Equal(seen.notes, []string{note, note}) {
		t.Errorf("told: %q", seen.notes)
	}
	if strings.Contains(fmt.Sprint(seen.kinds), "retry") || strings.Contains(r.file(), "errorMessage") || strings.Count(r.file(), `"thinkingSignature":"s`) != 4 {
		t.Errorf("it is a retry like any other, or left something in the session: %v\n%s", seen.kinds, r.file())
	}
}

// Over Chat Completions the signature of a thought is the name of a field.
func TestALaterThoughtUnderTheSameNameGoesAlong(t *testing.T) {
	later := deltas(llm.Delta{Kind: llm.DeltaThinking, Text: "oh"}, llm.Delta{Kind: llm.DeltaSignature, Text: "reasoning_content"},
		llm.Delta{Kind: llm.DeltaText, Index: 1, Text: "yes"}, stop(message.StopEnd))
	r := newHarness(t, Options{Settings: patient}, thinks("reasoning_content"), bound(), later, say("done"))
	for _, text := range []string{"one", "two", "three"} {
		r.prompt(text)
	}
	last := r.model.requests[3]
	var left []string
	for _, m := range last.Messages {
		for i := range m.Content {
			if last.Refused[llm.ThoughtOf(&m.Content[i])] {
				left = append(left, m.Content[i].Text)
			}
		}
	}
	if !slices.Equal(left, []string{"hm"}) {
		t.Errorf("left out: %q", left)
	}
}

func TestThoughtsAreLeftOutOnce(t *testing.T) {
	refused := func(err error) bool {
		var failed *llm.ProviderError
		return errors.As(err, &failed) && failed.Unfit
	}
	t.Run("a server that refuses without end", func(t *testing.T) {
		r := newHarness(t, Options{Settings: patient}, thinks("s1"), bound(), bound(), bound())
		r.prompt("one")
		for range 2 { // the second time there is nothing left to leave out
			if err := r.Prompt(t.Context(), Prompt{Text: "two"}); !refused(err) {
				t.Error(err)
			}
		}
		if len(r.model.requests) != 4 {
			t.Errorf("asked %d times", len(r.model.requests))
		}
	})
	t.Run("no thoughts, or those of another model", func(t *testing.T) {
		r := newHarness(t, Options{Settings: patient}, bound(), thinks("s1"), bound())
		if err := r.Prompt(t.Context(), Prompt{Text: "one"}); !refused(err) {
			t.Error(err)
		}
		r.prompt("two")
		r.SetModel(t.Context(), r.Models().Find("acme", "two"), "set")
		if err := r.Prompt(t.Context(), Prompt{Text: "three"}); !refused(err) || len(r.model.requests) != 3 {
			t.Errorf("%v, asked %d times", err, len(r.model.requests))
		}
	})
	t.Run("an answer that has begun", func(t *testing.T) {
		r := newHarness(t, Options{Settings: patient}, thinks("s1"), cutBy(&llm.ProviderError{Provider: "acme", Unfit: true}, text("half")))
		r.prompt("one")
		if err := r.Prompt(t.Context(), Prompt{Text: "two"}); !refused(err) || len(r.model.requests) != 2 {
			t.Errorf("%v, asked %d times", err, len(r.model.requests))
		}
	})
	t.Run("an interrupt", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := newHarness(t, Options{Settings: patient}, thinks("s1"), func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
			cancel()
			bound()(ctx, nil, yield)
		})
		r.prompt("one")
		if err := r.Prompt(ctx, Prompt{Text: "two"}); !errors.Is(err, ErrAborted) || len(r.model.requests) != 2 {
			t.Errorf("%v, asked %d times", err, len(r.model.requests))
		}
	})
}

func TestACallOutsideOfTheConversationIsMadeAgainWithoutThoughtsToo(t *testing.T) {
	r := newHarness(t, Options{Settings: patient}, thinks("s1"), bound(), say("summed up"))
	r.prompt("one")
	m, err := r.Complete(t.Context(), Completion{System: "Sum up.", Messages: r.Session().Context()})
	if err != nil || m.Text() != "summed up" || !slices.Equal(r.model.leftOut(), []string{"", "", "s1"}) {
		t.Errorf("%v, %v, left out %q", m, err, r.model.leftOut())
	}
}

// wordless refuses the level of thinking of any request that names one.
func wordless(answer string) reply {
	return func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		if r.Thinking == "" {
			say(answer)(ctx, r, yield)
			return
		}
		yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Status: 400, Message: "think value is not supported", NoLevel: true, NextStep: "write it down"})
	}
}

// wish makes level the wanted thinking level.
func (r *harness) wish(level string) {
	r.t.Helper()
	if err := r.SetThinking(r.t.Context(), level); err != nil {
		r.t.Fatal(err)
	}
}

// levels are the thinking levels of all requests.
func (s *scripted) levels() (all []string) {
	for _, r := range s.requests {
		all = append(all, r.Thinking)
	}
	return all
}

func TestARequestWhoseLevelIsRefusedIsMadeAgainWithoutAWordOfIt(t *testing.T) {
	seen, replies := &log{}, []reply{}
	for range 8 {
		replies = append(replies, wordless("yes"))
	}
	r := newHarness(t, Options{Listeners: []Listener{seen}, Settings: patient}, replies...)
	r.wish("medium")
	r.prompt("one")
	r.prompt("two") // it is not asked for again
	r.wish("high")
	r.prompt("three") // another level is
	r.prompt("four")
	if m, err := r.Complete(t.Context(), Completion{Messages: r.Session().Context()}); err != nil || m.Text() != "yes" {
		t.Errorf("%v, %v", m, err)
	}
	if got := r.model.levels(); !slices.Equal(got, []string{"medium", "", "", "high", "", "", "off", ""}) {
		t.Errorf("asked for %q", got)
	}
	told := func(level string) string {
		return "the server of acme/one refused thinking " + level + ": asked again without a word of it, so the model thinks or not as it likes (write it down)"
	}
	if !slices.Equal(seen.notes, []string{told("medium"), told("high"), told("off")}) {
		t.Errorf("told: %q", seen.notes)
	}
	for _, it := range r.Session().Context() {
		if it.Message.ThinkingLevel != "" {
			t.Errorf("an answer has the level %s, which was refused", it.Message.ThinkingLevel)
		}
	}
	if strings.Contains(fmt.Sprint(seen.kinds), "retry") || strings.Contains(r.file(), "errorMessage") {
		t.Errorf("it is a retry like any other, or left something in the session: %v\n%s", seen.kinds, r.file())
	}
}

// What is refused without a word of thinking too was refused for something else: the level is
// asked for again, and nobody is told that it was the reason.
func TestALevelIsLeftOutOnceForEachRequest(t *testing.T) {
	refuses := fail(&llm.ProviderError{Provider: "acme", Status: 400, Message: "no thinking", NoLevel: true})
	seen := &log{}
	r := newHarness(t, Options{Listeners: []Listener{seen}, Settings: patient}, refuses, refuses, refuses, refuses)
	r.wish("medium")
	for range 2 {
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); err == nil {
			t.Error("answered")
		}
	}
	if got := r.model.levels(); !slices.Equal(got, []string{"medium", "", "medium", ""}) || len(seen.notes) != 0 {
		t.Errorf("asked for %q, told %q", got, seen.notes)
	}
}

// Of an answer that has begun nothing is made again, and so nothing is told of it.
func TestWhatIsRefusedInTheMiddleIsNotMadeAgain(t *testing.T) {
	for name, refused := range map[string]*llm.ProviderError{
		"thoughts": {Provider: "acme", Status: 400, Message: "no", Unfit: true}, "a level": {Provider: "acme", Status: 400, Message: "no", NoLevel: true},
	} {
		seen := &log{}
		r := newHarness(t, Options{Listeners: []Listener{seen}, Settings: patient}, thinks("s", stop(message.StopEnd)), func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
			if yield(text("part"), nil) {
				yield(llm.Delta{}, refused)
			}
		})
		r.wish("medium")
		r.prompt("one")
		if err := r.Prompt(t.Context(), Prompt{Text: "two"}); err == nil || len(r.model.levels()) != 2 || strings.Contains(fmt.Sprint(seen.notes), "asked again") {
			t.Errorf("%s: %v, asked for %q, told %q", name, err, r.model.levels(), seen.notes)
		}
	}
}
