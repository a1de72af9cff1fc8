package rpc

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/session/message"
)

// asking returns the commands of a hook that asks by each kind of dialog, and shows what it
// was answered.
func asking(ui agent.UI, _ func() *agent.Agent) []command.Command {
	answered := func(values any, ok bool, err error) (command.Outcome, error) {
		return command.Outcome{Status: fmt.Sprintf("%q %t", values, ok)}, err
	}
	ask := func(name string, run func(ctx context.Context, args string) (command.Outcome, error)) command.Command {
		return command.Command{Name: name, Hook: "h", Run: run}
	}
	return []command.Command{
		ask("choose", func(ctx context.Context, _ string) (command.Outcome, error) {
			return answered(ui.Select(ctx, "Which\x1b[31m\x07?", []agent.Choice{{Value: "1", Label: "one"}, {Value: "2", Label: "one"}, {Value: "three"}}, agent.DialogOptions{TimeoutMS: 60_000}))
		}),
		ask("several", func(ctx context.Context, _ string) (command.Outcome, error) {
			return answered(ui.Select(ctx, "Which?", agent.Choices("a", "b"), agent.DialogOptions{Multi: true}))
		}),
		ask("sure", func(ctx context.Context, _ string) (command.Outcome, error) {
			answer, err := ui.Confirm(ctx, "Sure?", "", agent.DialogOptions{Always: "key"})
			return answered(int(answer), true, err)
		}),
		ask("type", func(ctx context.Context, args string) (command.Outcome, error) {
			return answered(ui.Input(ctx, "What?", args, agent.DialogOptions{}))
		}),
		ask("write", func(ctx context.Context, args string) (command.Outcome, error) {
			return answered(ui.Editor(ctx, "What?", args, agent.DialogOptions{}))
		}),
		ask("soon", func(ctx context.Context, _ string) (command.Outcome, error) {
			return answered(ui.Input(ctx, "Quick?", "", agent.DialogOptions{TimeoutMS: 1}))
		}),
	}
}

func TestAClientIsAskedAndItsAnswerIsWhatTheHookGets(t *testing.T) {
	t.Parallel()
	c := start(t, setup{commands: asking})
	const choose = `{"type":"extension_ui_request","id":"*","method":"select","title":"Which?","options":["one","one (2)","three"],"timeout":60000}`
	const sure = `{"type":"extension_ui_request","id":"*","method":"confirm","title":"Sure?","message":""}`
	const input = `{"type":"extension_ui_request","id":"*","method":"input","title":"What?","placeholder":"hint"}`
	const editor = `{"type":"extension_ui_request","id":"*","method":"editor","title":"What?","prefill":"a\u0007"}`
	for _, test := range []struct{ command, question, answer, got string }{
		{"/choose", choose, `"value":"one"`, `["1"] true`},
		{"/choose", choose, `"value":"one (2)"`, `["2"] true`},
		{"/choose", choose, `"value":"three"`, `["three"] true`},
		{"/choose", choose, `"value":"another"`, `["another"] true`},
		{"/choose", choose, `"value":3`, `[] false`},
		{"/choose", choose, `"confirmed":true`, `[] false`},
		{"/choose", choose, `"cancelled":true,"value":"three"`, `[] false`},
		{"/choose", choose, `"cancelled":false,"value":"three"`, `["three"] true`},
		{"/sure", sure, `"confirmed":true`, `'\x01' true`},
		{"/sure", sure, `"confirmed":"yes"`, `'\x00' true`},
		{"/sure", sure, `"value":"yes"`, `'\x00' true`},
		{"/sure", sure, `"confirmed":true,"cancelled":true`, `'\x00' true`},
		{"/sure", sure, `"confirmed":false`, `'\x00' true`},
		{"/type hint", input, `"value":""`, `"" true`},
		{"/type hint", input, `"value":"\u2028é"`, `"\u2028é" true`},
		{"/type hint", input, `"value":null`, `"" false`},
		{"/type hint", input, `"cancelled":true`, `"" false`},
		{"/write a\x07", editor, `"value":"two\nlines"`, `"two\nlines" true`},
	} {
		c.send(`{"id":"1","type":"prompt","message":` + quote(test.command) + `}`)
		question := c.until("extension_ui_request")
		check(t, question, test.question)
		var q struct{ ID string }
		decode(t, question, &q)
		c.send(`{"type":"extension_ui_response","id":"`+q.ID+`",`+test.answer+`}`, `{"type":"extension_ui_response","id":"`+q.ID+`","value":"late"}`)
		var shown struct{ Message string }
		decode(t, c.until(`"notify"`), &shown)
		if shown.Message != strings.ReplaceAll(test.got, "\u2028", `\u2028`) {
			t.Errorf("%s with %s: the hook got %s, want %s", test.command, test.answer, shown.Message, test.got)
		}
		check(t, c.until(`"id":"1"`), `*"success":true*`)
	}
	for _, name := range []string{"several", "soon"} { // without an answer
		c.send(prompt("2", "/"+name))
		check(t, c.until(`"id":"2"`), `*"success":true*`)
	}
}

// quote is a string as JSON.
func quote(s string) string {
	b, _ := encode(s)
	return string(b)
}

func TestDialogsAreAnsweredInAnyOrderAndBlockNothing(t *testing.T) {
	t.Parallel()
	c := start(t, setup{commands: asking})
	ids := map[string]string{}
	for _, id := range []string{"a", "b", "c"} {
		c.send(prompt(id, "/type "+id))
		var q struct{ ID string }
		decode(t, c.until(`"method":"input"`), &q)
		ids[id] = q.ID
	}
	check(t, c.answerTo(prompt("d", "a prompt")), `*"disposition":"started"}}`)
	c.until("agent_settled")
	c.send(`{"type":"extension_ui_response"}`, `{"type":"extension_ui_response","id":"nobody","value":"x"}`, `{"type":"extension_ui_response","id":7}`)
	for _, id := range []string{"c", "a", "b"} {
		c.send(`{"type":"extension_ui_response","id":"` + ids[id] + `","value":"for ` + id + `"}`)
		check(t, c.until(`"notify"`), `*\"for `+id+`\" true*`)
		check(t, c.until(`"response"`), `{"id":"`+id+`",*"success":true*`)
	}
}

func TestADialogOfTheStartIsAnsweredBeforeThereAreCommands(t *testing.T) {
	t.Parallel()
	answered := make(chan string, 1)
	c := start(t, setup{hooks: func(ui agent.UI, _ func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(ctx context.Context, _ *agent.SessionStart) error {
			text, _, err := ui.Input(ctx, "Who?", "", agent.DialogOptions{})
			answered <- text
			return err
		})}
	}})
	c.send(prompt("1", "waits"), `{"id":"2","type":"get_state"}`)
	var q struct{ ID string }
	var rest []string
	for q.ID == "" {
		if line := c.next(); strings.Contains(line, `"method":"input"`) {
			decode(t, line, &q)
		} else {
			rest = append(rest, line)
		}
	}
	if len(rest) == 0 {
		c.until(`"id":"2"`)
	}
	if c.agent == nil || userTexts(c.agent) != "" {
		t.Error("the prompt did not wait")
	}
	c.send(`{"type":"extension_ui_response","id":"` + q.ID + `","value":"me"}`)
	if got := <-answered; got != "me" {
		t.Errorf("the hook got %q", got)
	}
	check(t, c.until(`"id":"1"`), `*"success":true*`)
}

func TestADialogBehindTheEndOfTheInputIsAnswered(t *testing.T) {
	t.Parallel()
	c := start(t, setup{hooks: func(ui agent.UI, _ func() *agent.Agent) []agent.Listener {
		return []agent.Listener{on(func(ctx context.Context, _ *agent.SessionShutdown) error {
			_, err := ui.Confirm(ctx, "Leave?", "", agent.DialogOptions{})
			return err
		})}
	}})
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestAnAgentWithoutACallIsAStatusUntilItEnds(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	const status = `{"type":"extension_ui_request","id":"*","method":"setStatus","statusKey":"agent:reviewer"`
	for _, test := range []struct {
		event agent.Event
		want  []string
	}{
		{&agent.ChildStart{Name: "reviewer", Depth: 1, Prompt: "Review the\nchange"},
			[]string{status + `,"statusText":"Review the"}`, `{"type":"child_start","name":"reviewer","depth":1,"prompt":"Review the\nchange"}`}},
		{&agent.ChildUpdate{Name: "reviewer", Text: "read a.go\nbash make"}, []string{status + `,"statusText":"bash make"}`}},
		{&agent.ChildEnd{Name: "reviewer", StopReason: "completed", Usage: message.Usage{Input: 7, TotalTokens: 7}, Text: "fine"},
			[]string{status + `}`, `{"type":"child_end","name":"reviewer","stopReason":"completed","usage":{"input":7,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":7,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"text":"fine"}`}},
		// For a call: that shows what it does.
		{&agent.ChildStart{Name: "helper", Depth: 1, Prompt: "p", Call: "c1"}, []string{`{"type":"child_start","name":"helper","depth":1,"prompt":"p","toolCallId":"c1"}`}},
		{&agent.ChildEnd{Name: "helper", StopReason: "error", Error: "no key", Call: "c1"},
			[]string{`{"type":"child_end","name":"helper","stopReason":"error","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"text":"","errorMessage":"no key","toolCallId":"c1"}`}},
	} {
		go c.agent.TellChild(t.Context(), test.event)
		for _, want := range test.want {
			check(t, c.next(), want)
		}
	}
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

func TestWhatHooksShowIsSent(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	ui := c.server.UI()
	for _, test := range []struct {
		show func()
		want string
	}{
		{func() { ui.Notify("a\x1b]0;x\x07\tb\n", agent.LevelWarning) }, `"method":"notify","message":"a\tb\n","notifyType":"warning"}`},
		{func() { ui.SetStatus("k", "two\nlines") }, `"method":"setStatus","statusKey":"k","statusText":"two lines"}`},
		{func() { ui.SetStatus("k", "") }, `"method":"setStatus","statusKey":"k"}`},
		{func() { ui.SetWidget(agent.Above, "k", []string{"a", "b\x07"}) }, `"method":"setWidget","widgetKey":"k","widgetLines":["a","b"]}`},
		{func() { ui.SetWidget(agent.Above, "k", []string{}) }, `"method":"setWidget","widgetKey":"k","widgetLines":[]}`},
		{func() { ui.SetWidget(agent.Below, "k", nil) }, `"method":"setWidget","widgetKey":"k","widgetPlacement":"belowEditor"}`},
		{func() {
			ui.SetPlan([]agent.PlanItem{{Content: "a", Status: "completed"}, {Content: "b", Status: "in_progress"}, {Content: "c", Status: "pending"}})
		}, `"method":"setWidget","widgetKey":"plan","widgetLines":["[x] a","[>] b","[ ] c"]}`},
		{func() { ui.SetPlan(nil) }, `"method":"setWidget","widgetKey":"plan"}`},
		{func() { ui.SetTitle("") }, `"method":"setTitle","title":""}`},
		{func() { ui.SetEditorText("<b>") }, `"method":"set_editor_text","text":"<b>"}`},
		{func() { _ = c.server.Handle(t.Context(), &agent.ModeSelect{Name: "plan"}) }, `"method":"setStatus","statusKey":"mode","statusText":"plan"}`},
		{func() { _ = c.server.Handle(t.Context(), &agent.ModeSelect{Previous: "plan"}) }, `"method":"setStatus","statusKey":"mode"}`},
	} {
		go test.show()
		check(t, c.next(), `{"type":"extension_ui_request","id":"*",`+test.want)
	}
	ui.SetWidget(agent.Header, "k", []string{"a"})
	ui.SetWidget(agent.Footer, "k", nil)
	ui.SetWorking("x")
	ui.SetIndicator([]string{"x"}, time.Second)
	if surface, err := ui.Custom(nil, agent.SurfaceOptions{}); surface != nil || err != nil {
		t.Error(surface, err)
	}
	if _, wide := ui.(agent.Wide); wide {
		t.Error("hooks draw for the width of a client, which has none")
	}
	if _, desk := ui.(agent.Desk); desk {
		t.Error("a client has a clipboard")
	}
	if _, err := ui.Lend(t.Context(), agent.Program{}); err == nil {
		t.Error("a program got a terminal")
	}
	if !ui.HasUI() || ui.EditorText() != "" || ui.Theme().Paint("bold", "a") != "a" {
		t.Error("the interface says something else of itself")
	}
	check(t, c.answerTo(`{"id":"1","type":"get_available_thinking_levels"}`), `*"levels"*`)
}

func TestNoticesAreForTheClientOnceItHasSpoken(t *testing.T) {
	t.Parallel()
	c := start(t, setup{})
	warn := func(text string, level agent.Level, failed *agent.HookFailed) {
		_ = c.server.Handle(t.Context(), &agent.Notice{Text: text, Level: level, Failed: failed})
	}
	warn("before", agent.LevelWarning, nil)
	c.answerTo(`{"id":"1","type":"get_state"}`)
	go func() {
		warn("info\x07", agent.LevelInfo, nil)
		warn("of a hook", agent.LevelError, &agent.HookFailed{Hook: "h"})
		warn("after", agent.LevelError, nil)
		_ = c.server.Handle(t.Context(), &agent.HookFailed{Hook: "h", Path: "/h.lua", Event: "tool_call", Message: "broken"})
		_ = c.server.Handle(t.Context(), &agent.HookFailed{Hook: "h", Path: "/h.lua", Event: "/do", Message: "broken"})
	}()
	check(t, c.next(), `*"method":"notify","message":"after","notifyType":"error"}`)
	check(t, c.next(), `{"type":"extension_error","extensionPath":"/h.lua","event":"tool_call","error":"broken"}`)
	check(t, c.next(), `{"type":"extension_error","extensionPath":"command:do","event":"command","error":"broken"}`)
	if got := c.errs.String(); got != "warning: before\ninfo\n" {
		t.Errorf("a user reads %q", got)
	}
}
