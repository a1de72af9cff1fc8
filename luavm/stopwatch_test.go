package luavm

import (
	"testing"
	"time"
)

func TestAStopwatchCountsItsStretches(t *testing.T) {
	at := time.Unix(1e9, 0)
	var w stopwatch
	w.start(at)
	if got := w.elapsed(at.Add(3 * time.Second)); got != 3*time.Second {
		t.Errorf("while it runs: %v", got)
	}
	w.stop(at.Add(5 * time.Second))
	w.add(time.Minute)
	w.start(at.Add(time.Hour))
	if got := w.elapsed(at.Add(time.Hour + time.Second)); got != time.Minute+6*time.Second {
		t.Errorf("in its second stretch: %v", got)
	}
	if got := w.stretch.Load(); got != 2 {
		t.Errorf("stretch %d", got)
	}
}
