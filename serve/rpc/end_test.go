package rpc

import (
	"context"
	"errors"
	"io"
	"testing"

	"pi/agent"
	"pi/agent/command"
)

func TestAWishForTheEndIsDoneBehindTheAnswer(t *testing.T) {
	t.Parallel()
	c := start(t, setup{commands: func(_ agent.UI, a func() *agent.Agent) []command.Command {
		return []command.Command{{Name: "leave", Hook: "h", Run: func(context.Context, string) (command.Outcome, error) {
			a().Shutdown()
			return command.Outcome{}, nil
		}}}
	}})
	c.send(prompt("1", "/leave"))
	check(t, c.next(), `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"handled"}}`)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
	c.ended <- nil
}

func TestAClosedOutputEndsTheRunInOrder(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	var out *broken
	c := start(t, setup{replies: []reply{hang(begun, nil)}, out: func(w io.Writer) io.Writer { out = &broken{Writer: w, gone: make(chan struct{})}; return out }})
	c.send(prompt("1", "go"))
	c.until(`"text_delta"`)
	<-begun
	close(out.gone)
	c.send(`{"id":"2","type":"get_state"}`)
	err := <-c.ended
	if !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("it ended with %v", err)
	}
	if n := len(c.agent.Session().Context()); n != 2 {
		t.Errorf("the session has %d messages", n)
	}
	c.ended <- nil
}

// broken is an output whose reader goes away.
type broken struct {
	io.Writer
	gone chan struct{}
}

func (b *broken) Write(p []byte) (int, error) {
	select {
	case <-b.gone:
		return 0, io.ErrClosedPipe
	default:
		return b.Writer.Write(p)
	}
}

func TestAPromptWithoutAKeyIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, setup{noKey: true})
	check(t, c.answerTo(prompt("1", "go")), refused(`"1"`, "prompt", `No API key found for p\n*`))
	if n := len(c.agent.Session().Entries()); n != 0 {
		t.Errorf("%d entries are there", n)
	}
	c = start(t, setup{options: Options{Ready: func() error { return keyless{} }}})
	check(t, c.answerTo(prompt("1", "go")), refused(`"1"`, "prompt", `No API key found\nexport a key`))
	check(t, c.answerTo(`{"id":"2","type":"set_model","provider":"p","modelId":"m"}`), `*"success":true*`)
	check(t, c.answerTo(prompt("3", "go")), `*"disposition":"started"}}`)
	c.until("agent_settled")
}

// keyless is an error that says that there is no key.
type keyless struct{}

func (keyless) Error() string { return "export a key" }
func (keyless) NoKey() bool   { return true }

func TestCommandsOfTheShellRunAnyNumberAtATime(t *testing.T) {
	t.Parallel()
	c := start(t, setup{shell: func(ctx context.Context, line string, output func(string)) (agent.BashOutcome, error) {
		output("began\n")
		if line == "wait" {
			<-ctx.Done()
			return agent.BashOutcome{Output: "began\n", Cancelled: true}, nil
		}
		return agent.BashOutcome{Output: "began\n", ExitCode: new(int)}, nil
	}})
	c.send(`{"id":"1","type":"bash","command":"wait"}`, `{"id":"2","type":"bash","command":"wait"}`)
	c.until("bash_execution_update")
	c.until("bash_execution_update")
	c.send(`{"id":"3","type":"bash","command":"quick","excludeFromContext":true}`)
	answers := c.answers("3")
	check(t, answers["3"], `{"id":"3","type":"response","command":"bash","success":true,"data":{"output":"began\n","exitCode":0,"cancelled":false,"truncated":false}}`)
	if !c.has(`{"type":"bash_execution_update","id":"3","delta":"began\n"}`) {
		t.Error(c.types())
	}
	c.send(`{"id":"4","type":"abort_bash"}`)
	answers = c.answers("1", "2", "4")
	check(t, answers["1"], `*"success":true,"data":{"output":"began\n","cancelled":true,"truncated":false}}`)
	check(t, answers["2"], `*"cancelled":true*`)
	check(t, c.answerTo(`{"id":"5","type":"get_state"}`), `*"messageCount":3*`)
}

func TestTheTreeAndTheEntriesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	c := start(t, setup{dir: t.TempDir()})
	check(t, c.answerTo(`{"id":"1","type":"get_tree"}`), `*"data":{"tree":[],"leafId":null}}`)
	check(t, c.answerTo(`{"id":"2","type":"get_entries"}`), `*"data":{"entries":[],"leafId":null}}`)
	c.send(prompt("3", "hello"))
	c.until("agent_settled")
	check(t, c.answerTo(`{"id":"4","type":"get_tree"}`), `*"data":{"tree":[{"entry":{*"children":[{"entry":{*"children":[]}]*],"leafId":"*"}}`)
	check(t, c.answerTo(`{"id":"5","type":"get_fork_messages"}`), `*"data":{"messages":[{"entryId":"*","text":"hello"}]}}`)
	leaf := c.agent.Session().Leaf()
	check(t, c.answerTo(`{"id":"6","type":"get_entries","since":"`+leaf+`"}`), `*"data":{"entries":[],"leafId":"`+leaf+`"}}`)
	check(t, c.answerTo(`{"id":"7","type":"get_session_stats"}`), `*"userMessages":1,"assistantMessages":1,"toolCalls":0,"toolResults":0,"totalMessages":2,"tokens":{*`)
}
