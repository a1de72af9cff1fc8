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

// phase is a moment of a prompt at which something is done to it: the client waits until it
// is reached, and then knows that the prompt is in it.
type phase struct {
	name   string
	setup  func(reached chan<- struct{}) setup
	sent   string // the command that leads there, with the id 1
	answer string // to that, when it is interrupted
	after  string // records behind the interrupt and before the answer to it
	ready  string // part of a record that says that the phase is reached; "" if the setup says so
}

// waits is a hook that says that it was reached, and waits for the interrupt.
func waits(ctx context.Context, reached chan<- struct{}) error {
	close(reached)
	<-ctx.Done()
	return ctx.Err()
}

const accepted, aborted = `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`,
	`{"id":"1","type":"response","command":"prompt","success":false,"error":"Prompt aborted"}`

func phases() []phase {
	retrying := agent.Settings{Retry: agent.RetrySettings{MaxAttempts: 3, BaseDelay: time.Hour}}
	return []phase{
		{name: "preflight", sent: prompt("1", "go"), answer: aborted, setup: func(reached chan<- struct{}) setup {
			return setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
				return []agent.Listener{on(func(ctx context.Context, _ *agent.Input) error { return waits(ctx, reached) })}
			}}
		}},
		{name: "preflight, behind the prompt", sent: prompt("1", "go"), answer: aborted, setup: func(reached chan<- struct{}) setup {
			return setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
				return []agent.Listener{on(func(ctx context.Context, _ *agent.BeforeAgentStart) error { return waits(ctx, reached) })}
			}}
		}},
		{name: "stream", sent: prompt("1", "go"), answer: accepted, after: "message_end turn_end agent_end agent_settled", setup: func(reached chan<- struct{}) setup {
			return setup{replies: []reply{hang(reached, nil)}}
		}},
		{name: "before the first byte", sent: prompt("1", "go"), answer: accepted, after: "message_start message_end turn_end agent_end agent_settled", setup: func(reached chan<- struct{}) setup {
			return setup{replies: []reply{func(ctx context.Context, _ func(delta, error) bool) { _ = waits(ctx, reached) }}}
		}},
		{name: "tool", sent: prompt("1", "go"), answer: accepted, after: "tool_execution_end message_start message_end turn_end *agent_end agent_settled", setup: func(reached chan<- struct{}) setup {
			return setup{replies: []reply{call("c", "wait")}, tools: []agent.Tool{tool{"wait", func(ctx context.Context) (agent.Result, error) {
				return agent.Result{}, waits(ctx, reached)
			}}}}
		}},
		{name: "retry wait", sent: prompt("1", "go"), answer: accepted, ready: "auto_retry_start", after: "auto_retry_end *agent_settled", setup: func(reached chan<- struct{}) setup {
			close(reached)
			return setup{settings: retrying, replies: []reply{fails(true)}}
		}},
		{name: "compaction", sent: `{"id":"1","type":"compact"}`, answer: `{"id":"1","type":"response","command":"compact","success":false,"error":"Compaction cancelled"}`,
			after: "compaction_end", setup: func(reached chan<- struct{}) setup {
				return setup{hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
					return []agent.Listener{on(func(ctx context.Context, _ *agent.SessionBeforeCompact) error { return waits(ctx, reached) })}
				}, replies: []reply{say("something to compact")}}
			}},
		{name: "dialog of a gate", sent: prompt("1", "go"), answer: accepted, ready: `"method":"confirm"`, after: "tool_execution_end message_start message_end turn_end *agent_end agent_settled",
			setup: func(reached chan<- struct{}) setup {
				close(reached)
				return setup{replies: []reply{call("c", "wait")}, tools: []agent.Tool{tool{"wait", nil}}, hooks: func(ui agent.UI, _ func() *agent.Agent) []agent.Listener {
					return []agent.Listener{on(func(ctx context.Context, e *agent.ToolCall) error {
						answer, err := ui.Confirm(ctx, "Run it?", "", agent.DialogOptions{})
						e.Block = answer == agent.No
						return err
					})}
				}}
			}},
	}
}

// reach starts a conversation and brings it into a phase.
func (p phase) reach(t *testing.T) *client {
	t.Helper()
	reached := make(chan struct{})
	c := start(t, p.setup(reached))
	if p.name == "compaction" {
		c.send(prompt("0", "first"))
		c.until("agent_settled")
	}
	c.send(p.sent)
	if p.ready != "" {
		c.until(p.ready)
	}
	for waiting := true; waiting; {
		select {
		case <-reached:
			waiting = false
		case line := <-c.lines:
			c.seen = append(c.seen, line)
		}
	}
	return c
}

func TestAbortEndsEveryPhase(t *testing.T) {
	t.Parallel()
	for _, p := range phases() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := p.reach(t)
			c.send(`{"id":"2","type":"abort"}`)
			check(t, c.until(`"id":"2"`), `{"id":"2","type":"response","command":"abort","success":true}`)
			if !c.has(p.answer) && p.name == "compaction" { // two answers may overtake each other
				c.until(`"id":"1"`)
			}
			if !c.has(p.answer) {
				t.Errorf("the answer %s is not among\n%s", p.answer, strings.Join(c.seen, "\n"))
			}
			check(t, strings.TrimSuffix(c.types(), " response:compact"), "*"+p.after+" *response:abort")
			check(t, c.answerTo(`{"id":"3","type":"get_state"}`), `*"isStreaming":false,"isCompacting":false*`)
			c.model.mu.Lock()
			c.model.replies = nil
			c.model.mu.Unlock()
		})
	}
}

// has reports whether a record was read.
func (c *client) has(record string) bool {
	for _, line := range c.seen {
		if line == record {
			return true
		}
	}
	return false
}

func TestTheEndOfTheInputEndsEveryPhaseInOrder(t *testing.T) {
	t.Parallel()
	for _, p := range phases() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c := p.reach(t)
			begun := time.Now()
			if err := c.end(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > endLimit {
				t.Errorf("it took %s", took)
			}
			if !c.has(p.answer) {
				t.Errorf("the answer %s is not among\n%s", p.answer, strings.Join(c.seen, "\n"))
			}
			if types := c.types(); strings.Contains(p.after, "agent_settled") && !strings.HasSuffix(types, "agent_end agent_settled") {
				t.Errorf("the run was not closed: %s", types)
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
	check(t, c.answerTo(`{"id":"4","type":"get_state"}`), `*"isStreaming":false*"pendingMessageCount":1}}`)
	c.send(prompt("5", "three"))
	c.until("agent_settled")
	if got := userTexts(c.agent); got != "one three two" {
		t.Errorf("the session has %q", got)
	}
}

func TestAbortOfARetryGivesTheCallUp(t *testing.T) {
	t.Parallel()
	c := start(t, setup{settings: agent.Settings{Retry: agent.RetrySettings{MaxAttempts: 2, BaseDelay: time.Hour}}, replies: []reply{fails(true)}})
	check(t, c.answerTo(`{"id":"0","type":"abort_retry"}`), `{"id":"0","type":"response","command":"abort_retry","success":true}`)
	c.send(prompt("1", "go"))
	c.until("auto_retry_start")
	check(t, c.answerTo(`{"id":"2","type":"abort_retry"}`), `{"id":"2","type":"response","command":"abort_retry","success":true}`)
	for _, kind := range []string{"auto_retry_end", "agent_settled"} {
		if !strings.Contains(strings.Join(c.seen, "\n"), `{"type":"`+kind) {
			c.until(kind)
		}
	}
	if !strings.Contains(strings.Join(c.seen, "\n"), `{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"Retry cancelled"}`) {
		t.Errorf("seen %s", strings.Join(c.seen, "\n"))
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

func TestACompactionInterruptsTheRunAndHasItsRecordsInAnyCase(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, nil)}})
	check(t, c.answerTo(`{"id":"0","type":"compact"}`), `{"id":"0","type":"response","command":"compact","success":false,"error":"Nothing to compact (session too small)"}`)
	check(t, c.types(), "compaction_start compaction_end response:compact")
	check(t, c.seen[1], `{"type":"compaction_end","reason":"manual","aborted":false,"willRetry":false,"errorMessage":"Nothing to compact (session too small)"}`)
	c.send(prompt("1", "go"))
	<-begun
	c.send(`{"id":"2","type":"compact"}`)
	c.until(`"id":"2"`)
	check(t, c.types(), "*agent_end agent_settled compaction_start *compaction_end response:compact")
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
