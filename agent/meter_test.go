package agent

import (
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// countedAs is an answer of which the provider says how large the context was.
func countedAs(tokens int) reply {
	return deltas(text("four"), llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: tokens - 5, Output: 5}}, stop(message.StopEnd))
}

// TestUsageKnowsAtOnceWhatTheContextHasBecome has two prompts of 400 and 100
// tokens, whose answers were counted as 1000 and 1200.
func TestUsageKnowsAtOnceWhatTheContextHasBecome(t *testing.T) {
	prompts := []string{strings.Repeat("abcd", 400), strings.Repeat("abcd", 100)}
	edit := func(t *testing.T, r *harness, n int, to *session.Replacement) {
		if _, err := r.EditContext(t.Context(), r.Seen()[n].Entry.ID, to); err != nil {
			t.Fatal(err)
		}
	}
	short := &session.Replacement{Content: []message.Block{message.TextBlock(strings.Repeat("abcd", 30))}}
	tests := map[string]struct {
		happens func(t *testing.T, r *harness)
		want    int // and, where no answer counted it, what is around the messages
	}{
		"nothing":      {func(*testing.T, *harness) {}, 1200},
		"a label":      {func(t *testing.T, r *harness) { _ = r.SetLabel(t.Context(), r.Session().Leaf(), "here") }, 1200},
		"taken out":    {func(t *testing.T, r *harness) { edit(t, r, 0, nil) }, 800},
		"shortened":    {func(t *testing.T, r *harness) { edit(t, r, 0, short) }, 830},
		"edited twice": {func(t *testing.T, r *harness) { edit(t, r, 0, short); edit(t, r, 0, nil) }, 800},
		"the answer itself edited": {func(t *testing.T, r *harness) {
			edit(t, r, 3, &session.Replacement{Content: []message.Block{message.TextBlock("4")}})
		}, 1200},
		"more behind it": {func(t *testing.T, r *harness) {
			edit(t, r, 0, nil)
			if _, err := r.Session().AppendMessage(userMessage([]message.Block{message.TextBlock(strings.Repeat("abcd", 7))})); err != nil {
				t.Fatal(err)
			}
		}, 807},
		"back to the first answer": {func(t *testing.T, r *harness) {
			if _, err := moveLeaf(r.Session(), r.Seen()[1].Entry.ID); err != nil {
				t.Fatal(err)
			}
		}, 1000},
		"back to the first prompt": {func(t *testing.T, r *harness) {
			if _, err := moveLeaf(r.Session(), r.Seen()[0].Entry.ID); err != nil {
				t.Fatal(err)
			}
		}, 400},
		"a compaction": {func(t *testing.T, r *harness) {
			if _, err := r.Session().Append(session.TypeCompaction, session.Compaction{Summary: "so far", FirstKeptEntryID: r.Seen()[2].Entry.ID}); err != nil {
				t.Fatal(err)
			}
		}, 100 + 1 + compaction.EstimateTokens(&message.Message{Role: message.RoleCompactionSummary, Summary: "so far"})},
		"another session": {func(t *testing.T, r *harness) {
			if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
				t.Fatal(err)
			}
		}, 0},
	}
	for name, test := range tests {
		for _, resumed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, Options{}, countedAs(1000), countedAs(1200))
				r.prompt(prompts[0])
				r.prompt(prompts[1])
				r.conversation.refresh(t.Context())
				if resumed { // what this process does not know stands in the file
					r.sent.last = nil
				}
				test.happens(t, r)
				want := test.want
				if r.Meter().Breakdown().Counted == 0 {
					want += aroundMessages(r)
				}
				if got := r.Totals().Tokens; got != want {
					t.Errorf("%d tokens, want %d (resumed: %t)", got, want, resumed)
				}
			})
		}
	}
}

func TestUsageFollowsAHookThatPrunes(t *testing.T) {
	prune := false
	hook := on(func(e *Context) {
		if prune {
			e.Items = e.Items[1:]
		}
	})
	r := newHarness(t, Options{Listeners: []Listener{hook}}, countedAs(1000), countedAs(1000))
	r.prompt(strings.Repeat("abcd", 400))
	if got := r.Totals().Tokens; got != 1000 {
		t.Fatalf("%d tokens before", got)
	}
	prune = true
	r.Context(t.Context())
	if got := r.Totals().Tokens; got != 600 {
		t.Errorf("%d tokens once it is gone", got)
	}
	r.prompt("and now")
	if got := r.Totals().Tokens; got != 1000 {
		t.Errorf("%d tokens; an answer that did not see it counts as it is", got)
	}
}

func TestUsageIsOfTheWindowOfTheModelInForce(t *testing.T) {
	r := newHarness(t, Options{}, countedAs(1000))
	r.prompt("one")
	for _, c := range []struct {
		window  int
		percent float64
	}{{0, 0}, {10_000, 10}, {2000, 50}} {
		r.SetModel(t.Context(), &llm.Model{Provider: "acme", ID: "sized", API: "test", ContextWindow: c.window}, "set")
		if got := r.Totals(); got.Tokens != 1000 || got.Window != c.window || got.Percent != c.percent {
			t.Errorf("%+v, want %+v", got.ContextUsage, c)
		}
	}
}

// moveLeaf goes on from another entry, as the session alone does it: no event tells of
// the move.
func moveLeaf(s *session.Session, id string) (*session.Entry, error) {
	return s.MoveTo(id, session.Draft{Type: session.TypeCustom, Body: session.Custom{CustomType: session.LeafMove}})
}
