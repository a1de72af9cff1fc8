package tool

import (
	"context"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// locks makes changes of one file wait for each other.
type locks struct {
	mu     sync.Mutex // guards byPath and the users of each lock
	byPath map[string]*lock
}

type lock struct {
	turn  chan struct{} // has one token while nobody has the lock
	users int           // who has it or waits for it
}

// lock waits until nobody else changes path, which is a real path, or ctx ends. The
// caller calls release when the change is made.
func (l *locks) lock(ctx context.Context, path string) (release func(), err error) {
	// Where names differ only by case or Unicode form they may be one file;
	// treating two files as one costs no more than a wait.
	key := strings.ToLower(norm.NFC.String(path))
	l.mu.Lock()
	k := l.byPath[key]
	if k == nil {
		k = &lock{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		l.byPath[key] = k
	}
	k.users++
	l.mu.Unlock()

	select {
	case <-k.turn:
		return func() { k.turn <- struct{}{}; l.unlock(key) }, nil
	case <-ctx.Done():
		l.unlock(key)
		return nil, ctx.Err()
	}
}

// unlock drops the lock of a path that nobody has or waits for any more.
func (l *locks) unlock(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.byPath[key]; k.users == 1 {
		delete(l.byPath, key)
	} else {
		k.users--
	}
}
