package luavm

import (
	"context"
	"errors"
	"testing"
)

func TestOneJobAtATimeHasItsTurn(t *testing.T) {
	dead := make(chan struct{})
	turn := newTurn(new(job), dead)
	first, late := new(job), &job{detached: make(chan struct{})}
	first.parent = context.Background()
	if err := turn.acquire(first); err != nil {
		t.Fatal(err)
	}
	close(late.detached)
	if turn.reacquire(late) {
		t.Error("two jobs have their turn")
	}
	turn.cur.Store(first)
	if turn.Done() != nil {
		t.Error("a job that runs is done")
	}
	first.lane = &lane{alarm: make(chan struct{}, 1)}
	first.stop(&Error{Message: "enough"})
	if <-turn.Done(); turn.Err().Error() != "enough" {
		t.Errorf("it was stopped because of %v", turn.Err())
	}
	turn.release()
	if turn.Done() != nil || turn.cur.Load() != turn.idle {
		t.Error("what stopped one job stops the next")
	}
	if err := turn.acquire(first); err == nil || err.Error() != "enough" {
		t.Errorf("a job that was stopped gets its turn: %v", err)
	}
}

func TestNobodyWaitsForATurnOfTheDead(t *testing.T) {
	dead := make(chan struct{})
	turn := newTurn(new(job), dead)
	<-turn.token // of a job that does not end
	close(dead)
	l := &lane{alarm: make(chan struct{}, 1), questions: make(chan chan<- bool)}
	go func() { (<-l.questions) <- false }()
	if err := turn.acquire(&job{lane: l, parent: context.Background()}); !errors.Is(err, ErrDead) || !turn.isDead() {
		t.Errorf("got %v", err)
	}
	if turn.reacquire(&job{detached: make(chan struct{})}) {
		t.Error("a job that waited comes back")
	}
}
