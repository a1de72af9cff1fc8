package provider_test

import (
	"testing"

	"pi/agent/provider"
)

func TestEveryRowOfTheTableTurnsASwitchOfItsAPI(t *testing.T) {
	seen := map[string]int{}
	provider.Rows(func(api, name string, value any) bool {
		seen[api]++
		if err := wireAPI(t, api).CheckCompat(map[string]any{name: value}); err != nil {
			t.Errorf("%s: %v", api, err)
		}
		return true
	})
	if len(seen) != len(apis()) {
		t.Errorf("rows: %v", seen)
	}
}
