package responses

import (
	"testing"

	"pi/agent/llm"
	"pi/internal/testing/wiretest"
)

func TestAGrowingConversationIsOnlyEverAddedTo(t *testing.T) {
	for _, base := range []string{"https://api.openai.com/v1", "https://openrouter.ai/api/v1", "http://127.0.0.1:1234/v1"} {
		m := modelOf("p", "m", base)
		m.Reasoning = true
		wiretest.Grows(t, m, "input", wiretest.CheckResponses, func(r *llm.Request) []byte {
			call, err := encode(r)
			if err != nil {
				t.Fatal(err)
			}
			return call.Body
		})
	}
}
