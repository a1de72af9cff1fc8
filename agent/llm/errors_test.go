package llm

import "testing"

func TestAnErrorOfAProviderSaysNothingTwice(t *testing.T) {
	for _, tt := range []struct {
		err  ProviderError
		want string
	}{
		{ProviderError{Message: "no"}, "acme: no"},
		{ProviderError{Status: 502, Code: "502", Message: "failed upstream"}, "acme: HTTP 502: failed upstream"},
		{ProviderError{Status: 429, Code: "slow_down", Message: "wait"}, "acme: HTTP 429 slow_down: wait"},
		{ProviderError{Status: 529, Type: "overloaded_error", Code: "529", Message: "Overloaded"}, "acme: HTTP 529 overloaded_error: Overloaded"},
		{ProviderError{Status: 500}, "acme: HTTP 500"},
	} {
		tt.err.Provider = "acme"
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
