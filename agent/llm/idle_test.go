package llm

import (
	"context"
	"iter"
	"testing"
	"time"
)

// The timer may fire in the very moment in which the answer ends, while it is a
// listener's turn.
func TestNothingIsTimedOnceTheAnswerIsThere(t *testing.T) {
	ended := false
	w := &silence{limit: time.Hour, began: time.Now(), end: func(error) { ended = true }}
	stop := w.start()
	w.pause()
	w.expire()
	if !w.timer.Stop() {
		t.Error("a listener's turn ends the watch")
	}
	stop()
	w.expire()
	if w.timer.Stop() || ended {
		t.Errorf("after its end the watch goes on, or ended something: %v", ended)
	}
}

type deltaSource []Delta

func (s deltaSource) Stream(context.Context, *Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for i := range s {
			if !yield(s[i], nil) {
				return
			}
		}
	}
}

// BenchmarkDeltasWatched is what it costs to watch an answer of 20,000 deltas for
// silence, and what the answer costs without.
func BenchmarkDeltasWatched(b *testing.B) {
	source := make(deltaSource, 20_000)
	for i := range source {
		source[i] = Delta{Kind: DeltaText, Text: "word "}
	}
	for name, limit := range map[string]time.Duration{"watched": 2 * time.Minute, "unwatched": 0} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for range WithPatience(b.Context(), source, &Request{}, Patience{limit, 5 * limit}) {
					n++
				}
				if n != len(source) {
					b.Fatal(n)
				}
			}
		})
	}
}

func TestTimesAreShortForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 3 * time.Second: "3s", 1500 * time.Millisecond: "1.5s", time.Minute: "1m", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", time.Hour: "1h", 61 * time.Minute: "1h1m", time.Hour + 20*time.Second: "1h0m20s",
	} {
		if got := ShortTime(d); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
