package luavm

import (
	"context"
	"errors"
	"testing"
)

func TestOneJobAtATimeHasItsTurn(t *testing.T) {
	dead := make(chan struct{})
	lock := newLock(new(job), dead)
	first, late := new(job), &job{detached: make(chan struct{})}
	first.parent = context.Background()
	if err := lock.acquire(first); err != nil {
		t.Fatal(err)
	}
	close(late.detached)
	if lock.reacquire(late) {
		t.Error("two jobs have their turn")
	}
	lock.cur.Store(first)
	if lock.Done() != nil {
		t.Error("a job that runs is done")
	}
	first.worker = &worker{woken: make(chan struct{}, 1)}
	first.stop(&Error{Message: "enough"})
	if <-lock.Done(); lock.Err().Error() != "enough" {
		t.Errorf("it was stopped because of %v", lock.Err())
	}
	lock.release()
	if lock.Done() != nil || lock.cur.Load() != lock.idle {
		t.Error("what stopped one job stops the next")
	}
	if err := lock.acquire(first); err == nil || err.Error() != "enough" {
		t.Errorf("a job that was stopped gets its turn: %v", err)
	}
}

func TestNobodyWaitsForATurnOfTheDead(t *testing.T) {
	dead := make(chan struct{})
	lock := newLock(new(job), dead)
	<-lock.token // of a job that does not end
	close(dead)
	l := &worker{woken: make(chan struct{}, 1), questions: make(chan chan<- bool)}
	go func() { (<-l.questions) <- false }()
	if err := lock.acquire(&job{worker: l, parent: context.Background()}); !errors.Is(err, ErrDead) || !lock.isDead() {
		t.Errorf("got %v", err)
	}
	if lock.reacquire(&job{detached: make(chan struct{})}) {
		t.Error("a job that waited comes back")
	}
}
