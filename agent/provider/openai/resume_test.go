package openai

import (
	"context"
	"testing"

	"pi/agent"
	"pi/agent/provider/wiretest"
	"pi/session"
)

func TestEveryPrefixOfASessionIsTakenByAStrictServer(t *testing.T) {
	s := wiretest.Strict(t, wiretest.CheckChat, chunkOf(`{"content":"taken"}`)+end)
	for _, compat := range []map[string]any{nil, {"cache_control": true}, {"null_content": false, "string_content": true, "tool_call_ids": "nine"}} {
		for _, id := range []string{"large-1", "other-1", "third"} {
			m := modelOf("acme", id, s.URL+"/v1")
			m.Compat = compat
			for i, messages := range wiretest.Resumed(t) {
				r := &agent.Request{Model: m, System: "be nice", Messages: messages}
				if a := wiretest.Collect(New(s.Client()).Stream(context.Background(), r)); a.Err != nil || a.Text(session.BlockText) != "taken" {
					t.Errorf("%s %v, the first %d entries: %s", id, compat, i, a)
				}
			}
		}
	}
}
