package anthropic

import (
	"context"
	"testing"

	"pi/agent"
	"pi/agent/provider/wiretest"
	"pi/session"
)

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckMessages, events(begin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"taken"}}`, ends("end_turn"), endStop))
	own, foreign := model("large-1"), model("claude-sonnet-4-5")
	own.Provider = "acme"
	for _, m := range []*agent.Model{own, foreign} {
		m.BaseURL = s.URL
		for i, messages := range wiretest.Resumed(t) {
			r := &agent.Request{Model: m, APIKey: "k", Thinking: "low", System: "be nice", Messages: messages}
			if a := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); a.Err != nil || a.Text(session.BlockText) != "taken" {
				t.Errorf("%s, the first %d entries: %s", m.ID, i, a)
			}
		}
	}
}
