package agent

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/compaction"
	"pi/session/message"
)

// One prompt that is larger than the whole window is summarised all the same, in
// parts that the provider takes.
func TestAMessageLargerThanTheWindowIsSummarisedInFull(t *testing.T) {
	const fits = 10000 // tokens, which nobody knows but the provider
	var summarised strings.Builder
	write := func(_ context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		asked := r.Messages[0].Text()
		if compaction.EstimateTokens(r.Messages[0]) > fits {
			yield(llm.Delta{}, &llm.ProviderError{Provider: "acme", Message: "too long", Overflow: true})
			return
		}
		summarised.WriteString(strings.Join(regexp.MustCompile(`word;`).FindAllString(asked, -1), ""))
		_ = yield(text("the summary"), nil) && yield(stop(message.StopEnd), nil)
	}
	replies := []reply{say("a long prompt")}
	for range 100 {
		replies = append(replies, write)
	}
	r := newHarness(t, compacting(false), replies...)
	var long strings.Builder
	for range 40000 {
		long.WriteString("word;")
	}
	r.prompt(long.String())
	if _, err := r.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	// A word may lie across the end of a part.
	if n := strings.Count(summarised.String(), "word;"); n < 39950 || n > 40000 {
		t.Errorf("%d of 40000 words were summarised", n)
	}
	r.wantTalk("compactionSummary", "assistant: a long prompt")
}

// A script that answers in place of a server sees the time of each message.
func TestARequestForASummaryHasTheTimeOfNow(t *testing.T) {
	for name, sumUp := range map[string]func(r *harness) error{
		"compaction": func(r *harness) error { _, err := r.Compact(t.Context(), CompactOptions{}); return err },
		"branch": func(r *harness) error {
			_, err := r.Navigate(t.Context(), sentTo(r)[0], NavigateOptions{Summarize: true})
			return err
		},
	} {
		r := newHarness(t, compacting(false), say("hello"), say("a summary"))
		r.prompt("hi")
		if err := sumUp(r); err != nil || len(r.model.requests) != 2 {
			t.Fatalf("%s: %d requests, %v", name, len(r.model.requests), err)
		}
		if at := r.model.requests[1].Messages[0].Timestamp; at != r.now().UnixMilli() {
			t.Errorf("%s: the time of the request is %d", name, at)
		}
	}
}
