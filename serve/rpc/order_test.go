package rpc

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"pi/agent"
	"pi/agent/llm"
	"pi/session/message"
)

func TestASecondPromptDuringARunIsToldHowItCouldWait(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, nil)}})
	c.send(prompt("1", "one"))
	<-begun
	c.send(prompt("2", "two"))
	check(t, c.until(`"id":"2"`), refused(`"2"`, "prompt", "*already processing*streamingBehavior*steer*followUp*"))
}

// userTexts are the texts of the user in a session, with a blank between them.
func userTexts(a *agent.Agent) string {
	var texts []string
	for _, e := range a.Session().Entries() {
		if m := e.Message(); m != nil && m.Role == message.RoleUser {
			texts = append(texts, m.Text())
		}
	}
	return strings.Join(texts, " ")
}

func TestQueuesThatAreEmptyAreClearedAsWell(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	check(t, c.answerTo(`{"id":"0","type":"clear_queue"}`), `{"id":"0","type":"response","command":"clear_queue","success":true,"data":{"steering":[],"followUp":[]}}`)
	check(t, c.seen[0], `{"type":"queue_update","steering":[],"followUp":[]}`)
}

func TestAChangeOfTheSessionIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	first := c.agent.Session().ID()
	c.send(`{"id":"1","type":"new_session"}`, prompt("2", "in the new one"), `{"id":"3","type":"new_session"}`, prompt("4", "in the newest"))
	check(t, c.until(`"id":"1"`), `*"data":{"cancelled":false}}`)
	c.until(`"id":"3"`)
	c.until(`"id":"4"`)
	c.until("agent_settled")
	if c.agent.Session().ID() == first || userTexts(c.agent) != "in the newest" {
		t.Errorf("the session has %q", userTexts(c.agent))
	}
	for _, id := range []string{"2", "4"} {
		if !strings.Contains(strings.Join(c.seen, "\n"), `{"id":"`+id+`","type":"response","command":"prompt"`) {
			t.Errorf("prompt %s has no answer", id)
		}
	}
}

func TestAChangeOfTheSessionInterruptsTheRun(t *testing.T) {
	t.Parallel()
	for _, command := range []string{`"type":"new_session"`, `"type":"clone"`, `"type":"switch_session","sessionPath":"other.jsonl"`} {
		begun := make(chan struct{})
		c := start(t, setup{replies: []reply{say("first"), hang(begun, nil)}, dir: t.TempDir(), options: Options{Sessions: paths(t.TempDir())}})
		c.send(prompt("1", "one"))
		c.until("agent_settled")
		c.send(prompt("2", "two"))
		<-begun
		c.send(`{"id":"3",` + command + `}`)
		check(t, c.until(`"id":"3"`), `*"success":true,"data":{"cancelled":false}}`)
		if types := c.types(); !strings.Contains(types, "turn_end agent_end agent_settled response:") {
			t.Errorf("%s: %s", command, types)
		}
	}
}

func TestAVetoLeavesTheRunAlone(t *testing.T) {
	t.Parallel()
	begun, more := make(chan struct{}), make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, more)}, hooks: func(agent.UI, func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(_ context.Context, e *agent.SessionBeforeSwitch) error { e.Cancel = true; return nil })}
	}})
	c.send(prompt("1", "one"))
	<-begun
	check(t, c.answerTo(`{"id":"2","type":"new_session"}`), `*"success":true,"data":{"cancelled":true}}`)
	close(more)
	check(t, c.until(`"type":"message_end"`, "assistant"), `*half done*`)
	check(t, c.until("agent_settled"), `{"type":"agent_settled","aborted":false}`)
}

func TestAPromptThatFollowsTheEndOfARunIsTaken(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	for range 50 {
		c.send(prompt("1", "again"))
		check(t, c.until(`"type":"response"`), `*"success":true*`)
		c.until("agent_settled")
	}
}

func TestReadsWaitForNothing(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	asked := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, nil)}, hooks: func(ui agent.UI, _ func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(ctx context.Context, _ *agent.SessionBeforeSwitch) error {
			close(asked)
			_, err := ui.Confirm(ctx, "Leave?", "", agent.DialogOptions{})
			return err
		})}
	}})
	c.send(prompt("1", "one"))
	<-begun
	c.send(`{"id":"2","type":"new_session"}`)
	<-asked
	for _, kind := range []string{"get_state", "get_messages", "get_entries", "get_tree", "get_last_assistant_text", "get_session_stats", "get_fork_messages",
		"get_commands", "get_available_models", "get_available_thinking_levels"} {
		check(t, c.answerTo(`{"id":"`+kind+`","type":"`+kind+`"}`), `*"success":true,"data":{*`)
	}
}

func TestTheModelAndTheLevelCanBeChosen(t *testing.T) {
	t.Parallel()
	thinks := &llm.Model{Provider: "p", ID: "t", API: "scripted", Reasoning: true, Levels: []string{"off", "low", "high"}, BaseURL: "https://user:secret@host/v1?key=secret"}
	c := start(t, setup{models: []*llm.Model{thinks}, options: Options{Cycle: []string{"p/*"}}})
	for _, test := range []struct{ command, data string }{
		{`"type":"cycle_thinking_level"`, `null`},
		{`"type":"get_available_thinking_levels"`, `{"levels":["off"]}`},
		{`"type":"set_model","provider":"p","modelId":"t"`, `{"id":"t","name":"t","api":"scripted","provider":"p","baseUrl":"https://host/v1","reasoning":true,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":0,"maxTokens":0}`},
		{`"type":"get_available_thinking_levels"`, `{"levels":["off","low","high"]}`},
		{`"type":"cycle_thinking_level"`, `{"level":"low"}`},
		{`"type":"cycle_thinking_level"`, `{"level":"high"}`},
		{`"type":"cycle_thinking_level"`, `{"level":"off"}`},
		{`"type":"cycle_model"`, `{"model":{"id":"m",*"thinkingLevel":"off","isScoped":true}`},
		{`"type":"cycle_model"`, `{"model":{"id":"t",*"isScoped":true}`},
		{`"type":"get_available_models"`, `{"models":[{"id":"m",*{"id":"t",*]}`},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(test.command, `"type":"`), `"`)
		check(t, c.answerTo(`{"id":"1",`+test.command+`}`), `{"id":"1","type":"response","command":"`+name+`","success":true,"data":`+test.data+`}`)
	}
	if all := strings.Join(c.seen, "\n"); strings.Contains(all, "secret") {
		t.Error("a secret was told")
	}
	check(t, c.answerTo(`{"id":"2","type":"set_thinking_level","level":"max"}`), `{"id":"2","type":"response","command":"set_thinking_level","success":true}`)
	check(t, c.seen[len(c.seen)-2], `{"type":"thinking_level_changed","level":"high"}`)
	c.send(`{"id":"3","type":"set_thinking_level","level":"xhigh"}`)
	check(t, c.next(), `{"id":"3","type":"response","command":"set_thinking_level","success":true}`)
}

func TestSwitchesHoldInAllSessionsOfTheProcess(t *testing.T) {
	t.Parallel()
	c := start(t, setup{settings: agent.Settings{Retry: agent.RetrySettings{MaxAttempts: 7}}})
	c.send(`{"type":"set_steering_mode","mode":"all"}`, `{"type":"set_follow_up_mode","mode":"all"}`, `{"type":"set_auto_compaction","enabled":true}`,
		`{"type":"set_auto_retry","enabled":false}`, `{"id":"1","type":"new_session"}`)
	c.until(`"id":"1"`)
	check(t, c.answerTo(`{"id":"2","type":"get_state"}`), `*"steeringMode":"all","followUpMode":"all",*"autoCompactionEnabled":true*`)
	if n := c.agent.Settings().Retry.MaxAttempts; n != 0 {
		t.Errorf("%d attempts", n)
	}
	check(t, c.answerTo(`{"id":"3","type":"set_auto_retry","enabled":true}`), `{"id":"3","type":"response","command":"set_auto_retry","success":true}`)
	if n := c.agent.Settings().Retry.MaxAttempts; n != 7 {
		t.Errorf("%d attempts", n)
	}
}

func TestWhoGivesTheAgentBackAndTriesAgainIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s state
		mine, other := s.open(t.Context(), false), s.open(t.Context(), false)
		if !s.take(mine, nil) || s.take(other, nil) {
			t.Fatal("two have the agent, or nobody has")
		}
		waited := make(chan struct{})
		go func() {
			s.waitReleased(t.Context(), nil)
			close(waited)
		}()
		synctest.Wait()
		s.release(mine) // it was busy otherwise, and mine stays open
		<-waited
		if !s.take(other, nil) {
			t.Error("the agent is not free")
		}
	})
}

func TestAMoveInTheTreeThatCameToNothingIsForgotten(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	c := start(t, setup{replies: []reply{hang(begun, nil)}})
	summed := &agent.SessionBeforeTree{Preparation: agent.TreePreparation{UserWantsSummary: true}}
	if err := c.server.Handle(t.Context(), summed); err != nil { // its summary was interrupted
		t.Fatal(err)
	}
	c.send(prompt("1", "go"))
	c.until("message_start", "assistant")
	check(t, c.answerTo(`{"id":"2","type":"get_state"}`), `*"isStreaming":true,"isCompacting":false*`)
}
