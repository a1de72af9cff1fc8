package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Patience is how long a server is waited for; 0 is for ever.
type Patience struct {
	Idle  time.Duration // while it sends nothing
	Quiet time.Duration // while it sends nothing that belongs to an answer: pings, comments, counts
}

// WithPatience streams the answer to r, pings included, and ends with a retryable error if
// that is more than the server is waited for. The time that the caller or the callbacks of
// r take does not count.
func WithPatience(ctx context.Context, client Provider, r *Request, p Patience) iter.Seq2[Delta, error] {
	if p.Idle <= 0 && p.Quiet <= 0 {
		return client.Stream(ctx, r)
	}
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w := p.watch(cancel)
		for _, s := range w {
			defer s.start()()
		}
		for d, err := range client.Stream(ctx, w.pausedByCallbacks(r)) {
			w.pause()
			var late *silence
			if err != nil && errors.As(context.Cause(ctx), &late) {
				err = late.failure(r.Model)
			}
			if !yield(d, err) {
				return
			}
			w.resume(&d)
		}
	}
}

// watch returns the silences that end a request.
func (p Patience) watch(end context.CancelCauseFunc) (w silences) {
	now := time.Now()
	if p.Idle > 0 {
		w = append(w, &silence{limit: p.Idle, end: end, began: now})
	}
	if p.Quiet > 0 {
		w = append(w, &silence{limit: p.Quiet, end: end, began: now, quiet: true})
	}
	return w
}

// silences are what ends one request.
type silences []*silence

func (w silences) pause() {
	for _, s := range w {
		s.pause()
	}
}

// resume goes on to measure. d is what the server has sent; nil: a callback has returned.
func (w silences) resume(d *Delta) {
	for _, s := range w {
		s.resume(!s.quiet || d != nil && d.isAnswer())
	}
}

// isAnswer reports whether a delta brings something of an answer, or its end.
func (d *Delta) isAnswer() bool { return d.Text != "" || d.Name != "" || d.Kind == DeltaStop }

// silence measures how long a server sends nothing, or nothing of an answer, and cancels
// the request after limit, with itself as the cause. A delta only stores the time; the
// timer computes when it fires how much is left.
type silence struct {
	limit time.Duration
	quiet bool // pings are silence as well
	end   context.CancelCauseFunc
	began time.Time
	since atomic.Int64 // when the wait began, counted from began; paused if nobody waits

	// Of the one who streams: what since was before the pause, and when that began.
	before, pausedAt int64

	mu    sync.Mutex // guards the timer and its end
	timer *time.Timer
	over  bool
}

const paused = -1

// Error makes a silence the cause of a cancellation.
func (w *silence) Error() string { return "silent" }

// start starts the timer that measures how long the server is silent. The function it
// returns stops it.
func (w *silence) start() (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.limit, w.expire)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
		w.timer.Stop()
	}
}

func (w *silence) pause() {
	w.before, w.pausedAt = w.since.Load(), int64(time.Since(w.began))
	w.since.Store(paused)
}

// resume begins to measure from now on if the silence was broken, else it goes on where it
// was before the pause.
func (w *silence) resume(broken bool) {
	now := int64(time.Since(w.began))
	if !broken {
		now -= w.pausedAt - w.before
	}
	w.since.Store(now)
}

// expire is called when the timer runs out. It ends the request if the server was silent
// for all that time, else it sets the timer to what is left.
func (w *silence) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	left := w.limit
	if since := w.since.Load(); since != paused {
		left -= time.Since(w.began) - time.Duration(since)
	}
	if left > 0 {
		w.timer.Reset(left)
		return
	}
	w.end(w)
}

// pausedByCallbacks returns a copy of r whose callbacks stop the timers while they run.
func (w silences) pausedByCallbacks(r *Request) *Request {
	with := *r
	if body := r.Body; body != nil {
		with.Body = func(ctx context.Context, b []byte) ([]byte, error) {
			w.pause()
			defer w.resume(nil)
			return body(ctx, b)
		}
	}
	if header := r.Header; header != nil {
		with.Header = func(ctx context.Context, h http.Header) error {
			w.pause()
			defer w.resume(nil)
			return header(ctx, h)
		}
	}
	response := r.Response
	with.Response = func(ctx context.Context, status int, h http.Header) {
		w.pause()
		defer w.resume(nil)
		if response != nil {
			response(ctx, status, h)
		}
	}
	return &with
}

// failure returns the error of a request that the silence has ended.
func (w *silence) failure(model *Model) error {
	e := &ProviderError{Provider: model.Provider, Retryable: true, Err: w,
		Message:  fmt.Sprintf("no sign of life for %s (stream_idle_timeout)", ShortTime(w.limit)),
		NextStep: "stream_idle_timeout in config.toml says for how many seconds a server may be silent; 0: for ever"}
	if w.quiet {
		e.Message = fmt.Sprintf("nothing but signs of life for %s (stream_quiet_timeout)", ShortTime(w.limit))
		e.NextStep = "stream_quiet_timeout in config.toml says for how many seconds a server may send nothing of an answer; 0: for ever"
	}
	return e
}

// ShortTime formats a duration for people without parts that are zero: 5m, not 5m0s.
func ShortTime(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
