package anthropic

import (
	"bytes"
	"context"
	"io"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

// taken is the answer of a server that had nothing to complain about.
var taken = events(begin, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"taken"}}`, ends("end_turn"), endStop)

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckMessages, taken)
	own, foreign := model("large-1"), model("claude-sonnet-4-5")
	own.Provider = "acme"
	for _, m := range []*llm.Model{own, foreign} {
		m.BaseURL = s.URL
		for i, messages := range wiretest.Resumed(t) {
			r := &llm.Request{Model: m, APIKey: "k", Thinking: "low", System: "be nice", Messages: messages}
			if a := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); a.Err != nil || a.Text(message.BlockText) != "taken" {
				t.Errorf("%s, the first %d entries: %s", m.ID, i, a)
			}
		}
	}
}

func TestRecordedAnswersThatWereInterruptedAreTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckMessages, taken)
	for _, f := range wiretest.Folders(t, recordedAPI) {
		a := f.Ask(New(f.Client(func() io.Reader { return bytes.NewReader(f.Body) })), "http://model.test")
		if a.Err != nil {
			continue // such an answer is never sent again
		}
		m := model("claude-sonnet-4-5")
		m.BaseURL = s.URL
		for _, from := range []*llm.Model{m, {Provider: "other", ID: "other", API: "other"}} {
			r := &llm.Request{Model: m, APIKey: "k", Messages: wiretest.Interrupted(t, a, from, 2)}
			if b := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); b.Err != nil || b.Text(message.BlockText) != "taken" {
				t.Errorf("%s after %s: %s", f.ID, from.Provider, b)
			}
		}
	}
}
