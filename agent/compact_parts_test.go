package agent

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
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
	r := newRig(t, compacting(false), replies...)
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

func TestTheBeginningOfATurnThatIsSummarisedInPartsKeepsItsFirstPart(t *testing.T) {
	r := newRig(t, compacting(false), say("what was before"), say("part one"), say("both parts"))
	item := func(text string) session.Item {
		return session.Item{Message: r.userMessage([]message.Block{message.TextBlock(text)}), Index: -1}
	}
	w := &summaryWriter{Agent: r.Agent, model: r.Model(), most: 1000, inputLimit: 500}
	text, err := w.write(t.Context(), &compaction.Plan{Summarize: []session.Item{item("long ago")},
		TurnPrefix: []session.Item{item(strings.Repeat("do it; ", 200)), item(strings.Repeat("no, so; ", 200))}})
	if err != nil || !strings.HasSuffix(text, "both parts") {
		t.Fatalf("%q, %v", text, err)
	}
	if first := r.asked(1); strings.Contains(first, "<notes>") || strings.Contains(first, "The notes between the tags") {
		t.Errorf("the first part: %s", first)
	}
	if second := r.asked(2); !strings.Contains(second, "<notes>\npart one\n</notes>") || !strings.Contains(second, "The notes between the tags") {
		t.Errorf("the model is not told what to do with the notes: %s", second)
	}
}
