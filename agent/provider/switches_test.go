package provider_test

import (
	"testing"

	"pi/agent/provider"
	"pi/agent/provider/anthropic"
	"pi/agent/provider/google"
	"pi/agent/provider/openai"
	"pi/agent/provider/responses"
)

func TestEveryRowOfTheTableTurnsASwitchOfItsAPI(t *testing.T) {
	checks := map[string]func(map[string]any) error{
		"anthropic-messages": anthropic.CheckCompat, "openai-completions": openai.CheckCompat,
		"openai-responses": responses.CheckCompat, "google-generative-ai": google.CheckCompat,
	}
	seen := map[string]int{}
	provider.Rows(func(api, name string, value any) bool {
		seen[api]++
		if err := checks[api](map[string]any{name: value}); err != nil {
			t.Errorf("%s: %v", api, err)
		}
		return true
	})
	if len(seen) != len(checks) {
		t.Errorf("rows: %v", seen)
	}
}
