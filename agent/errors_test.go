package agent

import (
	"testing"
	"time"
)

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

func TestTimesAreShortForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 3 * time.Second: "3s", 1500 * time.Millisecond: "1.5s", time.Minute: "1m", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", time.Hour: "1h", 61 * time.Minute: "1h1m", time.Hour + 20*time.Second: "1h0m20s",
	} {
		if got := shortTime(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
