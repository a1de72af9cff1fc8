package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pi/agent"
	"pi/session/message"
)

// What a front end is handed is a command or a prompt, and of a command's prompt nothing is
// sent if the command failed.
func TestADriverDoesACommandElseAPrompt(t *testing.T) {
	custom := &message.Message{Role: message.RoleCustom, CustomType: "note"}
	for _, c := range []struct {
		p    agent.Prompt
		done string
		err  string
	}{
		{agent.Prompt{Text: "hello"}, "prepared hello; ask hello", ""},
		{agent.Prompt{Text: "/new is a command", Literal: true}, "prepared /new is a command; ask /new is a command", ""},
		{agent.Prompt{Text: "/new", Custom: custom}, "prepared /new; ask /new", ""},
		{agent.Prompt{Text: "/tell 1"}, "act /tell 1 as person; told tell(1)", ""},
		{agent.Prompt{Text: "/tell 1", Origin: agent.Origin{Kind: agent.FromHook, Hook: "h"}}, "act /tell 1 as h; told tell(1)", ""},
		{agent.Prompt{Text: "/plan x"}, "act /plan x as person; told ; ask plan x", ""},
		{agent.Prompt{Text: "/tel"}, "", "unknown command /tel"},
		{agent.Prompt{Text: "/bad x"}, "act /bad x as person; failed", "/bad: bad luck"},
		{agent.Prompt{Text: "/stop"}, "act /stop as person; failed", "Stop cancelled by hook"},
		{agent.Prompt{Text: "/tell shut"}, "act /tell shut as person; told tell(shut)", "no reader"},
	} {
		var done []string
		note := func(format string, args ...any) { done = append(done, fmt.Sprintf(format, args...)) }
		failing := func(name string, err error) Command {
			return Command{Name: name, Run: func(context.Context, string) (Outcome, error) {
				return Outcome{Prompt: &agent.Prompt{Text: "never"}}, err
			}}
		}
		who := "person"
		tell := Command{Name: "tell", Run: func(ctx context.Context, args string) (Outcome, error) {
			o, _ := agent.OriginOf(ctx)
			who = cmp.Or(o.Hook, who)
			return Outcome{Status: "tell(" + args + ")"}, nil
		}}
		plan := Command{Name: "plan", Run: func(_ context.Context, args string) (Outcome, error) {
			return Outcome{Prompt: &agent.Prompt{Text: "plan " + args}}, nil
		}}
		d := Driver{
			Agent:    newAgent(t),
			Commands: NewSet([]Command{tell, plan, failing("bad", errors.New("bad luck")), failing("stop", agent.ErrCancelled)}, nil),
			Prepare:  func(p agent.Prompt) agent.Prompt { note("prepared %s", p.Text); return p },
			Ask: func(ctx context.Context, p agent.Prompt) error {
				if _, ok := agent.OriginOf(ctx); ok {
					t.Error("the prompt counts as what the command caused")
				}
				note("ask %s", p.Text)
				return nil
			},
			Act: func(ctx context.Context, doing string, run Action) (Outcome, error) {
				o, err := run(ctx)
				note("act %s as %s", doing, who)
				switch {
				case err != nil:
					note("failed")
				case strings.Contains(o.Status, "shut"):
					note("told %s", o.Status)
					return o, errors.New("no reader")
				default:
					note("told %s", o.Status)
				}
				return o, err
			},
		}
		err := d.Run(t.Context(), c.p)
		if got := strings.Join(done, "; "); got != c.done || err == nil && c.err != "" || err != nil && err.Error() != c.err {
			t.Errorf("%q: %s, %v; want %s, %s", c.p.Text, got, err, c.done, c.err)
		}
		var failed *FailedError
		if errors.As(err, &failed) != (c.err == "/bad: bad luck") {
			t.Errorf("%q is a failure of the command: %v", c.p.Text, err)
		}
	}
}

func TestADriverHasWhatHooksSubmittedUntilItIsStopped(t *testing.T) {
	d := Driver{Agent: newAgent(t)}
	for _, text := range []string{"one", "/two"} {
		if err := d.Agent.Submit(t.Context(), agent.Prompt{Text: text, Source: "rpc"}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for p := range d.Submitted() {
		got = append(got, p.Source+" "+p.Text)
	}
	if strings.Join(got, ", ") != "hook one, hook /two" || d.IsStopped() {
		t.Errorf("submitted %q, stopped %t", got, d.IsStopped())
	}
	if d.Agent.Shutdown(); !d.IsStopped() {
		t.Error("it goes on")
	}
}
