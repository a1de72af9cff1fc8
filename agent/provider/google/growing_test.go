package google

import (
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
)

func TestAGrowingConversationIsOnlyEverAddedTo(t *testing.T) {
	for id, check := range map[string]func([]byte) error{"gemini-2.5-pro": wiretest.CheckGemini, "gemini-3-pro-preview": wiretest.CheckSignedGemini} {
		wiretest.Grows(t, model(id), "contents", check, func(r *llm.Request) []byte {
			call, err := encode(r)
			if err != nil {
				t.Fatal(err)
			}
			return call.Body
		})
	}
}
