package globs

import (
	"strings"
	"testing"
)

func TestOnlyGlobsWithFewCombinationsAreTried(t *testing.T) {
	for pattern, few := range map[string]bool{
		"":                                     true,
		"**/*.{go,md,txt}":                     true,
		"a,b,c":                                true,
		"{}":                                   true,
		"}{":                                   true,
		"{" + strings.Repeat("a,", 1000) + "}": true,
		"{" + strings.Repeat("a,", 2000) + "}": false,
		strings.Repeat("{a,b}", 10):            true,
		strings.Repeat("{a,b}", 11):            false,
		strings.Repeat("{a,b,c,d}", 6):         false,
		strings.Repeat("{a,", 11) + strings.Repeat("}", 11): false,
		strings.Repeat(`\{a,b\}`, 50):                       true,
		strings.Repeat("{a,b}", 1e6):                        false,
	} {
		if err := Check(pattern); (err == nil) != few {
			t.Errorf("%.40q: %v", pattern, err)
		}
	}
}
