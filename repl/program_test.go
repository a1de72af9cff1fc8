//go:build unix

package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"pi/agent"
	"pi/agent/command"
	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// What a user sees is tested with a program in a pseudo-terminal: the test binary
// with programEnv set.
const programEnv = "REPL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programEnv) != "" {
		os.Exit(program())
	}
	goleak.VerifyTestMain(m)
}

func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	if os.Getenv("REPL_TEST_DEAF") != "" {
		signal.Ignore(syscall.SIGHUP)
	}
	o := Options{History: os.Getenv("REPL_TEST_HISTORY"), NoColor: os.Getenv("NO_COLOR") != "", ShowThinking: true,
		Editor: os.Getenv("REPL_TEST_EDITOR"), Renderer: testRenderer{}, Shortcuts: testShortcuts,
		Banner: func() []string { return []string{"test program \x1b]0;title\x07ready"} }}
	broke := breaks(&o, stop)
	r := New(o)
	a := testAgent(r)
	set := command.NewSet(append(command.Core(command.Options{Agent: a, UI: r.UI()}), append(r.Commands(), testCommands(r, a)...)...), nil)
	a.Start(ctx)
	forget := whenTold(func() { told(ctx, r.UI(), a) })
	err := r.Run(ctx, a, set)
	a.Close(context.Background())
	stop()
	forget()
	if leaked := goleak.Find(); err == nil {
		err = leaked
	}
	fmt.Printf("left: %v%s\n", err, broke())
	if err != nil {
		return 1
	}
	return 0
}

// breaks has a goroutine of the terminal panic: the one that has the keys, or the one that
// paints. The function it returns says with what.
func breaks(o *Options, stop func()) func() string {
	var once sync.Once
	what := make(chan any, 1)
	broken := func() {
		once.Do(func() { panic("broken on purpose") })
	}
	o.Broke = func(value any, _ []byte) { what <- value; stop() }
	switch os.Getenv("REPL_TEST_BREAKS") {
	case "keys":
		o.Shortcuts = func() []Shortcut { broken(); return nil }
	case "painter":
		o.Asked = func() string {
			if strings.Contains(string(debug.Stack()), "terminal.(*painter)") {
				broken()
			}
			return ""
		}
	}
	return func() string {
		select {
		case value := <-what:
			return fmt.Sprint("; broke: ", value)
		default:
			return ""
		}
	}
}

// told does what the test wants to happen from outside.
func told(ctx context.Context, r agent.UI, a *agent.Agent) {
	switch os.Getenv("REPL_TEST_TOLD") {
	case "status":
		r.SetStatus("z", "it says\n\tb\x1b[31m")
		r.SetStatus("a", "so")
	case "widget":
		r.SetWidget(agent.Above, "w", []string{"one \x1b[2Jline", strings.Repeat("long ", 40)})
	case "text":
		r.SetEditorText("[" + r.EditorText() + "]")
	case "ask":
		answer, err := r.Confirm(ctx, "Now?", "", agent.DialogOptions{})
		r.Notify(fmt.Sprintf("now: %v %v", answer == agent.Yes, err), agent.LevelInfo)
	case "message":
		m := &message.Message{Role: message.RoleCustom, CustomType: "memo", Display: true, Content: []message.Block{message.TextBlock("by the way")}}
		r.Notify(fmt.Sprint("sent: ", a.SendCustom(ctx, agent.Prompt{Custom: m}, agent.DeliverSteer, false)), agent.LevelInfo)
	case "literal":
		_ = a.Submit(context.Background(), agent.Prompt{Text: "/quit", Literal: true})
		_ = a.Submit(context.Background(), agent.Prompt{Text: "!ls", Literal: true})
	case "tool":
		_ = a.Submit(context.Background(), agent.Prompt{Text: "tool"})
	case "leave":
		a.Shutdown()
	default:
		r.Notify("a late notice", agent.LevelInfo)
		_ = a.Submit(context.Background(), agent.Prompt{Text: "/thinking low"})
	}
}

// whenTold runs f once when the test sends a signal.
func whenTold(f func()) (stop func()) {
	told, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		defer close(done)
		if _, ok := <-told; ok {
			f()
		}
	}()
	return func() {
		signal.Stop(told)
		close(told)
		<-done
	}
}

// testAgent answers by the last text of the user; see script.
func testAgent(front agent.Listener) *agent.Agent {
	s := &script{steered: make(chan struct{}, 1)}
	model := &llm.Model{Provider: "test", ID: "one", API: "test", ContextWindow: 1000, Reasoning: true}
	other := &llm.Model{Provider: "test", ID: "two", API: "test", Reasoning: true}
	models := llm.NewModels(map[string]llm.Provider{"test": s})
	models.Register(llm.ProviderSpec{Name: "test", Models: llm.Listed(model, other)})
	cwd, _ := os.Getwd()
	return agent.New(agent.Options{
		Session: session.New(session.Options{}), Models: models, Model: model, Thinking: "off", Cwd: cwd,
		Tools:      []agent.Tool{showTool{}},
		Listeners:  []agent.Listener{s, front},
		NewSession: func(string) (*session.Session, error) { return session.New(session.Options{}), nil },
		Shell: func(_ context.Context, line string, output func(string)) (agent.BashOutcome, error) {
			output("ran " + line + "\n")
			code := 3
			return agent.BashOutcome{Output: "ran " + line, ExitCode: &code}, nil
		},
	})
}

func testCommands(front *REPL, a *agent.Agent) []command.Command {
	r := front.UI()
	one := func(name string, run func(ctx context.Context, args string) (string, error)) command.Command {
		return command.Command{Name: name, Help: "for the tests", Run: func(ctx context.Context, args string) (command.Outcome, error) {
			status, err := run(ctx, args)
			return command.Outcome{Status: status}, err
		}}
	}
	return []command.Command{
		one("hang", func(ctx context.Context, _ string) (string, error) {
			r.Notify("it hangs", agent.LevelInfo)
			<-ctx.Done()
			return "", fmt.Errorf("hook x: %w", ctx.Err())
		}),
		one("sure", func(ctx context.Context, _ string) (string, error) {
			answer, err := r.Confirm(ctx, "Really?", "It cannot be undone.", agent.DialogOptions{})
			return fmt.Sprintf("sure: %v", answer == agent.Yes), err
		}),
		one("ask", func(ctx context.Context, _ string) (string, error) {
			text, ok, err := r.Input(ctx, "Your name?", "", agent.DialogOptions{})
			return fmt.Sprintf("name: %q %v", text, ok), err
		}),
		one("hasty", func(ctx context.Context, _ string) (string, error) {
			answer, err := r.Confirm(ctx, "Quick?", "", agent.DialogOptions{TimeoutMS: 1})
			return fmt.Sprintf("hasty: %v %v", answer == agent.Yes, err), nil
		}),
		one("patient", func(ctx context.Context, _ string) (string, error) {
			answer, err := r.Confirm(ctx, "Slowly?", "", agent.DialogOptions{TimeoutMS: 3000})
			return fmt.Sprintf("patient: %v %v", answer == agent.Yes, err), nil
		}),
		one("choose", func(ctx context.Context, _ string) (string, error) {
			choice, ok, err := r.Select(ctx, "Which?", agent.Choices("3", "alpha", "beta", "2"), agent.DialogOptions{})
			return fmt.Sprintf("chosen: %q %v", strings.Join(choice, ""), ok), err
		}),
		one("page", func(ctx context.Context, _ string) (string, error) {
			choices := []agent.Choice{{Value: "… before these", Further: true}}
			for i := range 30 {
				choices = append(choices, agent.Choice{Value: fmt.Sprintf("option %c", 'A'+i)})
			}
			choice, ok, err := r.Select(ctx, "Which of many?", choices, agent.DialogOptions{Default: []string{"option T"}})
			return fmt.Sprintf("chosen: %q %v", strings.Join(choice, ""), ok), err
		}),
		one("edit", func(ctx context.Context, args string) (string, error) {
			text, ok, err := r.Editor(ctx, "Change this", args, agent.DialogOptions{})
			return fmt.Sprintf("edited: %q %v", text, ok), err
		}),
		one("title", func(_ context.Context, args string) (string, error) {
			r.SetTitle("my \x1b]0;evil\x07title\n" + args)
			return "", nil
		}),
		one("working", func(_ context.Context, args string) (string, error) {
			r.SetWorking(args)
			return "", nil
		}),
		one("panel", func(ctx context.Context, args string) (string, error) {
			c := &testComponent{said: func(text string) { r.Notify(text, agent.LevelInfo) }, shown: make(chan agent.Surface, 1)}
			s, err := r.Custom(c, agent.SurfaceOptions{})
			if err != nil {
				return "", err
			}
			c.shown <- s
			if args != "wait" {
				return "", nil
			}
			select {
			case <-s.Done():
			case <-ctx.Done():
				return "", ctx.Err()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			return "closed after " + strings.Join(c.keys, " "), nil
		}),
		{Name: "instead", Help: "for the tests", Run: func(ctx context.Context, args string) (command.Outcome, error) {
			a.Abort()
			return command.Outcome{Prompt: &agent.Prompt{Text: args}}, a.WaitIdle(ctx)
		}},
		one("waits", func(ctx context.Context, _ string) (string, error) {
			began, over := &agent.AutoRetryStart{Attempt: 1, MaxAttempts: 3, DelayMS: 9000, Aside: true}, &agent.AutoRetryWaited{Aside: true}
			for _, e := range []agent.Event{began, began, over, over} {
				if err := front.Handle(ctx, e); err != nil {
					return "", err
				}
			}
			return "both waited", nil
		}),
		one("crash", func(context.Context, string) (string, error) { panic("crashed on purpose") }),
	}
}

// testComponent shows the keys it got, and closes at q.
type testComponent struct {
	mu    sync.Mutex
	keys  []string
	shown chan agent.Surface // holds one; keys may come before it does
	said  func(string)
}

func (c *testComponent) Render(width, _ int) agent.Drawing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return agent.Drawing{Lines: []string{fmt.Sprintf("panel of \x1b[2J%d", width), "keys: " + strings.Join(c.keys, " ")}}
}

func (c *testComponent) HandleInput(k agent.Key) bool {
	key := k.Name
	c.mu.Lock()
	c.keys = append(c.keys, key)
	c.mu.Unlock()
	switch key {
	case "q":
		(<-c.shown).Close()
	case "s":
		c.said("it is stuck")
		select {} // it never comes back
	}
	return true
}

// testRenderer draws messages of type card, and the calls of the tool show.
type testRenderer struct{}

func (testRenderer) Message(_ context.Context, m *message.Message, _ bool, width int) ([]string, bool) {
	return []string{fmt.Sprintf("card %d: %s", width, m.Text())}, m.CustomType == "card"
}

func (testRenderer) ToolCall(agent.DrawnCall, bool, int) ([]string, bool) { return nil, false }

func (testRenderer) ToolResult(agent.DrawnCall, agent.Result, bool, int) ([]string, bool) {
	return nil, false
}

func (testRenderer) DrawsTool(string) bool { return false }

func testShortcuts() []Shortcut {
	run := func(status string) func(context.Context) (command.Outcome, error) {
		return func(context.Context) (command.Outcome, error) { return command.Outcome{Status: status}, nil }
	}
	return []Shortcut{
		{Key: "F5", Help: "say so", Hook: "keys", Run: run("a shortcut ran")},
		{Key: "alt+x", Help: "say more", Hook: "keys", Run: run("another one ran")},
		{Key: "ctrl+c", Help: "be stuck", Hook: "keys", Run: run("nobody gets out")},
	}
}

// script is a provider that answers by what the user said last, and a listener
// that sees when it is steered.
type script struct{ steered chan struct{} }

func (s *script) Wants(k agent.Kind) bool { return k == agent.KindInput }

func (s *script) Handle(_ context.Context, e agent.Event) error {
	if in := e.(*agent.Input); in.StreamingBehavior == "steer" {
		s.steered <- struct{}{}
	}
	return nil
}

func (s *script) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	last := r.Messages[len(r.Messages)-1]
	return func(yield func(llm.Delta, error) bool) {
		switch text := last.Text(); {
		case last.Role == message.RoleToolResult:
			say(yield, "the tool said it")
		case text == "slow":
			if !yield(llm.Delta{Kind: llm.DeltaText, Text: "working on it"}, nil) {
				return
			}
			select {
			case <-s.steered:
				say(yield, " and heard you")
			case <-ctx.Done():
				yield(llm.Delta{}, ctx.Err())
			}
		case text == "stuck":
			if yield(llm.Delta{Kind: llm.DeltaText, Text: "working on it"}, nil) {
				<-ctx.Done()
				yield(llm.Delta{}, ctx.Err())
			}
		case text == "fail":
			yield(llm.Delta{}, &llm.ProviderError{Provider: "test", Message: "no such key", NextStep: "set a key"})
		case text == "evil":
			if yield(llm.Delta{Kind: llm.DeltaText, Text: "a\x1b"}, nil) && yield(llm.Delta{Kind: llm.DeltaText, Text: "[2Jb"}, nil) {
				say(yield, "\x1b]0;owned\x07c")
			}
		case text == "tool":
			if yield(llm.Delta{Kind: llm.DeltaToolCall, ID: "c1", Name: "show", Text: `{"path":"a.txt"}`}, nil) {
				yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: message.StopToolUse}}, nil)
			}
		default:
			say(yield, fmt.Sprintf("you said %q (%d)", text, len(last.Content)))
		}
	}
}

func say(yield func(llm.Delta, error) bool, text string) {
	if yield(llm.Delta{Kind: llm.DeltaText, Text: text}, nil) {
		yield(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: message.StopEnd}}, nil)
	}
}

type showTool struct{}

func (showTool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: "show", Description: "shows", Parameters: json.RawMessage(`{"type":"object"}`)}
}

func (showTool) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.TextResult("line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8"), errors.New("line 9 is missing")
}
