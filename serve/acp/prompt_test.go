package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/internal/testing/acptest"
	"pi/session/message"
)

func TestHowPromptsEnd(t *testing.T) {
	t.Parallel()
	loop := []llm.Delta{calling("c", "ls", "{}"), stop(message.StopToolUse)}
	for _, c := range []struct {
		name, ends, texts string
		model             model
		edit              func(*agent.Options)
	}{
		{"answered", "end_turn", "re: go", nil, nil},
		{"cut off", "max_tokens", "half", answering(map[string][]llm.Delta{"go": {text("half"), stop(message.StopLength)}}), nil},
		{"too many turns", "max_turn_requests", "", func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
			for _, d := range loop {
				if !yield(d, nil) {
					return
				}
			}
		}, func(o *agent.Options) { o.Settings.MaxTurns = 2 }},
		{"too much money", "-32010 ", "", answering(map[string][]llm.Delta{"go": {
			calling("c", "ls", "{}"), {Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 1, Cost: message.Cost{Total: 5}}}, stop(message.StopToolUse)}}),
			func(o *agent.Options) { o.Settings.MaxCost = 1 }},
		{"too long", "-32010 ", "0123456789", answering(map[string][]llm.Delta{"go": {text("0123456789"), text(strings.Repeat("x", 5000)), stop(message.StopEnd)}}),
			func(o *agent.Options) { o.Settings.MaxAnswerBytes = 3000 }},
		{"failed", "-32010 test: the server burns; water it", "half", func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
			if yield(text("half"), nil) {
				yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: "the server\nburns", NextStep: "water it"})
			}
		}, nil},
		{"refused", "refusal", "I", answering(map[string][]llm.Delta{"go": {text("I"), {Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Raw: "refusal"}}}}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, id := openedIn(t, &host{model: c.model, edit: c.edit}, object{})
			if ends := r.Prompt(id, "go"); !strings.HasPrefix(ends, c.ends) || strings.Contains(ends, "\n") || len(ends) > 500 {
				t.Errorf("ended with %s, not %s", ends, c.ends)
			}
			if texts := r.Texts(id, agentChunk); !strings.HasPrefix(texts, c.texts) {
				t.Errorf("%q, not %q", texts, c.texts)
			}
			if users := r.Texts(id, userChunk); users != "" {
				t.Errorf("the prompt came back: %q", users)
			}
		})
	}
}

// What the model refused, and its answer, is not in the next request.
func TestARefusedPromptIsTakenOut(t *testing.T) {
	t.Parallel()
	var last *llm.Request
	m := answering(map[string][]llm.Delta{"bad": {text("no"), {Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Raw: "refusal"}}}})
	r, id := openedIn(t, &host{model: func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		last = q
		m(ctx, q, yield)
	}}, object{})
	for _, c := range []struct{ text, ends string }{{"good", "end_turn"}, {"bad", "refusal"}, {"better", "end_turn"}} {
		if ends := r.Prompt(id, c.text); ends != c.ends {
			t.Fatalf("%s: %s", c.text, ends)
		}
	}
	var texts []string
	for _, m := range last.Messages {
		texts = append(texts, m.Text())
	}
	if got := strings.Join(texts, "|"); got != "good|re: good|better" {
		t.Errorf("the model got %s", got)
	}
}

// Each message has an id, and so does each attempt at one.
func TestChunksHaveTheIDOfTheirMessage(t *testing.T) {
	t.Parallel()
	attempts := 0
	r, id := openedIn(t, &host{model: func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		attempts++
		if attempts == 1 {
			if yield(think("hm"), nil) && yield(text("bro"), nil) && yield(calling("c1", "ls", `{"pa`), nil) {
				yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: "gone", Retryable: true})
			}
			return
		}
		for _, d := range []llm.Delta{think("a"), think("b"), text("wh"), text("ole"), stop(message.StopEnd)} {
			if !yield(d, nil) {
				return
			}
		}
	}, edit: func(o *agent.Options) {
		o.Settings.Retry = agent.RetrySettings{MaxAttempts: 2, BaseDelay: time.Millisecond}
	}}, object{})
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var got []string
	ids := map[string]int{}
	for _, u := range r.Updates(id) {
		switch u.Kind {
		case agentChunk, thoughtChunk:
			if ids[u.MessageID] == 0 {
				ids[u.MessageID] = len(ids) + 1
			}
			got = append(got, fmt.Sprintf("%d %s", ids[u.MessageID], u.Text()))
		case "tool_call", "tool_call_update":
			got = append(got, u.CallID+" "+u.Status)
		}
	}
	if want := "1 hm, 1 bro, c1 pending, 2 [pi] retry 1/2 in 1 s: test: gone\n\n, c1 failed, 3 a, 3 b, 3 wh, 3 ole"; strings.Join(got, ", ") != want {
		t.Errorf("%s, not %s", strings.Join(got, ", "), want)
	}
}

func TestASecondPromptIsRefusedWhileOneRuns(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{model: answering(map[string][]llm.Delta{"wait": {text("…"), {}}})}, object{})
	first := r.StartPrompt(id, "wait")
	if ends := r.Prompt(id, "too early"); !strings.HasPrefix(ends, "-32600 ") || !strings.Contains(ends, "already processing") {
		t.Error(ends)
	}
	r.Notify("session/cancel", object{"sessionId": id})
	if ends := r.Ending(first); ends != "cancelled" {
		t.Error(ends)
	}
	if ends := r.Prompt(id, "now"); ends != "end_turn" {
		t.Error(ends)
	}
}

// Two prompts and a cancel in one write: the second is refused and the first cancelled.
func TestWhatComesInOneWriteKeepsItsOrder(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{model: answering(map[string][]llm.Delta{"wait": {text("…"), {}}})}, object{})
	prompt := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"wait"}]}}`, n, id)
	}
	cancel := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
	option := fmt.Sprintf(`{"jsonrpc":"2.0","id":73,"method":"session/set_config_option","params":{"sessionId":%q,"configId":"model","value":"test/two"}}`, id)
	for _, line := range []string{prompt(71), prompt(72), cancel, option, prompt(74)} {
		r.Send(line)
	}
	if ends := r.Ending(71); ends != "cancelled" {
		t.Error(ends)
	}
	if ends := r.Ending(72); !strings.HasPrefix(ends, "-32600") {
		t.Error(ends)
	}
	if _, failed := r.Await(73); failed != nil {
		t.Error(failed)
	}
	r.Notify("session/cancel", object{"sessionId": id})
	_ = r.Ending(74)
}

func TestCommandsRunAndOtherWordsAreSent(t *testing.T) {
	t.Parallel()
	more := func(a *agent.Agent) []command.Command {
		run := func(run func(args string) (command.Outcome, error)) func(context.Context, string) (command.Outcome, error) {
			return func(_ context.Context, args string) (command.Outcome, error) { return run(args) }
		}
		return []command.Command{
			{Name: "fine", Args: "[how]", Help: "be\nfine", Hook: "h", Run: run(func(args string) (command.Outcome, error) {
				return command.Outcome{Status: "it is " + args}, nil
			})},
			{Name: "broken", Hook: "h", Run: run(func(string) (command.Outcome, error) { return command.Outcome{}, errors.New("it\nbroke") })},
			{Name: "tell", Hook: "h", Run: run(func(args string) (command.Outcome, error) {
				return command.Outcome{Prompt: &agent.Prompt{Text: "told " + args}}, nil
			})},
			{Name: "ask", Hook: "h", Run: func(ctx context.Context, args string) (command.Outcome, error) {
				var said []string
				for _, word := range strings.Fields(args) {
					settled, err := a.Await(ctx, agent.Prompt{Text: word})
					said = append(said, fmt.Sprint(settled.Outcome, " ", len(settled.Messages), " ", err))
				}
				return command.Outcome{Status: strings.Join(said, ", ")}, nil
			}},
			{Name: "later", Hook: "h", Run: run(func(string) (command.Outcome, error) {
				return command.Outcome{}, a.Submit(context.Background(), agent.Prompt{Text: "by a hook"})
			})},
		}
	}
	r, id := openedIn(t, &host{more: more}, object{})
	first := r.WaitUpdate("the commands", func(u acptest.Update) bool { return u.Kind == "available_commands_update" })
	var names []string
	for _, c := range first.Commands {
		names = append(names, c.Name)
	}
	for _, name := range []string{"fine", "compact", "model"} {
		if !slices.Contains(names, name) {
			t.Errorf("/%s is not offered", name)
		}
	}
	for name := range refusals() {
		if slices.Contains(names, name) {
			t.Errorf("/%s is offered", name)
		}
	}
	for _, c := range []struct{ sent, ends, texts string }{
		{"/fine today", "end_turn", "it is today"},
		{"/broken", "-32010 /broken: it broke", ""},
		{"/tell me", "end_turn", "re: told me"},
		{"/ask one two", "end_turn", "re: onere: twocompleted 2 <nil>, completed 2 <nil>"},
		{"/later", "end_turn", "re: by a hook"},
		{"/nothing such", "end_turn", "re: /nothing such"},
		{"/finer", "end_turn", "re: /finer"},
		{"/usr/bin is a path", "end_turn", "re: /usr/bin is a path"},
		{"!ls", "end_turn", "re: !ls"},
		{"/new", "end_turn", "/new is not available here: the client decides which session this is: begin or open one there"},
		{"/clear", "end_turn", "/clear is not available here: the client decides which session this is: begin or open one there"},
		{"/quit", "end_turn", "/quit is not available here: the client decides when this ends: close the session there"},
	} {
		r.Forget()
		if ends := r.Prompt(id, c.sent); ends != c.ends {
			t.Errorf("%s: %s", c.sent, ends)
		}
		if texts := r.Texts(id, agentChunk); texts != c.texts {
			t.Errorf("%s: %q, not %q", c.sent, texts, c.texts)
		}
	}
	// The first block decides, or the last text, white space aside; the rest goes along.
	for _, c := range []struct{ blocks, texts string }{
		{`[{"type":"text","text":"/tell me"},{"type":"text","text":"more"}]`, "re: told me\nmore"},
		{`[{"type":"text","text":"/fine"},{"type":"resource_link","name":"n","uri":"u"}]`, "it is "},
		{`[{"type":"text","text":"see"},{"type":"text","text":"\n/fine today \n"}]`, "it is today"},
		{`[{"type":"resource","resource":{"uri":"u","text":"code"}},{"type":"text","text":" /tell me"},{"type":"resource_link","name":"n","uri":"u"}]`, "re: told me\n<file name=\"u\" uri=\"u\">\ncode\n</file>\n[@n](u)"},
		{`[{"type":"text","text":"/fine"},{"type":"text","text":"see"},{"type":"text","text":" "}]`, "it is "},
		{`[{"type":"text","text":"a"},{"type":"text","text":"/fine"},{"type":"text","text":"b"}]`, "re: a\n/fine\nb"},
		{`[{"type":"resource","resource":{"uri":"u","text":"/fine"}}]`, "re: <file name=\"u\" uri=\"u\">\n/fine\n</file>"},
	} {
		r.Forget()
		r.Send(`{"jsonrpc":"2.0","id":"x","method":"session/prompt","params":{"sessionId":"` + id + `","prompt":` + c.blocks + `}}`)
		r.Wait("the end", func(l acptest.Line) bool { return string(l.ID) == `"x"` })
		if texts := r.Texts(id, agentChunk); texts != c.texts {
			t.Errorf("%s: %q, not %q", c.blocks, texts, c.texts)
		}
	}
}

// A prompt that must not be sent is refused, unless the client has chosen the model.
func TestWhoAnswersIsDecidedBeforeAPrompt(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{ready: func(chosen bool) error {
		if !chosen {
			return errors.New("No API key found")
		}
		return nil
	}}, object{})
	if ends := r.Prompt(id, "go"); ends != "-32010 No API key found" {
		t.Error(ends)
	}
	r.Must("session/set_config_option", object{"sessionId": id, "configId": "model", "value": "test/one"}, nil)
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Error(ends)
	}
}

// While the client asks nothing, what hooks submit runs, and is shown.
func TestWhatHooksSubmitRuns(t *testing.T) {
	t.Parallel()
	h := &host{}
	r, id := openedIn(t, h, object{"session": object{"notices": object{}}})
	if err := h.agent(0).Submit(t.Context(), agent.Prompt{Text: "tick"}); err != nil {
		t.Fatal(err)
	}
	r.WaitUpdate("the prompt", func(u acptest.Update) bool { return u.Kind == userChunk && u.Text() == "tick" })
	r.WaitUpdate("the answer", func(u acptest.Update) bool { return u.Kind == agentChunk && u.Text() == "re: tick" })
	h.agent(0).Shutdown()
	r.WaitUpdate("that the program goes on", func(u acptest.Update) bool { return u.Kind == "notice" && strings.Contains(u.Title, "end") })
	if ends := r.Prompt(id, "go"); ends != "end_turn" {
		t.Error(ends)
	}
}

func TestCancelEndsAPromptInAnyPhase(t *testing.T) {
	t.Parallel()
	waits := func(kind agent.Kind) func(SessionRequest) agent.Listener {
		return func(SessionRequest) agent.Listener {
			return listening(func(ctx context.Context, e agent.Event) error {
				if e.Kind() == kind {
					<-ctx.Done()
				}
				return nil
			})
		}
	}
	for _, c := range []struct {
		name, sent string
		h          *host
		reached    func(acptest.Update) bool // nil: at once
	}{
		{"at once", "wait", &host{}, nil},
		{"before the prompt is taken", "wait", &host{hooks: waits(agent.KindInput)}, nil},
		{"in the stream", "stream", &host{}, func(u acptest.Update) bool { return u.Kind == agentChunk }},
		{"in a tool", "bash", &host{}, func(u acptest.Update) bool { return strings.Contains(string(u.Content), "begun") }},
		{"at a gate", "bash", &host{hooks: waits(agent.KindToolCall)}, func(u acptest.Update) bool { return u.Kind == "tool_call" }},
		{"in a command", "/hang", &host{more: func(*agent.Agent) []command.Command {
			return []command.Command{{Name: "hang", Hook: "h", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
				<-ctx.Done()
				return command.Outcome{}, ctx.Err()
			}}}
		}}, nil},
		{"in a prompt that a command waits for", "/ask", &host{more: func(a *agent.Agent) []command.Command {
			return []command.Command{{Name: "ask", Hook: "h", Run: func(ctx context.Context, _ string) (command.Outcome, error) {
				for range 2 {
					if _, err := a.Await(ctx, agent.Prompt{Text: "stream"}); !errors.Is(err, agent.ErrAborted) {
						panic("the command goes on")
					}
				}
				return command.Outcome{}, ctx.Err()
			}}}
		}}, func(u acptest.Update) bool { return u.Kind == agentChunk }},
		{"in a retry", "fail", &host{edit: func(o *agent.Options) { o.Settings.Retry = agent.RetrySettings{MaxAttempts: 3, BaseDelay: time.Minute} }},
			func(u acptest.Update) bool { return u.Kind == "notice" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answers := answering(map[string][]llm.Delta{"wait": {{}}, "stream": {text("…"), {}},
				"bash": {calling("c", "bash", `{"command":"echo begun; sleep 60"}`), stop(message.StopToolUse)}})
			c.h.model = func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
				if q.Messages[len(q.Messages)-1].Text() == "fail" {
					yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: "gone", Retryable: true})
					return
				}
				answers(ctx, q, yield)
			}
			r, id := openedIn(t, c.h, object{"session": object{"notices": object{}}})
			prompt := r.StartPrompt(id, c.sent)
			if c.reached != nil {
				r.WaitUpdate("that it is under way", c.reached)
			}
			r.Notify("session/cancel", object{"sessionId": id})
			if ends := r.Ending(prompt); ends != "cancelled" {
				t.Error(ends)
			}
			for _, u := range r.Updates(id) {
				if u.Kind == "tool_call" {
					r.WaitUpdate("the end of the call", func(u acptest.Update) bool { return u.Status == callFailed })
				}
			}
		})
	}
}

// The request of a prompt can be cancelled, too.
func TestCancelRequestCancelsAPrompt(t *testing.T) {
	t.Parallel()
	r, id := openedIn(t, &host{model: answering(map[string][]llm.Delta{"wait": {text("…"), {}}})}, object{})
	prompt := r.StartPrompt(id, "wait")
	r.WaitUpdate("a chunk", func(u acptest.Update) bool { return u.Kind == agentChunk })
	r.Notify("$/cancel_request", object{"requestId": prompt})
	if ends := r.Ending(prompt); ends != "cancelled" {
		t.Error(ends)
	}
}

// A command that does not end is answered all the same, and what it still shows is dropped;
// the next prompt waits for its end.
func TestACancelIsAnsweredThoughNothingEnds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	r, id := openedIn(t, &host{more: func(*agent.Agent) []command.Command {
		return []command.Command{{Name: "deaf", Hook: "h", Run: func(context.Context, string) (command.Outcome, error) {
			<-release
			return command.Outcome{Status: "too late"}, nil
		}}}
	}}, object{})
	prompt := r.StartPrompt(id, "/deaf")
	r.Notify("session/cancel", object{"sessionId": id})
	if ends := r.Ending(prompt); ends != "cancelled" {
		t.Error(ends)
	}
	next := r.StartPrompt(id, "next")
	close(release)
	if ends := r.Ending(next); ends != "end_turn" {
		t.Error(ends)
	}
	if texts := r.Texts(id, agentChunk); texts != "re: next" {
		t.Errorf("%q", texts)
	}
}

// A prompt that ends with the time that its cancel has does not leave the session silent.
func TestATurnThatEndsWithTheTimeOfItsCancelMutesNothing(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{false, true} {
		s := &session{}
		finished := make(chan ending, 1)
		if ended {
			finished <- ending{}
		}
		if s.muteUntil(finished); s.out.muted == ended {
			t.Errorf("ended %v: muted %v", ended, s.out.muted)
		}
	}
}

// A cancel ends a compaction as well, and what was said before is sent again as it was.
func TestACancelLosesNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	var last *llm.Request
	summary := make(chan struct{}, 1)
	answers := answering(map[string][]llm.Delta{"wait": {text("half"), {}}})
	r, id := openedIn(t, &host{model: func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		if len(q.Tools) == 0 { // it is for a summary
			summary <- struct{}{}
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
			return
		}
		last = q
		answers(ctx, q, yield)
	}}, object{})
	for _, text := range []string{"one", "two"} {
		if ends := r.Prompt(id, text); ends != "end_turn" {
			t.Fatal(ends)
		}
	}
	compacting := r.StartPrompt(id, "/compact")
	<-summary
	r.Notify("session/cancel", object{"sessionId": id})
	if ends := r.Ending(compacting); ends != "cancelled" {
		t.Error(ends)
	}
	waiting := r.StartPrompt(id, "wait")
	r.WaitUpdate("a chunk", func(u acptest.Update) bool { return u.Text() == "half" })
	r.Notify("session/cancel", object{"sessionId": id})
	if ends := r.Ending(waiting); ends != "cancelled" {
		t.Error(ends)
	}
	if ends := r.Prompt(id, "three"); ends != "end_turn" {
		t.Fatal(ends)
	}
	var texts []string
	for _, m := range last.Messages {
		texts = append(texts, m.Text())
	}
	if got := strings.Join(texts, "|"); got != "one|re: one|two|re: two|wait|three" {
		t.Error(got)
	}
}

// Hooks see the text of the client before the model does, and what looks like a command and is
// none; they may put another text or a command in its place, or be done with it.
func TestHooksSeeThePromptAsTheClientSentIt(t *testing.T) {
	t.Parallel()
	ran := ""
	h := &host{model: answering(nil),
		hooks: func(SessionRequest) agent.Listener {
			return listening(func(_ context.Context, e agent.Event) error {
				l, ok := e.(*agent.Line)
				switch {
				case !ok:
				case l.Text == "shout":
					l.Text = "SHOUT"
				case l.Text == "/none x":
					l.Text = "taken"
				case l.Text == "done":
					l.Handled = true
				case l.Text == "mine":
					l.Command, l.CommandBy = "/tell it", "h"
				}
				return nil
			})
		},
		more: func(*agent.Agent) []command.Command {
			return []command.Command{{Name: "tell", Hook: "h", Run: func(_ context.Context, args string) (command.Outcome, error) {
				ran += "told " + args
				return command.Outcome{}, nil
			}}}
		}}
	r, id := openedIn(t, h, object{})
	for _, c := range []struct{ text, answer string }{
		{"quiet", "re: quiet"}, {"shout", "re: SHOUT"}, {"/none x", "re: taken"}, {"/other x", "re: /other x"}, {"done", ""}, {"mine", ""}, {"/tell me", ""},
	} {
		if ends := r.Prompt(id, c.text); ends != "end_turn" {
			t.Fatalf("%s: %s", c.text, ends)
		}
		said := ""
		for _, u := range r.Updates(id) {
			if u.Kind == agentChunk {
				said += u.Text()
			}
		}
		if !strings.HasSuffix(said, c.answer) || c.answer == "" && strings.HasSuffix(said, c.text) {
			t.Errorf("%s: the client read %q", c.text, said)
		}
	}
	if ran != "told ittold me" {
		t.Errorf("the command ran as %q", ran)
	}
}
