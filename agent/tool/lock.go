package tool

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// locks makes changes of one file wait for each other.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	turn  chan struct{} // holds one token while free
	users int           // holders and waiters
}

func newLocks() *locks { return &locks{held: map[string]*lock{}} }

// take waits until nobody else changes path, which is a real path, and returns
// what ends the turn.
func (l *locks) take(ctx context.Context, path string) (release func(), err error) {
	// Where names differ only by case or Unicode form they may be one file;
	// taking two files for one costs no more than a wait.
	key := strings.ToLower(norm.NFC.String(path))
	l.mu.Lock()
	k := l.held[key]
	if k == nil {
		k = &lock{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		l.held[key] = k
	}
	k.users++
	l.mu.Unlock()

	select {
	case <-k.turn:
		return func() { k.turn <- struct{}{}; l.leave(key) }, nil
	case <-ctx.Done():
		l.leave(key)
		return nil, ctx.Err()
	}
}

func (l *locks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.held[key]; k.users == 1 {
		delete(l.held, key)
	} else {
		k.users--
	}
}
