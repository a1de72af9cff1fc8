package app

import (
	"testing"
	"time"
)

func TestTimesHaveFewDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 850: "850ns", 4200: "4.2µs", 61 * time.Microsecond: "61µs", 120 * time.Microsecond: "120µs",
		2 * time.Millisecond: "2.0ms", 1500 * time.Millisecond: "1.5s", 95 * time.Second: "95s",
	} {
		if got := short(d); got != want {
			t.Errorf("%d ns is %q, want %q", d, got, want)
		}
	}
}
