// Package filelock lets one at a time change a file: the calls of one program, and programs
// beside each other that keep the files of their locks in the same folder.
//
// A lock is of a path, whether or not there is a file, and is held by whoever has the context
// that came with it: what is called with that context may lock the same path again, one call
// at a time, and does not wait for itself. However a program ends, its locks end with it; the
// file of a lock that it left behind is taken over. Locks are for those who ask: nobody else
// is kept from writing.
package filelock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"pi/internal/safefile"

	"golang.org/x/text/unicode/norm"
)

// Locks are the locks of one program. Their methods may be called from any goroutine.
type Locks struct {
	dir string

	mu     sync.Mutex // guards byPath and the users of each turn
	byPath map[string]*turn
}

// New returns locks whose files are made in dir; "": there are none, and other programs are
// not kept out.
func New(dir string) *Locks { return &Locks{dir: dir, byPath: map[string]*turn{}} }

// turn is what calls of this program wait for first.
type turn struct {
	token chan struct{} // has one while nobody has the turn
	users int           // who has it or waits for it
}

func newTurn() *turn {
	t := &turn{token: make(chan struct{}, 1)}
	t.token <- struct{}{}
	return t
}

// hold is a lock while somebody has it.
type hold struct {
	key   string
	inner *turn // of those who lock the path again inside
	ended bool  // only with the token of inner
	outer *hold // another one that the context has; may be nil
}

type holdKey struct{}

// Lock waits until nobody else has the lock of path, which is absolute and without links, or
// ctx ends. In what is called with the context within, the lock counts as held. release waits
// for who has locked the path again inside.
func (l *Locks) Lock(ctx context.Context, path string) (within context.Context, release func(), err error) {
	return l.lock(ctx, path, l.file)
}

// LockHere is Lock for who is content with the calls of this program where the file of a lock
// cannot be made.
func (l *Locks) LockHere(ctx context.Context, path string) (within context.Context, release func(), err error) {
	return l.lock(ctx, path, func(ctx context.Context, key string) (func(), error) {
		free, err := l.file(ctx, key)
		if err != nil && ctx.Err() == nil {
			return func() {}, nil
		}
		return free, err
	})
}

// lock is Lock; file locks a path for this program among others.
func (l *Locks) lock(ctx context.Context, path string, file func(ctx context.Context, key string) (func(), error)) (context.Context, func(), error) {
	key := keyOf(path)
	outer, _ := ctx.Value(holdKey{}).(*hold)
	free, err := again(ctx, key, outer)
	if free == nil && err == nil {
		free, err = l.first(ctx, key, file)
	}
	if err != nil {
		return nil, nil, err
	}
	h := &hold{key: key, inner: newTurn(), outer: outer}
	return context.WithValue(ctx, holdKey{}, h), func() {
		<-h.inner.token
		h.ended = true
		h.inner.token <- struct{}{}
		free()
	}, nil
}

// keyOf is what paths have in common that may be one file: where names differ only by case or
// Unicode form, treating two files as one costs no more than a wait.
func keyOf(path string) string { return strings.ToLower(norm.NFC.String(path)) }

// again locks a path inside of the innermost hold of it; free is nil if there is none, or it
// has ended while something of it went on.
func again(ctx context.Context, key string, h *hold) (free func(), err error) {
	for ; h != nil; h = h.outer {
		if h.key != key {
			continue
		}
		if err := h.inner.take(ctx); err != nil {
			return nil, err
		}
		give := func() { h.inner.token <- struct{}{} }
		if !h.ended {
			return give, nil
		}
		give()
	}
	return nil, nil
}

// first locks a path that the caller does not hold: among the calls of this program, then
// among programs.
func (l *Locks) first(ctx context.Context, key string, file func(ctx context.Context, key string) (func(), error)) (free func(), err error) {
	t := l.enter(key)
	if err := t.take(ctx); err != nil {
		l.exit(key)
		return nil, err
	}
	unlock, err := file(ctx, key)
	if err != nil {
		unlock = func() {}
	}
	free = func() {
		unlock()
		t.token <- struct{}{}
		l.exit(key)
	}
	if err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// take waits for the turn, or for the end of ctx.
func (t *turn) take(ctx context.Context) error {
	select {
	case <-t.token:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enter returns the turn of a path, which the caller has or waits for until it exits.
func (l *Locks) enter(key string) *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.byPath[key]
	if t == nil {
		t = newTurn()
		l.byPath[key] = t
	}
	t.users++
	return t
}

// exit drops the turn of a path that nobody has or waits for any more.
func (l *Locks) exit(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.byPath[key]; t.users == 1 {
		delete(l.byPath, key)
	} else {
		t.users--
	}
}

// file locks a path among the programs that have the same folder. What has the name of the
// file and is none, such as a link that a tool has put there, is removed.
func (l *Locks) file(ctx context.Context, key string) (free func(), err error) {
	if l.dir == "" {
		return func() {}, nil
	}
	sum := sha256.Sum256([]byte(key))
	name := filepath.Join(l.dir, hex.EncodeToString(sum[:16])+".lock")
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is to be the file of a lock and is none: remove it", name)
		}
	}
	return safefile.LockFile(ctx, name)
}
