package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"pi/session/message"
)

func TestCommandOfTheUserIsPartOfTheTalk(t *testing.T) {
	three := 3
	shell := func(_ context.Context, command string, output func(string)) (BashOutcome, error) {
		output("out")
		return BashOutcome{Output: "out of " + command, ExitCode: &three, Truncated: true, FullOutputPath: "/tmp/x"}, nil
	}
	r := newHarness(t, Options{Shell: shell}, say("ok"))
	shown := ""
	for _, exclude := range []bool{false, true} {
		outcome, err := r.Bash(t.Context(), UserCommand{Line: "make", Exclude: exclude, Output: func(s string) { shown += s }})
		if err != nil || outcome.ExitCode != &three {
			t.Errorf("%+v, %v", outcome, err)
		}
	}
	m := r.Session().Context()[0].Message
	if shown != "outout" || m.Role != message.RoleBashExecution || m.Command != "make" || m.Output != "out of make" || *m.ExitCode != 3 || !m.Truncated || m.FullOutputPath == "" {
		t.Errorf("shown %q, stored %+v", shown, m)
	}
	r.prompt("go")
	if sent := r.model.requests[0].Messages; len(sent) != 2 || !strings.Contains(sent[0].Text(), "out of make") {
		t.Errorf("sent %+v", sent)
	}
}

func TestListenersAnswerOrBlockACommand(t *testing.T) {
	answer := func(s string) Listener { return on(func(e *UserBash) { e.Result = &BashOutcome{Output: s} }) }
	block := on(func(e *UserBash) { e.Blocked = "not " + e.Command })
	for _, c := range []struct {
		name      string
		listeners []Listener
		want, err string
		stored    int
	}{
		{"nobody minds", []Listener{on(func(*UserBash) {})}, "ran", "", 1},
		{"an answer", []Listener{answer("a"), answer("b")}, "a", "", 1},
		{"a block", []Listener{block, answer("b")}, "", "not rm", 0},
		{"an answer before a block", []Listener{answer("a"), block}, "a", "", 1},
		{"a failure", []Listener{try(func(*UserBash) error { return errors.New("hook x failed") }), answer("b")}, "", "hook x failed", 0},
		{"a crash", []Listener{on(func(*UserBash) { panic("oh") })}, "", "listener for user_bash crashed: oh", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			shell := func(context.Context, string, func(string)) (BashOutcome, error) {
				if c.want != "ran" {
					t.Error("the command ran")
				}
				return BashOutcome{Output: "ran"}, nil
			}
			r := newHarness(t, Options{Shell: shell, Listeners: c.listeners})
			outcome, err := r.Bash(t.Context(), UserCommand{Line: "rm"})
			if outcome.Output != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err || len(r.Session().Context()) != c.stored || !r.IsIdle() {
				t.Errorf("%q, %v, %d stored", outcome.Output, err, len(r.Session().Context()))
			}
		})
	}
}

// What runs is what is stored: the command as the last listener has rewritten it.
func TestListenersRewriteACommand(t *testing.T) {
	behind := func(s string) Listener { return on(func(e *UserBash) { e.Command += s }) }
	ran := ""
	shell := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		ran = command
		return BashOutcome{}, nil
	}
	r := newHarness(t, Options{Shell: shell, Listeners: []Listener{behind(" -l"), behind(" -a")}})
	for _, detached := range []bool{false, true} {
		if _, err := r.Bash(t.Context(), UserCommand{Line: "ls", Detached: detached}); err != nil || ran != "ls -l -a" {
			t.Errorf("%q ran, %v", ran, err)
		}
	}
	for _, item := range r.Session().Context() {
		if item.Message.Command != "ls -l -a" {
			t.Errorf("%q is stored", item.Message.Command)
		}
	}
}

func TestAnotherShellIsAskedAboutToo(t *testing.T) {
	blocked := false
	gate := on(func(e *UserBash) {
		if blocked {
			e.Blocked = "not " + e.Command
		}
	})
	usual := func(context.Context, string, func(string)) (BashOutcome, error) {
		t.Error("the usual shell ran")
		return BashOutcome{}, nil
	}
	r := newHarness(t, Options{Shell: usual, Listeners: []Listener{gate}})
	ran := 0
	other := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		ran++
		return BashOutcome{Output: "other " + command}, nil
	}
	outcome, err := r.Bash(t.Context(), UserCommand{Line: "vi x", Shell: other})
	if err != nil || outcome.Output != "other vi x" || r.Session().Context()[0].Message.Output != "other vi x" {
		t.Errorf("%+v, %v", outcome, err)
	}
	blocked = true
	if _, err := r.Bash(t.Context(), UserCommand{Line: "vi x", Shell: other}); err == nil || ran != 1 {
		t.Errorf("blocked: %v, ran %d times", err, ran)
	}
}

func TestInterruptedQuestionRunsNoCommand(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*UserBash) { r.Abort() })},
		Shell: func(context.Context, string, func(string)) (BashOutcome, error) {
			t.Error("it ran")
			return BashOutcome{}, nil
		}})
	if _, err := r.Bash(t.Context(), UserCommand{Line: "x"}); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestACommandOfTheUserRunsBesideAPrompt(t *testing.T) {
	shell := func(_ context.Context, command string, _ func(string)) (BashOutcome, error) {
		return BashOutcome{Output: "out of " + command}, nil
	}
	var r *harness
	beside := func(command string) func() {
		return func() {
			if _, err := r.Bash(t.Context(), UserCommand{Line: command}); err != nil {
				t.Error(err)
			}
		}
	}
	during, atEnd := beside("during"), beside("late")
	r = newHarness(t, Options{Shell: shell, Tools: []Tool{echo("look")}, Listeners: []Listener{
		on(func(*ToolExecutionEnd) { during() }), on(func(e *MessageEnd) {
			if e.Message.Text() == "done" {
				atEnd()
			}
		}),
	}}, use(call{"a", "look", `{}`}), say("done"))
	r.prompt("go")
	var roles []string
	for _, item := range r.Session().Context() {
		roles = append(roles, string(item.Message.Role))
	}
	if want := "user assistant toolResult bashExecution assistant bashExecution"; strings.Join(roles, " ") != want {
		t.Errorf("the session has %v, want %s", roles, want)
	}
	if n := len(r.model.requests); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}
