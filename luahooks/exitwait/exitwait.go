// Package exitwait is what hooks still have to do when the program ends, such as to push what
// they have noted: the end waits for it, a short while, and the user sees that and can cut
// it short.
package exitwait

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pi/internal/printable"
)

// Work is one thing that a hook has to finish.
type Work struct {
	Hook string // its name
	Text string // what it does
	path string // the hook's file

	limit time.Duration // of the end; 0: that of the program alone
	list  *List
	done  chan struct{}
}

// List has the work that is open. Its methods may be called from any goroutine. The zero
// value is empty.
type List struct {
	mu    sync.Mutex
	open  []*Work
	until context.Context // nil: the end waits for nothing
}

// Begin adds work of a hook, whose file is at path. The end waits for it until [Work.End],
// and no longer than limit, unless that is 0.
func (l *List) Begin(hook, path, text string, limit time.Duration) *Work {
	w := &Work{Hook: hook, Text: printable.Line(text), path: path, limit: limit, list: l, done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, w)
	return w
}

// End says that the work is done. Every call but the first does nothing.
func (w *Work) End() {
	l := w.list
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.open, w); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
		close(w.done)
	}
}

// IsOf reports whether the work is that of the hook at path.
func (w *Work) IsOf(path string) bool { return w.path == path }

// IsAny reports whether work is open.
func (l *List) IsAny() bool { return l.first(func(*Work) bool { return true }) != nil }

// IsOpen reports whether the hook at path has work that is open.
func (l *List) IsOpen(path string) bool { return l.of(path) != nil }

func (l *List) of(path string) *Work {
	return l.first(func(w *Work) bool { return w.path == path })
}

func (l *List) first(is func(*Work) bool) *Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.open, is); i >= 0 {
		return l.open[i]
	}
	return nil
}

// Allow lets the end wait until ctx ends, whose cause says why not longer.
func (l *List) Allow(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = ctx
}

// Show calls wait, and shows meanwhile that the program waits for w. It ends the context
// that wait is given when the user has had enough.
type Show func(ctx context.Context, w *Work, wait func(context.Context))

// Wait waits until all work is done, as long as Allow said. What is not is cut off: it ends
// here, and cutOff is told why.
func (l *List) Wait(show Show, cutOff func(w *Work, why string)) {
	l.mu.Lock()
	until := l.until
	l.mu.Unlock()
	began := time.Now()
	for w := l.first(func(*Work) bool { return true }); w != nil; w = l.first(func(*Work) bool { return true }) {
		why := errNothing
		if until != nil {
			why = w.wait(until, began, show)
		}
		switch {
		case why == nil:
		case errors.Is(why, errOwn):
			cutOff(w, why.Error())
			w.End()
		default:
			for _, w := range l.all() {
				cutOff(w, why.Error())
				w.End()
			}
		}
	}
}

func (l *List) all() []*Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.open)
}

var (
	errNothing = errors.New("the end waits for nothing here")
	errUser    = errors.New("you cut it short")
	errOwn     = errors.New("its time is over")
)

// wait waits for one work, of an end that began then. The error says why it is not done.
func (w *Work) wait(until context.Context, began time.Time, show Show) error {
	ctx, cancel := until, context.CancelFunc(func() {})
	if w.limit > 0 {
		ctx, cancel = context.WithDeadlineCause(until, began.Add(w.limit), fmt.Errorf("%w (%v)", errOwn, w.limit))
	}
	defer cancel()
	show(ctx, w, func(shown context.Context) {
		select {
		case <-w.done:
		case <-shown.Done():
		}
	})
	select {
	case <-w.done:
		return nil
	default:
	}
	if ctx.Err() == nil {
		return errUser
	}
	return context.Cause(ctx)
}

// Within returns a context that ends at a deadline, or, if the hook at path has work open
// then, when that has ended; it has a grace to return in.
func (l *List) Within(ctx context.Context, path string, deadline time.Time, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(time.Until(deadline), func() {
		waited := false
		for w := l.of(path); w != nil && ctx.Err() == nil; w = l.of(path) {
			waited = true
			select {
			case <-w.done:
			case <-ctx.Done():
			}
		}
		if waited {
			select {
			case <-time.After(grace):
			case <-ctx.Done():
			}
		}
		cancel()
	})
	return ctx, func() { timer.Stop(); cancel() }
}
