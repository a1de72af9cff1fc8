package luavm

import (
	"context"
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

// MaxLua bounds what Lua itself takes, whatever a job waits for and whatever its Timeout is.
func TestLuaMayBeBoundedBesideTheWholeJob(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]Clock{"whole job": WholeJob, "counted Lua": CountedLua} {
		for _, timeout := range []time.Duration{0, time.Hour} {
			h := newHook(t, Options{MaxLua: 50 * time.Millisecond})
			e := h.failure(t, "while true do end", func(j *Job) { j.Timeout, j.Clock = timeout, clock })
			if e.Kind != Timeout || e.Message != "stopped: ran longer than 50ms" {
				t.Errorf("%s, %v: %v", name, timeout, e)
			}
		}
	}
}

func TestWhatIsWaitedForIsNoLua(t *testing.T) {
	t.Parallel()
	h := newHook(t, Options{MaxLua: 100 * time.Millisecond})
	h.SetGlobal("wait", h.Func("wait", func(ctx context.Context) error {
		select {
		case <-time.After(400 * time.Millisecond): // what is measured here is time
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	if err := h.do("wait() done = true", func(j *Job) { j.Timeout = time.Hour }); err != nil {
		t.Error(err)
	}
}

// The environment and the time of a VM may be others than those of the process.
func TestTheEnvironmentAndTheTimeAreOptions(t *testing.T) {
	t.Parallel()
	h := newHook(t, Options{
		Getenv: func(name string) string { return map[string]string{"HOME": "/h"}[name] },
		Now:    func() time.Time { return time.Unix(86400, 0) },
	})
	h.must(t, `
assert(os.getenv("HOME") == "/h" and os.getenv("PATH") == nil)
assert(os.time() == 86400 and os.date("!%Y-%m-%d") == "1970-01-02" and os.date("!%H", 7200) == "02")`)
}
