package rpc

import (
	"context"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/jsonlines"
	"pi/session/message"
)

const accepted, aborted = `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`,
	`{"id":"1","type":"response","command":"prompt","success":false,"error":"Prompt aborted"}`

// has reports whether a record was read.
func (c *client) has(record string) bool {
	for _, line := range c.seen {
		if line == record {
			return true
		}
	}
	return false
}

// The tests of the whole program do it in the other phases of a prompt.
func TestAPromptThatIsEndedBetweenItsEntryAndItsRunIsRefused(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *client){
		"abort": func(c *client) {
			c.send(`{"id":"2","type":"abort"}`)
			check(t, c.until(`"id":"2"`), `{"id":"2","type":"response","command":"abort","success":true}`)
		},
		"the end of the input": func(c *client) {
			begun := time.Now()
			if err := c.end(); err != nil || time.Since(begun) > endLimit {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{})
			c := start(t, setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
				return []agent.Listener{on(func(ctx context.Context, _ *agent.BeforeAgentStart) error {
					close(reached)
					<-ctx.Done()
					return ctx.Err()
				})}
			}})
			c.send(prompt("1", "go"))
			<-reached
			end(c)
			if !c.has(aborted) {
				t.Errorf("the answer is not among\n%s", strings.Join(c.seen, "\n"))
			}
		})
	}
}

func TestAbortReachesWhatWasReadBeforeIt(t *testing.T) {
	t.Parallel()
	for range 20 {
		c := start(t, setup{replies: []reply{func(ctx context.Context, _ func(delta, error) bool) { <-ctx.Done() }}})
		c.send(prompt("1", "go"), `{"id":"2","type":"abort"}`)
		check(t, c.until(`"id":"2"`), `*"success":true}`)
		if !c.has(accepted) && !c.has(aborted) {
			t.Errorf("the prompt has no answer: %s", strings.Join(c.seen, "\n"))
		}
		if c.has(accepted) && !strings.Contains(c.types(), "agent_settled response:abort") {
			t.Errorf("the run was not closed: %s", c.types())
		}
		if !c.agent.IsIdle() {
			t.Error("the agent works")
		}
		_ = c.end()
	}
}

func TestAbortLeavesTheQueues(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, nil)}})
	c.send(prompt("1", "one"))
	<-begun
	c.send(`{"id":"2","type":"steer","message":"two"}`)
	c.until(`"id":"2"`)
	c.send(`{"id":"3","type":"abort"}`)
	c.until(`"id":"3"`)
	check(t, c.answerTo(`{"id":"4","type":"get_state"}`), `*"isStreaming":false*"pendingMessageCount":1,"version":*}}`)
	c.send(prompt("5", "three"))
	c.until("agent_settled")
	if got := userTexts(c.agent); got != "one three two" {
		t.Errorf("the session has %q", got)
	}
}

func TestASecondCompactionCancelsTheFirst(t *testing.T) {
	t.Parallel()
	asked, finish := make(chan struct{}, 2), make(chan struct{})
	c := start(t, setup{replies: []reply{say("something")}, hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(ctx context.Context, e *agent.SessionBeforeCompact) error {
			asked <- struct{}{}
			if e.CustomInstructions == "second" {
				<-finish
				e.Compaction = &agent.CompactionDraft{Summary: "short"}
				return nil
			}
			<-ctx.Done()
			return nil
		})}
	}})
	c.send(prompt("0", "first"))
	c.until("agent_settled")
	c.send(`{"id":"1","type":"compact"}`)
	<-asked
	c.send(`{"id":"2","type":"compact","customInstructions":"second"}`, prompt("3", "meanwhile"))
	check(t, c.until(`"id":"3"`), `{"id":"3","type":"response","command":"prompt","success":false,"error":"compaction is in progress"}`)
	close(finish)
	check(t, c.until(`"id":"2"`), `{"id":"2","type":"response","command":"compact","success":true,"data":{"summary":"short",*`)
	if !c.has(`{"id":"1","type":"response","command":"compact","success":false,"error":"Compaction cancelled"}`) {
		t.Error(strings.Join(c.seen, "\n"))
	}
}

func TestACommandOfAHookSurvivesAnAbort(t *testing.T) {
	t.Parallel()
	c := start(t, setup{commands: func(ui agent.UI, _ func() *agent.Agent) []command.Command {
		return []command.Command{{Name: "ask", Hook: "h", Run: func(ctx context.Context, args string) (command.Outcome, error) {
			text, _, err := ui.Input(ctx, "What?", args, agent.DialogOptions{})
			return command.Outcome{Status: "you said " + text}, err
		}}}
	}})
	c.send(prompt("1", "/ask this"))
	var question struct{ ID string }
	decode(t, c.until(`"method":"input"`), &question)
	check(t, c.answerTo(`{"id":"2","type":"abort"}`), `*"success":true}`)
	check(t, c.answerTo(`{"id":"3","type":"new_session"}`), `*"success":true,"data":{"cancelled":false}}`)
	c.send(`{"type":"extension_ui_response","id":"` + question.ID + `","value":"hello"}`)
	check(t, c.until("notify"), `{"type":"extension_ui_request","id":"*","method":"notify","message":"you said hello","notifyType":"info"}`)
	check(t, c.until(`"id":"1"`), `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"handled"}}`)
}

func TestAbortReachesNothingThatIsReadBehindIt(t *testing.T) {
	t.Parallel()
	reached, more := make(chan struct{}), make(chan struct{})
	c := start(t, setup{replies: []reply{hang(reached, more)}, hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(ctx context.Context, e *agent.Input) error {
			if e.Text == "first" {
				<-ctx.Done()
			}
			return nil
		})}
	}})
	c.send(prompt("1", "first"), `{"id":"2","type":"abort"}`, prompt("3", "second"))
	// The abort is answered although the second prompt works, and that goes on.
	all := c.answers("1", "2", "3")
	check(t, all["1"], aborted)
	check(t, all["3"], `*"success":true*`)
	close(more)
	check(t, c.until("agent_settled"), `{"type":"agent_settled","aborted":false}`)
}

func TestAPromptBehindAnAbortWaitsForTheOneThatEnds(t *testing.T) {
	t.Parallel()
	for _, isAborted := range []bool{false, true} {
		reached, free := make(chan struct{}), make(chan struct{})
		c := start(t, setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
			return []agent.Listener{on(func(_ context.Context, e *agent.Input) error {
				if e.Text == "first" { // whose hook does not look at the abort
					close(reached)
					<-free
				}
				return nil
			})}
		}})
		c.send(prompt("1", "first"))
		<-reached
		c.send(`{"id":"2","type":"abort"}`, prompt("3", "second"), `{"id":"4","type":"get_state"}`)
		c.until(`"id":"4"`)
		if isAborted {
			c.send(`{"id":"5","type":"abort"}`)
			check(t, c.answers("3")["3"], strings.Replace(aborted, `"1"`, `"3"`, 1))
			close(free)
			check(t, c.answers("1", "2", "5")["1"], aborted)
			continue
		}
		close(free)
		all := c.answers("1", "2", "3")
		check(t, all["1"], aborted)
		check(t, all["3"], `*"success":true*`)
	}
}

func TestWhatStandsBehindAPromptThatWaitsIsBegunAtTheEnd(t *testing.T) {
	t.Parallel()
	reached, free := make(chan struct{}), make(chan struct{})
	c := start(t, setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(_ context.Context, e *agent.Input) error {
			close(reached) // by the first, whose hook does not look at the abort
			<-free
			return nil
		})}
	}})
	defer close(free)
	c.send(prompt("1", "first"))
	<-reached
	c.send(`{"id":"2","type":"abort"}`, prompt("3", "second"), `{"id":"4","type":"set_session_name","name":"n"}`)
	_ = c.in.Close()
	all := c.answers("3", "4")
	check(t, all["3"], strings.Replace(aborted, `"1"`, `"3"`, 1))
	check(t, all["4"], `{"id":"4","type":"response","command":"set_session_name","success":true}`)
}

func TestAbortReachesACompactionThatHasNotBegun(t *testing.T) {
	t.Parallel()
	freed := make(chan struct{})
	c := start(t, setup{replies: []reply{say("something to compact")}, hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(context.Context, *agent.SessionBeforeSwitch) error {
			<-freed
			return nil
		})}
	}})
	c.send(prompt("0", "first"))
	c.until("agent_settled")
	// The change of the session has the compaction wait.
	c.send(`{"id":"1","type":"switch_session","sessionPath":"none.txt"}`, `{"id":"2","type":"compact"}`, `{"id":"3","type":"abort"}`, `{"id":"4","type":"get_state"}`)
	c.until(`"id":"4"`)
	close(freed)
	all := c.answers("1", "2", "3")
	check(t, all["2"], `*"success":false,"error":"Compaction cancelled"}`)
}

func TestTheEndDoesNotWaitForAClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	const piece = 1 << 20
	full := make(chan struct{}) // of what waits to be read
	flood := func(ctx context.Context, yield func(delta, error) bool) {
		for n := 1; yield(delta{Kind: llm.DeltaText, Text: strings.Repeat("x", piece)}, nil); n++ {
			if n == jsonlines.MaxWaiting/piece-1 {
				close(full)
			}
			if ctx.Err() != nil {
				yield(delta{}, ctx.Err())
				return
			}
		}
	}
	c := start(t, setup{replies: []reply{flood}})
	c.send(prompt("1", "go"))
	<-full
	_ = c.in.Close()
	select {
	case err := <-c.ended:
		c.ended <- err
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the end waits for the client")
	}
	entries := c.agent.Session().Entries()
	if last := entries[len(entries)-1].Message(); last == nil || last.StopReason != message.StopAborted {
		t.Errorf("the answer that was interrupted is not in the session, which ends with %+v", last)
	}
}

func TestACompactionDoesNotInterruptAChangeOfTheSessionBehindIt(t *testing.T) {
	t.Parallel()
	for range 20 {
		reached := make(chan struct{})
		c := start(t, setup{replies: []reply{hang(reached, nil)}})
		c.send(prompt("1", "go"))
		c.until("message_update")
		c.send(`{"id":"2","type":"compact"}`, `{"id":"3","type":"new_session"}`)
		check(t, c.answers("2", "3")["3"], `{"id":"3","type":"response","command":"new_session","success":true,"data":{"cancelled":false}}`)
		_ = c.end()
	}
}
