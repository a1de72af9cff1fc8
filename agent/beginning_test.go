package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session"
)

// onwards is an agent that goes on from what another one has sent last, with another tool and a
// listener of its own that would change all that it gets.
func onwards(t *testing.T, from *Agent, replies ...reply) *harness {
	t.Helper()
	sent := from.LastSent()
	if sent == nil {
		t.Fatal("nothing was sent")
	}
	s, err := sent.Copy(session.Options{Cwd: "/p", Now: testTime})
	if err != nil {
		t.Fatal(err)
	}
	loud := &named{hook: "loud", system: func(int) string { return " LOUD" }, context: func(_ int, items []session.Item) []session.Item {
		return append(slices.Clone(items), synthetic("LOUD"))
	}}
	return newHarness(t, Options{Session: s, Begin: sent, Tools: []Tool{echo("other")}, Listeners: loud.listeners(), Prompt: &SystemPrompt{Replace: "Another."}}, replies...)
}

// checkBegins checks that a request begins with another one.
func checkBegins(t *testing.T, r, with *llm.Request) {
	t.Helper()
	if r.System != with.System || !reflect.DeepEqual(r.Tools, with.Tools) || r.SessionID != with.SessionID || r.Thinking != with.Thinking || r.MaxTokens != with.MaxTokens {
		t.Errorf("the request has other tools, or another system prompt, than %q", with.System)
	}
	if n := len(with.Messages); len(r.Messages) <= n {
		t.Errorf("the request has %d messages, after one with %d", len(r.Messages), n)
	} else if !reflect.DeepEqual(r.Messages[:n], with.Messages) {
		t.Errorf("its messages do not begin with those that were sent")
	}
}

// However an agent has worked, whoever goes on from it begins with its last request, and with each of
// its own.
func TestWhoGoesOnBeginsWithWhatWasSent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var replies []reply
		for n := range 12 {
			if rnd.IntN(2) == 0 {
				replies = append(replies, say(fmt.Sprint("answer ", n)))
			} else {
				replies = append(replies, use(call{fmt.Sprint("c", n), "look", fmt.Sprintf(`{"n":%d}`, n)}))
			}
		}
		replies = append(replies, say("done"), say("done"))
		mark := &named{hook: "mark", system: func(int) string { return " Marked." }, context: func(request int, items []session.Item) []session.Item {
			return append([]session.Item{synthetic("before all")}, items...)
		}}
		h := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: mark.listeners()}, replies...)
		for n := range 1 + rnd.IntN(3) {
			h.prompt(fmt.Sprint("prompt ", n))
		}
		last := h.model.requests[len(h.model.requests)-1]
		next := onwards(t, h.Agent, use(call{"x", "other", `{"n":1}`}), use(call{"y", "look", `{"n":1}`}), say("seen"), say("again"))
		for _, text := range []string{"what was it?", "and now?"} {
			next.prompt(text)
		}
		for i, r := range next.model.requests {
			checkBegins(t, r, last)
			if i > 0 && !strings.Contains(fmt.Sprint(r.Messages[len(r.Messages)-1].Text()), "LOUD") {
				t.Errorf("its own listeners do not see what comes behind")
			}
		}
		for _, e := range next.Session().Branch() {
			if m := e.Message(); m != nil && m.ToolCallID == "y" && !strings.Contains(m.Text(), "may not be used here") {
				t.Errorf("a tool that it does not have came to %q", m.Text())
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if got := next.Totals().Usage; got.Output != 0 && got == h.Totals().Usage {
			t.Errorf("it counts what the other one has used")
		}
	}
}

// In the middle of a call, and behind a change of what was sent, the beginning is what was sent;
// behind an answer, that goes along.
func TestWhatIsCompleteBehindTheRequestGoesAlong(t *testing.T) {
	var h *harness
	copied := func() string {
		t.Helper()
		s, err := h.LastSent().Copy(session.Options{Cwd: "/p"})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, it := range s.Context() {
			said = append(said, string(it.Message.Role)+" "+it.Message.Text())
		}
		return strings.Join(said, ", ")
	}
	during := ""
	wait := tool("wait", func(context.Context) (Result, error) {
		during = copied()
		return TextResult("waited"), nil
	})
	h = newHarness(t, Options{Tools: []Tool{wait}}, say("first"), use(call{"a", "wait", `{}`}), say("second"))
	if h.LastSent() != nil {
		t.Error("something was sent before")
	}
	h.prompt("go")
	if got := copied(); got != "user go, assistant first" {
		t.Errorf("behind an answer: %s", got)
	}
	h.prompt("on")
	if during != "user go, assistant first, user on" {
		t.Errorf("in a call: %s", during)
	}
	all := "user go, assistant first, user on, assistant , toolResult waited"
	if got := copied(); got != all+", assistant second" {
		t.Errorf("behind the call: %s", got)
	}
	if _, err := h.EditContext(t.Context(), h.Session().Branch()[0].ID, nil); err == nil {
		t.Error("the first entry is no message")
	}
	entry := h.Session().Context()[0].Entry.ID
	if _, err := h.EditContext(t.Context(), entry, nil); err != nil {
		t.Fatal(err)
	}
	if got := copied(); got != all {
		t.Errorf("behind an edit: %s", got)
	}
}

// One that goes on compacts as any, and then begins with its summary.
func TestWhoGoesOnCompactsAsAny(t *testing.T) {
	h := newHarness(t, Options{}, say("first"), say("second"))
	h.prompt("go")
	h.prompt("on")
	brief := on(func(e *SessionBeforeCompact) { e.Compaction = &CompactionDraft{Summary: "all was said"} })
	next := onwards(t, h.Agent, say("third"), say("fourth"))
	next.events.all = append(next.events.all, brief)
	next.prompt("what was it?")
	if _, err := next.Compact(t.Context(), CompactOptions{}); err != nil {
		t.Fatal(err)
	}
	next.prompt("and now?")
	r := next.model.requests[len(next.model.requests)-1]
	if r.System != h.model.requests[1].System || !strings.Contains(r.Messages[0].Text(), "all was said") {
		t.Errorf("it begins with %q", r.Messages[0].Text())
	}
}
