package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func TestAnAnswerThatIsTooLongEndsWithAnErrorAndIsNotAskedForAgain(t *testing.T) {
	const limit = 10_000
	much := strings.Repeat("x", limit)
	many := func(of func(i int) llm.Delta) (ds []llm.Delta) {
		for i := range 12 {
			ds = append(ds, of(i))
		}
		return ds
	}
	for name, c := range map[string]struct {
		deltas []llm.Delta
		want   string // of the answer that stands; "": it is too long
	}{
		"text":           {[]llm.Delta{text(much)}, ""},
		"thoughts":       {[]llm.Delta{{Kind: llm.DeltaThinking, Text: much}}, ""},
		"arguments":      {[]llm.Delta{{Kind: llm.DeltaToolCall, ID: "1", Name: "read", Text: `{"path":"` + much + `"}`}}, ""},
		"a name":         {[]llm.Delta{{Kind: llm.DeltaToolCall, ID: "1", Name: much}}, ""},
		"a signature":    {[]llm.Delta{{Kind: llm.DeltaSignature, Text: much}}, ""},
		"what is hidden": {[]llm.Delta{{Kind: llm.DeltaRedacted, Text: much}}, ""},
		"small pieces":   {many(func(int) llm.Delta { return text(much[:limit/10]) }), ""},
		"small blocks":   {many(func(i int) llm.Delta { return llm.Delta{Kind: llm.DeltaToolCall, Index: i, ID: "1", Name: "read"} }), ""},
		"a refusal":      {[]llm.Delta{{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Message: much + "x"}}}, ""},
		"just within":    {[]llm.Delta{text(much[blockSize:])}, much[blockSize:]},
		"said anew":      {many(func(int) llm.Delta { return llm.Delta{Kind: llm.DeltaWhole, Text: much[blockSize:]} }), much[blockSize:]},
		"signed and said anew": {many(func(i int) llm.Delta {
			return llm.Delta{Kind: []llm.DeltaKind{llm.DeltaSignature, llm.DeltaWhole}[i%2], Text: much[:limit/5]}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := &retries{}
			settings := Settings{MaxAnswerBytes: limit, Retry: RetrySettings{MaxAttempts: 3}}
			r := newRig(t, Options{Settings: settings, Listeners: []Listener{l}}, deltas(append(c.deltas, stop(message.StopEnd))...))
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			if c.want != "" {
				r.wantTalk("user: go", "assistant: "+c.want)
				return
			}
			var tooLong *LimitError
			if !errors.As(err, &tooLong) || tooLong.Limit != "max_answer_bytes" || !strings.Contains(err.Error(), "longer than 10000 bytes (max_answer_bytes in config.toml; 0: no limit)") {
				t.Errorf("the error is %v", err)
			}
			if len(l.starts) > 0 {
				t.Error("it was asked for again")
			}
		})
	}
}

func TestOfAnAnswerThatIsTooLongTheBeginningIsKept(t *testing.T) {
	r := newRig(t, Options{Settings: Settings{MaxAnswerBytes: 1 << 20}}, deltas(text(strings.Repeat("é", 1<<19-1024)),
		llm.Delta{Kind: llm.DeltaToolCall, Index: 1, ID: "1", Name: "read"}, llm.Delta{Kind: llm.DeltaToolCall, Index: 1, Text: strings.Repeat("x", 1<<12)}))
	var tooLong *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &tooLong) {
		t.Fatal(err)
	}
	r.wantTalk("user: go", "assistant: "+strings.Repeat("é", keptOfLong/2)+" … [error: "+tooLong.Message+"]")
}

func TestTheLimitHoldsForWhatIsAskedAside(t *testing.T) {
	for limit, want := range map[int]bool{5000: true, 0: false} {
		r := newRig(t, Options{Settings: Settings{MaxAnswerBytes: limit}}, say(strings.Repeat("x", 6000)))
		_, err := r.Complete(t.Context(), Completion{Messages: userItems("go")})
		var tooLong *LimitError
		if errors.As(err, &tooLong) != want {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestWhatAProviderHoldsBackCountsToo(t *testing.T) {
	r := newRig(t, Options{Settings: Settings{MaxAnswerBytes: 100, Retry: RetrySettings{MaxAttempts: 3}}}, fail(fmt.Errorf("read: %w", llm.ErrAnswerTooLong)))
	var tooLong *LimitError
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.As(err, &tooLong) || tooLong.Limit != "max_answer_bytes" {
		t.Errorf("the error is %v", err)
	}
}
