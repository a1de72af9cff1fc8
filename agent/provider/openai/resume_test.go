package openai

import (
	"bytes"
	"context"
	"io"
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
	"pi/session/message"
)

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckChat, chunkOf(`{"content":"taken"}`)+end)
	for _, compat := range []map[string]any{nil, {"cache_control": true}, {"null_content": false, "string_content": true, "tool_call_ids": "nine"}} {
		for _, id := range []string{"large-1", "other-1", "third"} {
			m := modelOf("acme", id, s.URL+"/v1")
			m.Compat = compat
			for i, messages := range wiretest.Resumed(t) {
				r := &llm.Request{Model: m, System: "be nice", Messages: messages}
				if a := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); a.Err != nil || a.Text(message.BlockText) != "taken" {
					t.Errorf("%s %v, the first %d entries: %s", id, compat, i, a)
				}
			}
		}
	}
}

func TestRecordedAnswersThatWereInterruptedAreTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckChat, chunkOf(`{"content":"taken"}`)+end)
	for _, f := range wiretest.Folders(t, recordedAPI) {
		a := f.Ask(New(f.Client(func() io.Reader { return bytes.NewReader(f.Body) })), "http://model.test")
		if a.Err != nil {
			continue // such an answer is never sent again
		}
		m := modelOf(f.Provider, "m", s.URL+"/v1")
		for _, from := range []*llm.Model{m, {Provider: "other", ID: "other", API: "other"}} {
			r := &llm.Request{Model: m, APIKey: "k", Messages: wiretest.Interrupted(t, a, from, 2)}
			if b := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); b.Err != nil || b.Text(message.BlockText) != "taken" {
				t.Errorf("%s after %s: %s", f.ID, from.Provider, b)
			}
		}
	}
}
