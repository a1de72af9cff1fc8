package agent

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func TestFailureOfAModelCallIsRecordedAndTyped(t *testing.T) {
	limited := &llm.ProviderError{Provider: "acme", Status: 429, Message: "slow down", Retryable: true}
	partly := func(end llm.Delta) reply {
		return deltas(append(callDeltas(call{"a", "look", `{}`}), text("part"), end)...)
	}
	for _, c := range []struct {
		name  string
		reply reply
		want  string
		check func(*llm.ProviderError) bool
	}{
		{"an error of the provider", fail(limited), "assistant [error: acme: HTTP 429: slow down]", func(e *llm.ProviderError) bool { return e == limited }},
		{"any other error", fail(io.ErrUnexpectedEOF), "assistant [error: acme: unexpected EOF]", func(e *llm.ProviderError) bool { return errors.Is(e, io.ErrUnexpectedEOF) }},
		{"an error in mid-stream", func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
			if yield(text("well, "), nil) {
				yield(llm.Delta{}, limited)
			}
		}, "assistant: well,  [error: acme: HTTP 429: slow down]", func(e *llm.ProviderError) bool { return e == limited }},
		{"a stream that just ends", deltas(append(callDeltas(call{"a", "look", `{}`}), text("part"))...), "assistant: part [error: acme: the answer was cut off]", func(e *llm.ProviderError) bool { return e.Retryable }},
		{"silence", deltas(), "assistant [error: acme: the answer was cut off]", func(e *llm.ProviderError) bool { return e.Retryable }},
		{"a crash", func(context.Context, *llm.Request, func(llm.Delta, error) bool) { panic("nil map") }, "assistant [error: acme: the client crashed: nil map]", func(*llm.ProviderError) bool { return true }},
		{"a refusal", partly(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Raw: "refusal", Message: "I cannot"}}), "assistant: part [error: acme: refusal: I cannot]", func(e *llm.ProviderError) bool { return e.Type == "refusal" && !e.Retryable }},
		{"a refusal without a word", partly(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Raw: "content_filter"}}), `assistant: part [error: acme: content_filter: the model ended its answer as refusal]`, func(*llm.ProviderError) bool { return true }},
		{"an answer that says it failed", partly(stop(message.StopAborted)), `assistant: part [error: acme: the model ended its answer as aborted]`, func(*llm.ProviderError) bool { return true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &log{}
			r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{l}}, c.reply)
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			var provider *llm.ProviderError
			if !errors.As(err, &provider) || !c.check(provider) {
				t.Errorf("error %#v", err)
			}
			r.wantTalk("user: go", c.want)
			if got := strings.Join(l.kinds[len(l.kinds)-5:], " "); got != "message_end turn_end agent_before_settle agent_end agent_settled" {
				t.Errorf("last events: %s", got)
			}
			r.wantGoesOn()
		})
	}
}

func TestModelThatCannotBeAskedIsAFailureToo(t *testing.T) {
	r := newHarness(t, Options{})
	r.Models().Register(llm.ProviderSpec{Name: "acme", Key: func(context.Context) (string, error) { return "", errors.New("no such variable") }})
	var provider *llm.ProviderError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &provider) || !strings.Contains(provider.NextStep, "providers.acme") {
		t.Errorf("key: %v", err)
	}
	r.SetModel(t.Context(), &llm.Model{Provider: "nobody", ID: "x", API: "none"}, "set")
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &provider) || provider.Provider != "nobody" {
		t.Errorf("client: %v", err)
	}
	r.wantTalk("user: go", "assistant [error: acme: no such variable]", "user: go", `assistant [error: nobody: model nobody/x: there is no provider "nobody" (any more)]`)
}

func TestRequestSaysWhatIsAsked(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("look")}}, say("hi"))
	model := &llm.Model{Provider: "acme", ID: "big", API: "test", MaxTokens: 99, Reasoning: true}
	r.Models().Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(model), Key: func(context.Context) (string, error) { return "k", nil }})
	r.SetModel(t.Context(), model, "set")
	if err := r.SetThinking(t.Context(), "high"); err != nil {
		t.Fatal(err)
	}
	r.prompt("go")
	q := r.model.requests[0]
	if q.Model != model || q.Thinking != "high" || q.MaxTokens != 99 || q.APIKey != "k" || q.SessionID != r.Session().ID() || len(q.Tools) != 1 || q.System == "" {
		t.Errorf("%+v", q)
	}
	if provider, id := r.Session().Model(); provider+id != "acmebig" || r.Session().ThinkingLevel() != "high" {
		t.Error("the session does not say who was asked")
	}
	if strings.Contains(r.file(), `"k"`) {
		t.Error("the key is in the file")
	}
}

func TestListenersSeeTheAnswerGrowAndMayReplaceIt(t *testing.T) {
	var seen []string
	replace := on(func(e *MessageEnd) {
		if e.Message.Text() == "abc" {
			m := e.Message.Clone()
			m.Content, m.Usage = []message.Block{message.TextBlock("xyz")}, nil
			e.Message = m
		} else {
			e.Message = &message.Message{Role: message.RoleUser}
		}
	})
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Output: 3}}
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *MessageUpdate) { seen = append(seen, e.Delta.Text+"/"+e.Message().Text()) }), replace}},
		deltas(llm.Delta{}, text("a"), usage, text("bc"), stop(message.StopEnd)), say("other"))
	r.prompt("one")
	r.prompt("two")
	if got := strings.Join(seen, " "); got != "a/a bc/abc /abc other/other /other" {
		t.Errorf("updates %s", got)
	}
	r.wantTalk("user: one", "assistant: xyz", "user: two", "assistant: other")
	if m := r.Session().Context()[1].Message; m.Usage == nil || m.Usage.Output != 3 {
		t.Errorf("usage %+v", m.Usage)
	}
}

func TestAssemblyJoinsDeltasIntoBlocks(t *testing.T) {
	thinking := func(i int, s string) llm.Delta { return llm.Delta{Kind: llm.DeltaThinking, Index: i, Text: s} }
	signature := func(i int, s string) llm.Delta { return llm.Delta{Kind: llm.DeltaSignature, Index: i, Text: s} }
	for _, c := range []struct {
		name   string
		deltas []llm.Delta
		want   []message.Block
		broken string
	}{
		{"nothing", nil, nil, ""},
		{"text in pieces, and empty text", []llm.Delta{text("a"), {Kind: llm.DeltaText, Index: 7}, text("b")}, []message.Block{{Type: "text", Text: "ab"}}, ""},
		{"blocks in order of their first delta", []llm.Delta{thinking(5, "hm"), {Kind: llm.DeltaText, Index: 2, Text: "x"}, thinking(5, "m")},
			[]message.Block{{Type: "thinking", Text: "hmm"}, {Type: "text", Text: "x"}}, ""},
		{"signature after, before and alone", []llm.Delta{thinking(1, "a"), signature(1, "s"), signature(2, "t"), {Kind: llm.DeltaText, Index: 2, Text: "b"}, signature(3, "u")},
			[]message.Block{{Type: "thinking", Text: "a", Signature: "s"}, {Type: "text", Text: "b", Signature: "t"}, {Type: "thinking", Signature: "u"}}, ""},
		{"the whole in place of pieces", []llm.Delta{text("a"), {Kind: llm.DeltaWhole, Text: "bc"}, {Kind: llm.DeltaToolCall, Index: 2, ID: "i", Name: "n", Text: "{"}, {Kind: llm.DeltaWhole, Index: 2, Text: `{"b":2}`}},
			[]message.Block{{Type: "text", Text: "bc"}, {Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{"b":2}`)}}, ""},
		{"redacted", []llm.Delta{{Kind: llm.DeltaRedacted, Text: "xx"}, {Kind: llm.DeltaRedacted, Text: "yy"}}, []message.Block{{Type: "thinking", Redacted: true, Signature: "xxyy"}}, ""},
		{"a call in pieces", []llm.Delta{{Kind: llm.DeltaToolCall, ID: "i", Name: "n"}, {Kind: llm.DeltaToolCall, Text: `{"a":`}, {Kind: llm.DeltaToolCall, Text: `1}`}},
			[]message.Block{{Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{"a":1}`)}}, ""},
		{"a call without arguments", callDeltas(call{"i", "n", " "}), []message.Block{{Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{}`)}}, ""},
		{"null is no arguments", callDeltas(call{"i", "n", "null"}), []message.Block{{Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{}`)}}, ""},
		{"a call cut short", callDeltas(call{"i", "n", `{"a"`}), []message.Block{{Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{}`)}}, `{"a"`},
		{"arguments that are a list", callDeltas(call{"i", "n", `[1]`}), []message.Block{{Type: "toolCall", ID: "i", Name: "n", Arguments: input(`{}`)}}, `[1]`},
	} {
		var a llm.Assembly
		for _, d := range c.deltas {
			a.Add(d)
		}
		content, broken := a.Content()
		if len(content) != len(c.want) {
			t.Errorf("%s: %+v", c.name, content)
			continue
		}
		for i, b := range content {
			w := c.want[i]
			if b.Type != w.Type || b.Text != w.Text || b.Signature != w.Signature || b.Redacted != w.Redacted || b.ID != w.ID || b.Name != w.Name || string(b.Arguments) != string(w.Arguments) {
				t.Errorf("%s: block %d is %+v, want %+v", c.name, i, b, w)
			}
		}
		if broken["i"] != c.broken {
			t.Errorf("%s: broken %q", c.name, broken)
		}
	}
}

func TestProviderErrorNamesWhatItKnows(t *testing.T) {
	for _, c := range []struct {
		e    llm.ProviderError
		want string
	}{
		{llm.ProviderError{Provider: "p", Message: "m"}, "p: m"},
		{llm.ProviderError{Provider: "p", Status: 500}, "p: HTTP 500"},
		{llm.ProviderError{Provider: "p", Status: 400, Type: "bad", Code: "c", Message: "m"}, "p: HTTP 400 bad: m"},
		{llm.ProviderError{Provider: "p", Code: "c", Message: "m"}, "p: c: m"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestNothingIsSentToAProviderThatIsGone(t *testing.T) {
	r := newHarness(t, Options{}, say("never"))
	r.Models().Unregister("acme")
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	if err == nil || !strings.Contains(err.Error(), `there is no provider "acme" (any more)`) || len(r.model.requests) != 0 {
		t.Errorf("%v, %d requests", err, len(r.model.requests))
	}
}

// fragile is a tool that crashes when somebody looks at it once more.
type fragile struct {
	*fakeTool
	broken bool
}

func (f *fragile) Spec() llm.ToolSpec {
	if f.broken {
		panic("no spec")
	}
	return f.fakeTool.Spec()
}

func TestACrashWhileARequestIsMadeIsAFailedAnswer(t *testing.T) {
	look := &fragile{fakeTool: echo("look")}
	r := newHarness(t, Options{Tools: []Tool{look}})
	r.Models().Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(r.Model()),
		Key: func(context.Context) (string, error) { look.broken = true; return "sk-1", nil }})
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	look.broken = false
	if want := "acme: the client crashed: no spec"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	r.wantTalk("user: go", "assistant [error: acme: the client crashed: no spec]")
}
