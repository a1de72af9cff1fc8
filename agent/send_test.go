package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pi/agent/llm"
	"pi/session/message"
)

func custom(s string) *message.Message {
	return &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock(s)}}
}

// during makes a harness whose only tool does f while the agent works.
func during(t *testing.T, o Options, f func(ctx context.Context, r *harness), replies ...reply) *harness {
	var r *harness
	o.Tools = []Tool{tool("look", func(ctx context.Context) (Result, error) { f(ctx, r); return TextResult("ok"), nil })}
	r = newHarness(t, o, append([]reply{use(call{"a", "look", `{}`})}, replies...)...)
	return r
}

func TestCustomMessageIsDeliveredWhenItsSenderSaid(t *testing.T) {
	head := []string{"user: go", "assistant a=look{}", "toolResult a: ok"}
	for _, c := range []struct {
		name    string
		d       Delivery
		trigger bool
		want    []string
		later   []string // what a second prompt adds
	}{
		{"steer", DeliverSteer, false, []string{"custom: hm", "assistant: b"}, []string{"user: more", "assistant: c"}},
		{"steer that would trigger", DeliverSteer, true, []string{"custom: hm", "assistant: b"}, []string{"user: more", "assistant: c"}},
		{"follow up", DeliverFollowUp, false, []string{"assistant: b", "custom: hm", "assistant: c"}, []string{"user: more", "assistant: d"}},
		{"next turn", DeliverNextTurn, false, []string{"assistant: b"}, []string{"user: more", "custom: hm", "assistant: c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := during(t, Options{Listeners: []Listener{on(func(e *Input) {
				if e.Text == "hm" {
					t.Error("the input event came for a custom message")
				}
			})}}, func(ctx context.Context, r *harness) {
				if err := r.SendCustom(ctx, Prompt{Custom: custom("hm")}, c.d, c.trigger); err != nil {
					t.Error(err)
				}
			}, say("b"), say("c"), say("d"))
			r.prompt("go")
			want := append(slices.Clone(head), c.want...)
			r.wantTalk(want...)
			r.prompt("more")
			r.wantTalk(append(want, c.later...)...)
		})
	}
}

func TestCustomMessageToAnIdleAgent(t *testing.T) {
	shown := 0
	r := newHarness(t, Options{Listeners: []Listener{on(func(*CustomShow) { shown++ }), on(func(*Input) { t.Error("the input event came") })}}, say("hi"))
	seen := custom("look")
	seen.Display = true
	for _, m := range []*message.Message{seen, custom("psst")} {
		if err := r.SendCustom(t.Context(), Prompt{Custom: m}, DeliverFollowUp, false); err != nil {
			t.Fatal(err)
		}
	}
	r.wantTalk("custom: look", "custom: psst")
	if shown != 1 || len(slices.Collect(r.Inbox().TakeSubmitted())) != 0 {
		t.Errorf("%d shown", shown)
	}
	if err := r.SendCustom(t.Context(), Prompt{Custom: custom("now")}, DeliverSteer, true); err != nil {
		t.Fatal(err)
	}
	prompts := slices.Collect(r.Inbox().TakeSubmitted())
	if len(prompts) != 1 || prompts[0].Custom == nil || prompts[0].Source != "hook" {
		t.Fatalf("handed in %+v", prompts)
	}
	if err := r.Prompt(t.Context(), prompts[0]); err != nil {
		t.Fatal(err)
	}
	r.wantTalk("custom: look", "custom: psst", "custom: now", "assistant: hi")
}

// A message without content is for the user alone: whatever its sender said of when it is
// delivered, no request is made for it, and it waits for no prompt.
func TestCustomMessageThatSaysNothingAsksNobody(t *testing.T) {
	for _, content := range [][]message.Block{nil, {message.TextBlock("")}, {message.TextBlock(" \n")}} {
		for _, trigger := range []bool{false, true} {
			for _, d := range []Delivery{DeliverSteer, DeliverFollowUp, DeliverNextTurn} {
				t.Run(fmt.Sprintf("%d blocks, %d, %v", len(content), d, trigger), func(t *testing.T) {
					shown := 0
					send := func(r *harness) {
						m := &message.Message{Role: message.RoleCustom, CustomType: "mark", Content: content, Display: true}
						if err := r.SendCustom(t.Context(), Prompt{Custom: m}, d, trigger); err != nil {
							t.Error(err)
						}
					}
					var r *harness
					r = during(t, Options{Listeners: []Listener{
						on(func(*CustomShow) { shown++ }),
						on(func(e *TurnStart) {
							if e.TurnIndex == 1 { // the last one
								send(r)
							}
						}),
					}}, func(_ context.Context, r *harness) { send(r) }, say("b"))
					r.prompt("go")
					send(r)
					mark := line(&message.Message{Role: message.RoleCustom, Content: content})
					r.wantTalk("user: go", "assistant a=look{}", "toolResult a: ok", mark, "assistant: b", mark, mark)
					if waiting := len(slices.Collect(r.Inbox().TakeSubmitted())); shown != 3 || waiting != 0 || r.Pending() != 0 {
						t.Errorf("%d shown, %d prompts handed in, %d wait", shown, waiting, r.Pending())
					}
				})
			}
		}
	}
}

func TestRunOfACustomMessageIsInTheFileAndKnowsItsText(t *testing.T) {
	var r *harness
	var sent, prompt string
	r = newHarness(t, Options{Listeners: []Listener{on(func(e *BeforeAgentStart) { prompt = e.Prompt })}}, func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		sent = r.file()
		say("hi")(ctx, q, yield)
	})
	if err := r.Prompt(t.Context(), Prompt{Custom: custom("wake up")}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(sent, "wake up") || prompt != "wake up" {
		t.Errorf("prompt %q; when it was sent the file held %q", prompt, sent)
	}
}

func TestUserMessageOfAHookIsDeliveredAndPassesTheInputEvent(t *testing.T) {
	for _, c := range []struct {
		d        Delivery
		behavior string
		want     string
	}{
		{DeliverSteer, "steer", "toolResult a: ok\nuser: /hm!\nassistant: b"},
		{DeliverNextTurn, "steer", "toolResult a: ok\nuser: /hm!\nassistant: b"},
		{DeliverFollowUp, "follow_up", "toolResult a: ok\nassistant: b\nuser: /hm!\nassistant: c"},
	} {
		in := on(func(e *Input) {
			if e.Text == "go" {
				return
			}
			if e.Source != "hook" || e.StreamingBehavior != c.behavior {
				t.Errorf("%+v", e)
			}
			e.Text += "!"
		})
		r := during(t, Options{Listeners: []Listener{in}}, func(ctx context.Context, r *harness) {
			if err := r.SendUser(ctx, Prompt{Text: "/hm"}, c.d); err != nil {
				t.Error(err)
			}
			if r.Pending() != 1 {
				t.Errorf("%d wait", r.Pending())
			}
		}, say("b"), say("c"))
		r.prompt("go")
		if !strings.HasSuffix(r.talk(), c.want) || r.Pending() != 0 {
			t.Errorf("%d: %s", c.d, r.talk())
		}
	}
}

func TestUserMessageToAnIdleAgentWaitsForTheFrontEnd(t *testing.T) {
	r := newHarness(t, Options{})
	for _, p := range []Prompt{{Text: "/a"}, {Text: "/b", Expand: true}} {
		if err := r.SendUser(t.Context(), p, DeliverSteer); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.SendUser(t.Context(), Prompt{Text: " "}, DeliverSteer); !errors.Is(err, ErrEmptyPrompt) {
		t.Error(err)
	}
	if r.Pending() != 2 {
		t.Errorf("%d wait", r.Pending())
	}
	got := slices.Collect(r.Inbox().TakeSubmitted())
	if len(got) != 2 || !got[0].Literal || got[1].Literal || got[0].Source != "hook" {
		t.Errorf("%+v", got)
	}
}

func TestPromptHandedInWhileTheAgentWorksIsAFollowUpUnlessItIsACommand(t *testing.T) {
	r := during(t, Options{}, func(_ context.Context, r *harness) {
		_ = r.Submit(context.Background(), Prompt{Text: "and then", Attachments: []message.Block{message.TextBlock("a file")}})
		_ = r.Submit(context.Background(), Prompt{Text: " /tools"})
		_ = r.Submit(context.Background(), Prompt{Text: "  "})
		if r.Pending() != 2 {
			t.Errorf("%d wait", r.Pending())
		}
	}, say("b"), say("c"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant a=look{}", "toolResult a: ok", "assistant: b", "user: and thena file", "assistant: c")
	if got := slices.Collect(r.Inbox().TakeSubmitted()); len(got) != 1 || got[0].Text != " /tools" {
		t.Errorf("left to the front end: %+v", got)
	}
}

func TestMessageThatAListenerHandlesMakesNoRequest(t *testing.T) {
	r := during(t, Options{Listeners: []Listener{on(func(e *Input) { e.Handled = e.Text == "mine" })}}, func(_ context.Context, r *harness) {
		_ = r.Submit(context.Background(), Prompt{Text: "mine"})
		_ = r.Submit(context.Background(), Prompt{Text: "yours", Origin: Origin{Kind: FromUser}})
		_ = r.Submit(context.Background(), Prompt{Text: "mine"})
	}, say("b"), say("c"))
	r.prompt("go")
	r.wantTalk("user: go", "assistant a=look{}", "toolResult a: ok", "assistant: b", "user: yours", "assistant: c")
}

// Nobody would look at the queues again.
func TestWhatIsSentOutsideOfTheTurnsOfARunIsForTheFrontEnd(t *testing.T) {
	for _, c := range []struct {
		name     string
		listener func(*harness) Listener
		reply    reply
	}{
		{"by who handles the prompt", func(r *harness) Listener {
			return on(func(e *Input) { _ = r.Submit(context.Background(), Prompt{Text: "instead"}); e.Handled = true })
		}, nil},
		{"at the end of a run", func(r *harness) Listener {
			return on(func(*AgentEnd) { _ = r.Submit(context.Background(), Prompt{Text: "instead"}) })
		}, say("a")},
		{"at the end of a failed run", func(r *harness) Listener {
			return on(func(*AgentEnd) { _ = r.Submit(context.Background(), Prompt{Text: "instead"}) })
		}, fail(errors.New("no route"))},
		{"when it has settled", func(r *harness) Listener {
			return on(func(*AgentSettled) { _ = r.Submit(context.Background(), Prompt{Text: "instead"}) })
		}, say("a")},
	} {
		r := newHarness(t, Options{}, c.reply)
		r.Listen(c.listener(r))
		_ = r.Prompt(t.Context(), Prompt{Text: "go"})
		if got := slices.Collect(r.Inbox().TakeSubmitted()); len(got) != 1 || got[0].Text != "instead" || r.Pending() != 0 {
			t.Errorf("%s: %+v, %d wait", c.name, got, r.Pending())
		}
	}
}

// What a run did not come to: texts of people go back to them, all else waits.
func TestWhatIsMoreThanATypedTextStaysForTheNextRun(t *testing.T) {
	file := message.TextBlock(" and a file")
	r := during(t, Options{}, func(ctx context.Context, r *harness) {
		_, _ = r.Enqueue(ctx, Prompt{Text: "typed", Source: "interactive"}, Steer)
		_, _ = r.Enqueue(ctx, Prompt{Text: "see @a.txt", Attachments: []message.Block{file}, Source: "interactive"}, Steer)
		_, _ = r.Enqueue(ctx, Prompt{Text: "with", Attachments: []message.Block{file}, Source: "rpc"}, Steer)
		_ = r.SendCustom(ctx, Prompt{Custom: custom("note")}, DeliverFollowUp, false)
		_ = r.SendUser(ctx, Prompt{Text: "of a hook"}, DeliverSteer)
		r.Abort()
	}, say("b"), say("c"), say("d"), say("e"))
	if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
		t.Fatal(err)
	}
	if got := r.Inbox().TakeQueued(); !reflect.DeepEqual(got, []string{"typed", "see @a.txt"}) || r.Pending() != 3 {
		t.Errorf("given back %q, %d wait", got, r.Pending())
	}
	r.prompt("more")
	r.wantTalk("user: go", "assistant a=look{}", "toolResult a: ok",
		"user: more", "user: with and a file", "assistant: b", "user: of a hook", "assistant: c", "custom: note", "assistant: d")
	if r.Pending() != 0 {
		t.Errorf("%d wait", r.Pending())
	}
}

func TestWhatWaitsBelongsToItsSession(t *testing.T) {
	r := newHarness(t, Options{}, say("b"))
	if err := r.SendCustom(t.Context(), Prompt{Custom: custom("old")}, DeliverNextTurn, false); err != nil {
		t.Fatal(err)
	}
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	r.prompt("go")
	r.wantTalk("user: go", "assistant: b")
}

func TestNothingThatIsSentFromManySidesIsLost(t *testing.T) {
	const senders, each = 8, 10
	var group sync.WaitGroup
	started := make(chan struct{})
	var once sync.Once
	r := newHarness(t, Options{Settings: Settings{FollowUpAll: true, SteerAll: true}, Listeners: []Listener{on(func(*Input) {}), on(func(*TurnStart) { once.Do(func() { close(started) }) })}})
	for range 2 * senders * each {
		r.model.replies = append(r.model.replies, say("ok"))
	}
	send := func(who int) {
		defer group.Done()
		<-started
		for i := range each {
			name := fmt.Sprintf("<%d.%d>", who, i)
			switch i % 4 {
			case 0:
				_ = r.SendCustom(t.Context(), Prompt{Custom: custom(name)}, DeliverSteer, true)
			case 1:
				_ = r.SendUser(t.Context(), Prompt{Text: name}, DeliverFollowUp)
			case 2:
				if ok, err := r.Enqueue(t.Context(), Prompt{Text: name}, Steer); !ok || err != nil {
					_ = r.Submit(context.Background(), Prompt{Text: name})
				}
			case 3:
				_ = r.SendCustom(t.Context(), Prompt{Custom: custom(name)}, DeliverFollowUp, false)
			}
		}
	}
	for who := range senders {
		group.Add(1)
		go send(who)
	}
	r.prompt("go")
	group.Wait()
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	talk := r.talk()
	for who := range senders {
		for i := range each {
			if name := fmt.Sprintf("<%d.%d>", who, i); strings.Count(talk, name) != 1 {
				t.Errorf("%s is there %d times", name, strings.Count(talk, name))
			}
		}
	}
}
