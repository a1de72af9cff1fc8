package acp

import (
	"context"
	"os"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/llm"
	sessions "pi/session"
	"pi/session/message"
)

// A closed session is free for others, and a deleted one is gone.
func TestSessionsAreClosedAndDeleted(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{"wait": {text("…"), {}}})}
	r, id := openedIn(t, h, object{})
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	path := h.agent(0).Session().File()
	if _, err := sessions.Open(path, sessions.Options{LockDir: h.root}); err == nil {
		t.Fatal("it is not locked")
	}
	prompt := r.StartPrompt(id, "wait")
	r.Must("session/close", object{"sessionId": id}, nil)
	if ends := r.Ending(prompt); ends != "cancelled" {
		t.Error(ends)
	}
	s, err := sessions.Open(path, sessions.Options{LockDir: h.root})
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	if ends := r.Prompt(id, "go"); !strings.HasPrefix(ends, "-32002") {
		t.Error(ends)
	}
	r.Must("session/resume", object{"sessionId": id, "cwd": r.cwd}, nil)
	for range 2 {
		r.Must("session/delete", object{"sessionId": id}, nil)
		if _, err := os.Stat(path); err == nil {
			t.Error("the file is there")
		}
	}
}

// Who ends a session that is being closed gets an answer when nothing of it is left.
func TestASessionIsGoneWhenItsDeletionIsAnswered(t *testing.T) {
	t.Parallel()
	shutting, release := make(chan struct{}), make(chan struct{})
	h := &host{hooks: func(SessionRequest) agent.Listener {
		return listening(func(_ context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionShutdown {
				close(shutting)
				<-release
			}
			return nil
		})
	}}
	r, id := openedIn(t, h, object{})
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	s, path := r.server.find(id), h.agent(0).Session().File()
	first := r.Start("session/close", object{"sessionId": id})
	<-shutting
	gone := make(chan bool, 1)
	go func() { gone <- s.close(context.Background()) == nil && r.server.find(id) == nil }()
	second := r.Start("session/delete", object{"sessionId": id})
	r.Must("session/list", object{}, nil) // it has been read
	if _, err := os.Stat(path); err != nil {
		t.Error("the file went before the end of its session")
	}
	close(release)
	if !<-gone {
		t.Error("close returned before the session was gone")
	}
	for _, request := range []int{first, second} {
		if _, failed := r.Await(request); failed != nil {
			t.Error(failed)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there")
	}
}

// The client knows the calls of a session that it resumes.
func TestTheIDOfACallIsUsedOnceThoughTheSessionIsResumed(t *testing.T) {
	t.Parallel()
	h := &host{model: answering(map[string][]llm.Delta{"call": {calling("c1", "ls", "{}"), stop(message.StopToolUse)}})}
	r, id := openedIn(t, h, object{})
	for range 2 {
		if ends := r.Prompt(id, "call"); ends != "end_turn" {
			t.Fatal(ends)
		}
		r.Must("session/close", object{"sessionId": id}, nil)
		r.Must("session/resume", object{"sessionId": id, "cwd": r.cwd}, nil)
	}
	var ids []string
	for _, u := range r.Updates(id) {
		if u.Kind == "tool_call" {
			ids = append(ids, u.CallID)
		}
	}
	if len(ids) != 2 || ids[0] == ids[1] {
		t.Error(ids)
	}
}

// The end does not wait for a question of the start that waits for the first prompt.
func TestAQuestionAtTheStartDoesNotDelayTheEnd(t *testing.T) {
	t.Parallel()
	asking := make(chan struct{})
	answers := make(chan agent.Answer, 1)
	h := &host{hooks: func(o SessionRequest) agent.Listener {
		return listening(func(ctx context.Context, e agent.Event) error {
			if e.Kind() == agent.KindSessionStart {
				close(asking)
				answer, _ := o.UI.Confirm(context.WithoutCancel(ctx), "Really?", "", agent.DialogOptions{})
				answers <- answer
			}
			return nil
		})
	}}
	r, _ := openedIn(t, h, object{})
	<-asking
	r.Close()
	if err := r.ends(t); err != nil {
		t.Error(err)
	}
	select {
	case answer := <-answers:
		if answer != agent.No {
			t.Error(answer)
		}
	default:
		t.Error("it still waits")
	}
}

// A session in which nobody asked anything is opened again under its id, also if a hook has
// put something into it; once it is deleted nobody knows it.
func TestAClosedSessionWithoutAPromptIsKnownUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	h := &host{}
	r, id := openedIn(t, h, object{})
	if _, err := h.agent(0).Session().Append(sessions.TypeCustom, object{"customType": "hook", "data": object{}}); err != nil {
		t.Fatal(err)
	}
	load := object{"sessionId": id, "cwd": r.cwd, "mcpServers": []any{}}
	r.Must("session/close", object{"sessionId": id}, nil)
	r.Must("session/load", load, nil)
	r.Must("session/delete", object{"sessionId": id}, nil)
	if _, failed := r.Request("session/load", load); failed == nil || failed.Code != codeNoSession {
		t.Error(failed)
	}
}
