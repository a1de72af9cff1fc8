package agent

import (
	"context"
	"errors"
	"testing"
)

func TestOneAtATimeOccupiesTheAgent(t *testing.T) {
	var a activity
	ctx, err := a.begin(t.Context())
	if err != nil || a.isIdle() {
		t.Fatal("nobody has it", err)
	}
	if _, err := a.begin(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one begins: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.waitIdle(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who does not want to wait waits: %v", err)
	}
	a.abort()
	if ctx.Err() == nil {
		t.Error("it is not interrupted")
	}
	waited := make(chan error)
	go func() { waited <- a.waitIdle(t.Context()) }()
	a.end()
	if err := <-waited; err != nil || !a.isIdle() {
		t.Errorf("idle %t, %v", a.isIdle(), err)
	}
	a.abort() // nobody
	if _, err := a.begin(t.Context()); err != nil {
		t.Error(err)
	}
	a.end()
}
