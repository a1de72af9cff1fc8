package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
)

// awaiting is a command of a hook that waits for a prompt for each of its words, and says what
// became of them.
func awaiting(_ agent.UI, a func() *agent.Agent) []command.Command {
	return []command.Command{{Name: "ask", Hook: "h", Run: func(ctx context.Context, args string) (command.Outcome, error) {
		var said []string
		for _, word := range strings.Fields(args) {
			settled, err := a().Await(ctx, agent.Prompt{Text: word})
			said = append(said, fmt.Sprint(settled.Outcome, " ", len(settled.Messages), " ", err))
		}
		return command.Outcome{Status: strings.Join(said, ", ")}, nil
	}}}
}

func TestACommandThatWaitsIsAnsweredWhenItsFirstPromptStarts(t *testing.T) {
	t.Parallel()
	reached, more := make(chan struct{}), make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, more)}, commands: awaiting})
	check(t, c.answerTo(prompt("1", "/ask one two")), `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`)
	<-reached
	close(more)
	check(t, c.until("notify"), `{*"message":"completed 2 <nil>, completed 2 <nil>"*`)
	if n := strings.Count(strings.Join(c.seen, "\n"), `"command":"prompt"`); n != 1 {
		t.Errorf("%d answers", n)
	}
}

func TestACommandThatJoinsARunIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	reached, more := make(chan struct{}), make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, more)}, commands: awaiting})
	c.send(prompt("1", "work"))
	<-reached
	check(t, c.answerTo(prompt("2", "/ask this")), `*"success":true,"data":{"disposition":"queued"}}`)
	close(more)
	check(t, c.until("notify"), `{*"message":"completed 4 <nil>"*`)
}

func TestAnAbortEndsTheRunOfACommandAndTheCommandGoesOn(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, nil)}, commands: awaiting})
	c.send(prompt("1", "/ask one two"))
	<-reached
	c.send(`{"id":"2","type":"abort"}`)
	check(t, c.until("notify"), `{*"message":"aborted 2 <nil>, completed 2 <nil>"*`)
}

func TestACommandWhosePromptsAreRefusedIsAnsweredAtItsEnd(t *testing.T) {
	t.Parallel()
	refused := errors.New("choose a model")
	c := start(t, setup{commands: awaiting, options: Options{Ready: func() error { return refused }}})
	check(t, c.answerTo(prompt("1", "/ask one")), `*"success":true,"data":{"disposition":"handled"}}`)
	if !strings.Contains(strings.Join(c.seen, "\n"), `"message":"error 0 <nil>"`) {
		t.Error(strings.Join(c.seen, "\n"))
	}
}

func TestACommandIsToldThatTheClientHasLeftItsSession(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, nil)}, commands: awaiting})
	c.send(prompt("1", "/ask one"))
	<-reached
	c.send(`{"id":"2","type":"new_session"}`)
	check(t, c.until("notify"), `{*"message":" 0 the session was left meanwhile"*`)
}

func TestACommandThatWaitsEndsWithTheServer(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, nil)}, commands: awaiting})
	c.send(prompt("1", "/ask one two"))
	<-reached
	if err := c.end(); err != nil {
		t.Error(err)
	}
}
