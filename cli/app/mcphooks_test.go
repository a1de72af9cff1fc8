package app

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"pi/agent"
)

func TestEventsOfServersComeInOrderAndNoneBehindTheEnd(t *testing.T) {
	var q serverEvents
	event := func(i int) agent.Event { return &agent.MCPServer{Server: fmt.Sprint(i)} }
	for i := range 3 { // before there is anybody to be told
		q.put(event(i))
	}
	told := make(chan string, 10)
	var again []string
	q.begin(func(_ context.Context, e agent.Event) {
		name := e.(*agent.MCPServer).Server
		if name == "1" { // who is told may cause an event
			q.put(event(3))
		}
		told <- name
	})
	for range 4 {
		again = append(again, <-told)
	}
	q.put(event(4)) // when nothing was left to do
	again = append(again, <-told)
	if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(again, want) {
		t.Errorf("told %v", again)
	}
	q.end()
	q.put(event(5))
	if len(told) != 0 {
		t.Error("one came behind the end")
	}
}

func TestTheEndWaitsForWhoIsTold(t *testing.T) {
	var q serverEvents
	began, ended := make(chan struct{}), make(chan struct{})
	q.begin(func(ctx context.Context, _ agent.Event) {
		close(began)
		<-ctx.Done()
		close(ended)
	})
	q.put(&agent.MCPServer{})
	q.put(&agent.MCPServer{}) // is dropped, or began would be closed twice
	<-began
	q.end()
	select {
	case <-ended:
	default:
		t.Error("somebody is told behind the end")
	}
}
