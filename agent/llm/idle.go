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

// errSilent is the cause of the cancellation of a request whose server is silent.
var errSilent = errors.New("silent")

// WithIdleTimeout streams the answer to r, pings included, and ends with a retryable error
// if the server sends nothing for limit; 0 means no limit. The time that the caller or the
// callbacks of r take does not count.
func WithIdleTimeout(ctx context.Context, client Provider, r *Request, limit time.Duration) iter.Seq2[Delta, error] {
	if limit <= 0 {
		return client.Stream(ctx, r)
	}
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		w := &silence{limit: limit, end: cancel, began: time.Now()}
		defer w.start()()
		for d, err := range client.Stream(ctx, w.pausedByCallbacks(r)) {
			w.pause()
			if err != nil && context.Cause(ctx) == errSilent {
				err = w.failure(r.Model)
			}
			if !yield(d, err) {
				return
			}
			w.resume()
		}
	}
}

// silence measures how long a server sends nothing, and cancels the request after limit. A
// delta only stores the time; the timer computes when it fires how much is left.
type silence struct {
	limit time.Duration
	end   context.CancelCauseFunc
	began time.Time
	since atomic.Int64 // when the wait began, counted from began; paused if nobody waits

	mu    sync.Mutex // guards the timer and its end
	timer *time.Timer
	over  bool
}

const paused = -1

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

func (w *silence) pause() { w.since.Store(paused) }

// resume begins to measure the silence of the server from now on: it has sent something,
// or a callback has returned.
func (w *silence) resume() { w.since.Store(int64(time.Since(w.began))) }

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
	w.end(errSilent)
}

// pausedByCallbacks returns a copy of r whose callbacks stop the idle timer while
// they run.
func (w *silence) pausedByCallbacks(r *Request) *Request {
	with := *r
	if body := r.Body; body != nil {
		with.Body = func(ctx context.Context, b []byte) ([]byte, error) {
			w.pause()
			defer w.resume()
			return body(ctx, b)
		}
	}
	if header := r.Header; header != nil {
		with.Header = func(ctx context.Context, h http.Header) error {
			w.pause()
			defer w.resume()
			return header(ctx, h)
		}
	}
	response := r.Response
	with.Response = func(ctx context.Context, status int, h http.Header) {
		w.pause()
		defer w.resume()
		if response != nil {
			response(ctx, status, h)
		}
	}
	return &with
}

// failure returns the error of a request that ended because the server was silent.
func (w *silence) failure(model *Model) error {
	return &ProviderError{Provider: model.Provider, Retryable: true, Err: errSilent,
		Message:  fmt.Sprintf("no sign of life for %s (stream_idle_timeout)", ShortTime(w.limit)),
		NextStep: "stream_idle_timeout in config.toml says for how many seconds a server may be silent; 0: for ever"}
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
