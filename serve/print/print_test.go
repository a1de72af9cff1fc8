package print

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestAnAnswerAtTheTokenLimitIsPrintedAndAFailure(t *testing.T) {
	out, progress, err := run(t.Context(), "long", "short")
	var limit *agent.LimitError
	if out != "half an ans\n" || progress != "" || !errors.As(err, &limit) {
		t.Errorf("%q, %q, %v", out, progress, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers with what was asked; a few prompts make it do something else.
type echo struct{}

func (echo) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	last := r.Messages[len(r.Messages)-1]
	return func(yield func(llm.Delta, error) bool) {
		reason := message.StopEnd
		if strings.HasPrefix(last.Text(), "slow") { // for tests whose time is not that of the world
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
		}
		switch text := last.Text(); {
		case last.Role == message.RoleToolResult:
			reason = message.StopReason("")
			yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: message.StopEnd}}, nil)
		case text == "slow":
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: "at last"}, nil) {
				return
			}
		case text == "act", text == "slow act":
			reason = message.StopToolUse
			if !yield(llm.Delta{Kind: llm.DeltaToolCall, ID: "c1", Name: "touch", Text: `{"path":"\u001b[2Ja"}`}, nil) {
				return
			}
		case text == "fail":
			if yield(llm.Delta{Kind: llm.DeltaText, Text: "half an ans"}, nil) {
				yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: "gone"})
			}
			return
		case text == "long":
			reason = message.StopLength
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: "half an ans"}, nil) {
				return
			}
		case text == "nothing":
		case text == "wait":
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
			return
		default:
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: "re: " + text}, nil) {
				return
			}
		}
		if reason != "" {
			yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: reason}}, nil)
		}
	}
}

type touch struct{}

func (touch) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "touch", Description: "does it", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (touch) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.TextResult("done"), nil
}

// swallow is a hook that answers for the model, stops it, and wants no new
// session.
type swallow struct {
	agent *agent.Agent
	text  string
}

func (*swallow) Wants(k agent.Kind) bool {
	return k == agent.KindInput || k == agent.KindTurnStart || k == agent.KindSessionBeforeNew
}

func (s *swallow) Handle(_ context.Context, e agent.Event) error {
	switch e := e.(type) {
	case *agent.Input:
		e.Handled = e.Text == "handled"
		s.text = e.Text
	case *agent.TurnStart:
		if strings.HasSuffix(s.text, "quit") {
			s.agent.Shutdown()
		}
		if strings.HasPrefix(s.text, "stop") {
			s.agent.Abort()
		}
	case *agent.SessionBeforeNew:
		e.Cancel = true
	}
	return nil
}

// run prints the answers to prompts and returns both streams.
func run(ctx context.Context, prompts ...string) (out, progress string, err error) {
	var o, w bytes.Buffer
	err = runTo(ctx, &o, &w, prompts...)
	return o.String(), w.String(), err
}

func runTo(ctx context.Context, out, progress io.Writer, prompts ...string) error {
	return runWith(ctx, New(out, progress), prompts...)
}

// runWith has p run prompts.
func runWith(ctx context.Context, p *Printer, prompts ...string) error {
	model := &llm.Model{Provider: "test", ID: "one", API: "test", Reasoning: true}
	models := llm.NewModels(map[string]llm.Provider{"test": echo{}})
	models.Register(llm.ProviderSpec{Name: "test", Models: llm.Listed(model)})
	hooks := &swallow{}
	a := agent.New(agent.Options{Session: session.New(session.Options{}), Models: models, Model: model, Thinking: "off",
		Tools: []agent.Tool{touch{}}, Listeners: []agent.Listener{hooks, p}})
	hooks.agent = a
	hook := func(name string, run func() (command.Outcome, error)) command.Command {
		return command.Command{Name: name, Hook: "test", Run: func(context.Context, string) (command.Outcome, error) { return run() }}
	}
	set := command.NewSet(command.Core(command.Options{Agent: a, UI: p}), func() []command.Command {
		return []command.Command{
			hook("say", func() (command.Outcome, error) { return command.Outcome{Prompt: &agent.Prompt{Text: "said"}}, nil }),
			hook("broken", func() (command.Outcome, error) { return command.Outcome{}, errors.New("it broke") }),
			hook("later", func() (command.Outcome, error) {
				_ = a.Submit(context.Background(), agent.Prompt{Text: "from a hook"})
				_ = a.Submit(context.Background(), agent.Prompt{Text: "/thinking"})
				return command.Outcome{}, nil
			}),
			hook("send", func() (command.Outcome, error) {
				_ = a.Submit(context.Background(), agent.Prompt{Text: "/thinking", Literal: true})
				custom := &message.Message{Role: message.RoleCustom, CustomType: "note", Content: []message.Block{message.TextBlock("/custom")}}
				return command.Outcome{}, a.SendCustom(ctx, agent.Prompt{Custom: custom}, agent.DeliverSteer, true)
			}),
			hook("leave", func() (command.Outcome, error) {
				_ = a.Submit(context.Background(), agent.Prompt{Text: "too late"})
				a.Shutdown()
				return command.Outcome{Status: "left", Prompt: &agent.Prompt{Text: "last"}}, nil
			}),
			hook("tell", func() (command.Outcome, error) {
				a.Notify(ctx, agent.LevelWarning, "careful\x1b[2J")
				return command.Outcome{}, nil
			}),
		}
	})
	var list []agent.Prompt
	for _, text := range prompts {
		list = append(list, agent.Prompt{Text: text})
	}
	return p.Run(ctx, a, set, list)
}

func TestOutputIsTheAnswersAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name    string
		prompts []string
		want    string
	}{
		{"one prompt", []string{"hi"}, "re: hi\n"},
		{"several prompts in order", []string{"a", "b"}, "re: a\nre: b\n"},
		{"an answer that ends in a line end gets no second one", []string{"a\n"}, "re: a\n"},
		{"a command says what it did", []string{"/thinking low"}, "thinking: low\n"},
		{"a command of a hook may ask the model", []string{"/say"}, "re: said\n"},
		{"a choice is a list where nobody can be asked", []string{"/model"}, "* test/one  thinks\n"},
		{"what hooks hand in is run after the prompt", []string{"/later", "b"},
			"re: from a hook\nthinking: [off] minimal low medium high xhigh max\nre: b\n"},
		{"literal prompts and custom messages are no commands", []string{"/send"}, "re: /thinking\nre: /custom\n"},
		{"who is asked to leave ends after the prompt at hand", []string{"a", "/leave", "b"}, "re: a\nleft\nre: last\n"},
		{"an end in the middle of a prompt is in order", []string{"quit", "b"}, "re: quit\n"},
		{"a prompt that a hook stops on its way out has no answer", []string{"stop and quit", "b"}, ""},
		{"a prompt that a hook handled has no answer", []string{"handled"}, ""},
		{"notices are no answer", []string{"/tell"}, ""},
		{"an empty answer after an effect is fine", []string{"act"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := run(t.Context(), c.prompts...)
			if err != nil || out != c.want {
				t.Errorf("out %q, error %v; want %q", out, err, c.want)
			}
		})
	}
}

func TestProgressAndNoticesGoBesideTheOutputWithoutControlCharacters(t *testing.T) {
	_, progress, err := run(t.Context(), "act", "/tell")
	if err != nil {
		t.Fatal(err)
	}
	if want := "touch {\"path\":\"\\u001b[2Ja\"}\nwarning: careful\n"; progress != want {
		t.Errorf("progress %q, want %q", progress, want)
	}
}

func TestFailuresAreTold(t *testing.T) {
	var unknown *command.UnknownError
	var failed *command.FailedError
	var provider *llm.ProviderError
	var cancelled *command.CancelledError
	for _, c := range []struct {
		name   string
		prompt string
		is     func(error) bool
	}{
		{"unknown command", "/thinkin", func(err error) bool {
			return errors.As(err, &unknown) && slices.Equal(unknown.Nearest, []string{"thinking"})
		}},
		{"a command that fails", "/broken", func(err error) bool { return errors.As(err, &failed) && failed.Name == "broken" }},
		{"a command used wrongly", "/thinking much", func(err error) bool { return errors.As(err, &failed) }},
		{"a command that a hook is against", "/clear", func(err error) bool {
			return errors.As(err, &cancelled) && !errors.As(err, &failed) && err.Error() == "Clear cancelled by hook"
		}},
		{"the provider", "fail", func(err error) bool { return errors.As(err, &provider) }},
		{"no answer and no effect", "nothing", func(err error) bool { return errors.Is(err, ErrNoAnswer) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _, err := run(t.Context(), c.prompt, "never sent")
			if !c.is(err) {
				t.Errorf("error %v (%T)", err, err)
			}
			if out != "" {
				t.Errorf("output %q after a failure", out)
			}
		})
	}
}

func TestAnswersThatEndSomethingArePrinted(t *testing.T) {
	says := func(text string, calls ...string) *message.Message {
		m := &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock(text)}}
		for _, id := range calls {
			m.Content = append(m.Content, message.Block{Type: message.BlockToolCall, ID: id})
		}
		return m
	}
	user, result, custom := &message.Message{Role: message.RoleUser}, &message.Message{Role: message.RoleToolResult}, &message.Message{Role: message.RoleCustom}
	for _, c := range []struct {
		name     string
		messages []*message.Message
		want     string
	}{
		{"nothing", nil, ""},
		{"only the last of several turns", []*message.Message{user, says("let me look", "c1"), result, says("done")}, "done"},
		{"a follow-up has an answer of its own", []*message.Message{user, says("one"), user, says("two")}, "one|two"},
		{"steering has not", []*message.Message{user, says("let me look", "c1"), result, user, says("done")}, "done"},
		{"what a hook had it go on with has not", []*message.Message{user, says("red"), custom, says("green")}, "green"},
		{"an answer that another run was to have", []*message.Message{user, says("one"), custom}, "one"},
	} {
		if got := strings.Join(finalAnswers(c.messages), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, _, err := run(ctx, "wait")
	if !errors.Is(err, agent.ErrAborted) || out != "" {
		t.Errorf("out %q, error %v", out, err)
	}
}

func TestOutputWithoutReaderIsABrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	if err := runTo(t.Context(), w, io.Discard, "hi"); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("error %v", err)
	}
}

func TestNobodyIsAsked(t *testing.T) {
	p := New(io.Discard, io.Discard)
	answer, err := p.Confirm(t.Context(), "Sure?", "", agent.DialogOptions{})
	_, chosen, _ := p.Select(t.Context(), "Which?", agent.Choices("a"), agent.DialogOptions{})
	_, typed, _ := p.Input(t.Context(), "What?", "", agent.DialogOptions{})
	if answer != agent.No || chosen || typed || err != nil || p.HasUI() {
		t.Errorf("confirm %v, select %v, input %v, error %v, has UI %v", answer, chosen, typed, err, p.HasUI())
	}
}

func TestHelpNamesEveryCommandAndItsHook(t *testing.T) {
	out, _, err := run(t.Context(), "/help all")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/help [command|all]", "/model", "/new, /clear", "/say", "(hook test)"} {
		if !strings.Contains(out, want) {
			t.Errorf("help lacks %q:\n%s", want, out)
		}
	}
}
