package command

import (
	"context"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/prompts"
	"pi/session/message"
)

// lines is a listener to the event line that answers as a hook would.
type lines func(e *agent.Line)

func (lines) Wants(k agent.Kind) bool { return k == agent.KindLine }
func (f lines) Handle(_ context.Context, e agent.Event) error {
	f(e.(*agent.Line))
	return nil
}

func TestALineIsReadOnceListenersHaveSeenIt(t *testing.T) {
	tell := Command{Name: "tell", Run: func(context.Context, string) (Outcome, error) { return Outcome{}, nil }}
	template := Command{Name: "plan", Origin: "template, yours", Run: tell.Run}
	kinds := []string{"text", "command", "handled", "refused"}
	ofHook := agent.Origin{Kind: agent.FromHook, Hook: "h", Path: "/h.lua", Limit: new(int)}
	alias := func(line string) func(*agent.Line) {
		return func(e *agent.Line) {
			e.Command, e.CommandBy, e.CommandAt, e.Limit = line, ofHook.Hook, ofHook.Path, ofHook.Limit
		}
	}
	text := func(s string) func(*agent.Line) { return func(e *agent.Line) { e.Text = s } }
	for name, c := range map[string]struct {
		p     agent.Prompt
		heard func(*agent.Line) // nil: the line must not come
		want  string
	}{
		"a text":                             {agent.Prompt{Text: "hello"}, func(*agent.Line) {}, "text hello"},
		"another text":                       {agent.Prompt{Text: "hello"}, text("other"), "text other"},
		"a command runs before":              {agent.Prompt{Text: "/tell x"}, nil, "command /tell x"},
		"a template comes first":             {agent.Prompt{Text: "/plan x"}, func(*agent.Line) {}, "command /plan x"},
		"a template becomes a text":          {agent.Prompt{Text: "/plan x"}, text("plain"), "text plain"},
		"a text becomes a template":          {agent.Prompt{Text: "plan"}, text("/plan x"), "command /plan x"},
		"a text becomes no command":          {agent.Prompt{Text: "hello"}, text("/tell x"), "text /tell x"},
		"a text becomes no shell command":    {agent.Prompt{Text: "hello"}, text("!ls"), "text !ls"},
		"a text becomes nobody's command":    {agent.Prompt{Text: "hello"}, text("/tel"), "text /tel"},
		"an unknown command is refused":      {agent.Prompt{Text: "/tel"}, func(*agent.Line) {}, "refused /tel: unknown command /tel"},
		"an unknown command is taken":        {agent.Prompt{Text: "/tel"}, text("tell them"), "text tell them"},
		"an unknown command is handled":      {agent.Prompt{Text: "/tel"}, func(e *agent.Line) { e.Handled = true }, "handled /tel"},
		"an alias":                           {agent.Prompt{Text: "t"}, alias("/tell x"), "command /tell x of h"},
		"an alias of a template":             {agent.Prompt{Text: "t"}, alias("/plan x"), "command /plan x of h"},
		"an alias of nothing":                {agent.Prompt{Text: "t"}, alias("/tel"), "refused t: hook h: line: unknown command /tel"},
		"an alias of a line that is none":    {agent.Prompt{Text: "t"}, alias("tell"), "refused t: hook h: line: unknown command /tell"},
		"what was typed as a text stays one": {agent.Prompt{Text: "/tell x", Literal: true}, func(*agent.Line) {}, "text /tell x"},
		"a text of a hook":                   {agent.Prompt{Text: "hello", Source: "hook"}, nil, "text hello"},
		"a message of a hook":                {agent.Prompt{Custom: &message.Message{}}, nil, "text "},
		"nothing":                            {agent.Prompt{Text: " "}, nil, "text  "},
	} {
		came := 0
		var listener lines = func(e *agent.Line) {
			if came++; c.heard != nil {
				c.heard(e)
			}
		}
		d := Driver{Agent: newAgent(t, listener), Commands: NewSet([]Command{tell}, nil)}
		d.Commands.AddPrompts(&Prompts{Library: &prompts.Library{}, More: func() []Command { return []Command{template} }})
		l := d.ReadLine(t.Context(), c.p, "")
		got := []string{kinds[l.Is], l.Text}
		if l.Err != nil {
			got[1] += ": " + l.Err.Error()
		}
		if l.Origin.Hook != "" {
			got = append(got, "of", l.Origin.Hook)
		}
		if l.Origin.Hook != "" && l.Origin != ofHook { // it counts as that hook's, by its own limit
			t.Errorf("%s: it comes of %+v", name, l.Origin)
		}
		if strings.Join(got, " ") != c.want || came > 1 || (came == 1) != (c.heard != nil) {
			t.Errorf("%s: %q, and the line came %d times; want %q", name, strings.Join(got, " "), came, c.want)
		}
	}
}
