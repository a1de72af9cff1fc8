package responses

import (
	"bytes"
	"context"
	"io"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

var taken = events(piece(textKind, 0, 0, "taken"), completed(""))

// taker is a model at a server that takes nothing that is wrong.
func taker(t *testing.T, provider, id string, compat map[string]any) (*llm.Model, func(*llm.Request) wiretest.Answer) {
	s := wiretest.Strict(t, wiretest.CheckResponses, taken)
	m := modelOf(provider, id, s.URL+"/v1")
	m.Compat = compat
	return m, func(r *llm.Request) wiretest.Answer {
		return wiretest.Collect(New(s.Client()).Stream(context.Background(), r))
	}
}

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	for _, compat := range []map[string]any{nil, {"instructions": true, "tool_result_images": false}, {"message_ids": true}} {
		for _, id := range []string{"large-1", "other-1", "third"} {
			m, ask := taker(t, "acme", id, compat)
			for i, messages := range wiretest.Resumed(t) {
				if a := ask(&llm.Request{Model: m, System: "be nice", Messages: messages}); a.Err != nil || a.Text(message.BlockText) != "taken" {
					t.Errorf("%s %v, the first %d entries: %s", id, compat, i, a)
				}
			}
		}
	}
}

func TestRecordedAnswersThatWereInterruptedAreTakenByAStrictServer(t *testing.T) {
	for _, f := range wiretest.Folders(t, recordedAPI) {
		a := f.Ask(New(f.Client(func() io.Reader { return bytes.NewReader(f.Body) })), "http://model.test")
		if a.Err != nil {
			continue // such an answer is never sent again
		}
		m, ask := taker(t, f.Provider, "m", nil)
		for _, from := range []*llm.Model{m, {Provider: "other", ID: "other", API: "other"}} {
			r := &llm.Request{Model: m, APIKey: "k", Messages: wiretest.Interrupted(t, a, from, 2)}
			if b := ask(r); b.Err != nil || b.Text(message.BlockText) != "taken" {
				t.Errorf("%s after %s: %s", f.ID, from.Provider, b)
			}
		}
	}
}
