package exitwait

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// plainly shows nothing.
func plainly(ctx context.Context, _ *Work, wait func(context.Context)) { wait(ctx) }

// end waits for the list, and returns how long that took and what was cut off.
func end(l *List, show Show) (took time.Duration, cut []string) {
	began := time.Now()
	l.Wait(show, func(w *Work, why string) { cut = append(cut, w.Text+": "+why) })
	return time.Since(began), cut
}

func TestTheEndWaitsForWhatIsOpen(t *testing.T) {
	all := errors.New("all have 10s")
	for _, c := range []struct {
		name  string
		begin func(l *List)
		show  Show
		allow time.Duration // 0: nothing
		took  time.Duration
		cut   []string
	}{
		{"nothing", func(*List) {}, plainly, 10 * time.Second, 0, nil},
		{"done before", func(l *List) { l.Begin("h", "p", "a", 0).End() }, plainly, 10 * time.Second, 0, nil},
		{"done in time", func(l *List) { time.AfterFunc(3*time.Second, l.Begin("h", "p", "a", 0).End) }, plainly, 10 * time.Second, 3 * time.Second, nil},
		{"one after the other", func(l *List) {
			time.AfterFunc(5*time.Second, l.Begin("h", "p", "a", 0).End)
			time.AfterFunc(2*time.Second, l.Begin("g", "q", "b", 0).End)
		}, plainly, 10 * time.Second, 5 * time.Second, nil},
		{"never", func(l *List) { l.Begin("h", "p", "a", 0); l.Begin("g", "q", "b", 0) }, plainly, 10 * time.Second, 10 * time.Second,
			[]string{"a: all have 10s", "b: all have 10s"}},
		{"its own time", func(l *List) {
			l.Begin("h", "p", "a", time.Second)
			time.AfterFunc(3*time.Second, l.Begin("g", "q", "b", 0).End)
		}, plainly, 10 * time.Second, 3 * time.Second, []string{"a: its time is over (1s)"}},
		{"nobody may wait", func(l *List) { l.Begin("h", "p", "a", 0) }, plainly, 0, 0, []string{"a: the end waits for nothing here"}},
		{"cut short", func(l *List) { l.Begin("h", "p", "a\x1b[2J", 0); l.Begin("g", "q", "b", time.Second) }, func(ctx context.Context, _ *Work, wait func(context.Context)) {
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()
			wait(ctx)
		}, 10 * time.Second, 500 * time.Millisecond, []string{"a: you cut it short", "b: you cut it short"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l List
				if c.allow > 0 {
					ctx, cancel := context.WithTimeoutCause(t.Context(), c.allow, all)
					defer cancel()
					l.Allow(ctx)
				}
				c.begin(&l)
				if took, cut := end(&l, c.show); took != c.took || !slices.Equal(cut, c.cut) || l.IsAny() {
					t.Errorf("took %v, cut off %q, open %v", took, cut, l.IsAny())
				}
			})
		})
	}
}

func TestWhoHasWorkOpenHasMoreTime(t *testing.T) {
	for _, c := range []struct {
		name string
		done time.Duration // of the work; 0: there is none
		ends time.Duration
	}{
		{"none", 0, 2 * time.Second},
		{"done before", time.Second, 2 * time.Second},
		{"done after", 5 * time.Second, 5*time.Second + 100*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l List
				l.Begin("other", "q", "b", 0)
				if c.done > 0 {
					time.AfterFunc(c.done, l.Begin("h", "p", "a", 0).End)
				}
				began := time.Now()
				ctx, cancel := l.Within(t.Context(), "p", began.Add(2*time.Second), 100*time.Millisecond)
				defer cancel()
				<-ctx.Done()
				if took := time.Since(began); took != c.ends {
					t.Errorf("it ended after %v, want %v", took, c.ends)
				}
			})
		})
	}
}
