package google

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
var taken = events(says1("taken", "STOP"))

// targets are a model that signs and one that need not, each with the server that
// is as strict about it.
func targets(t *testing.T) map[*llm.Model]llm.Provider {
	all := map[*llm.Model]llm.Provider{}
	for id, check := range map[string]func([]byte) error{"gemini-2.5-pro": wiretest.CheckGemini, "gemini-3-pro-preview": wiretest.CheckSignedGemini} {
		s := wiretest.Strict(t, check, taken)
		m := model(id)
		m.BaseURL = s.URL
		all[m] = New(s.Client())
	}
	return all
}

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	for m, p := range targets(t) {
		own := *m
		own.ID, own.Provider = "large-1", "acme" // who speaks in the session
		own.Compat = map[string]any{"placeholder_signature": true}
		for _, target := range []*llm.Model{m, &own} {
			for i, messages := range wiretest.Resumed(t) {
				r := &llm.Request{Model: target, APIKey: "k", Thinking: "low", System: "be nice", Messages: messages}
				if a := wiretest.Collect(p.Stream(context.Background(), r)); a.Err != nil || a.Text(message.BlockText) != "taken" {
					t.Errorf("%s, the first %d entries: %s", target.ID, i, a)
				}
			}
		}
	}
}

func TestRecordedAnswersThatWereInterruptedAreTakenByAStrictServer(t *testing.T) {
	for m, p := range targets(t) {
		for _, f := range wiretest.Folders(t, recordedAPI) {
			a := f.Ask(New(f.Client(func() io.Reader { return bytes.NewReader(f.Body) })), "http://model.test")
			if a.Err != nil {
				continue // such an answer is never sent again
			}
			for _, from := range []*llm.Model{m, {Provider: "other", ID: "other", API: "other"}} {
				r := &llm.Request{Model: m, APIKey: "k", Messages: wiretest.Interrupted(t, a, from, 2)}
				if b := wiretest.Collect(p.Stream(context.Background(), r)); b.Err != nil || b.Text(message.BlockText) != "taken" {
					t.Errorf("%s: %s after %s: %s", m.ID, f.ID, from.Provider, b)
				}
			}
		}
	}
}
