package api

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pi/agent"
)

// clientUI is a labUI behind which a program answers.
type clientUI struct{ labUI }

func (*clientUI) IsClient() bool { return true }

func TestTheAnswerOfAClientIsNoWordOfAUser(t *testing.T) {
	for name, c := range map[string]struct {
		ui   agent.UI
		want []string
	}{"a user": {&labUI{}, []string{"a person true"}}, "a client": {&clientUI{}, nil}} {
		l := newLab(t, func(l *lab) part {
			l.UI, l.Dialogs = func() agent.UI { return c.ui }, labDialogs{}
			return (&dialogs{bridge: l.bridge}).part()
		})
		l.want("true", `return api.confirm("sure?")`)
		if !slices.Equal(l.program.did, c.want) {
			t.Errorf("%s: the program did %q", name, l.program.did)
		}
	}
}

func TestAHookAsksForContinuationsInItsCommands(t *testing.T) {
	l := newLab(t, func(l *lab) part {
		l.UI, l.Dialogs = func() agent.UI { return &labUI{} }, labDialogs{}
		c := &contexts{bridge: l.bridge, signals: &signals{bridge: l.bridge}}
		c.open(func() []part { return nil })
		p := (&commands{l.bridge, c}).part()
		p["continuations"] = (&continuations{l.bridge, &dialogs{bridge: l.bridge}}).ask
		return p
	})
	l.want("error: only in commands", `api.continuations{ up_to = 5 }`)
	l.want("nil", `api.command("ask", { handler = function(ctx)
		local fn = loadstring("return " .. ctx.args_raw)
		local ok, allowed, err = pcall(api.continuations, fn())
		return { status = tostring(ok) .. " " .. tostring(allowed) .. " " .. tostring(err) }
	end })`)
	ask := func(ctx context.Context, options string) string {
		c, _ := l.owner.now.Commands.Find("ask")
		out, err := c.Run(ctx, options)
		if err != nil {
			return err.Error()
		}
		return out.Status
	}
	byHook := agent.WithOrigin(t.Context(), agent.Origin{Kind: agent.FromHook, Hook: "other"})
	for _, c := range []struct {
		ctx           context.Context
		options, want string
		fails         error
	}{
		{t.Context(), `{ up_to = 1000 }`, "true true nil", nil},
		{t.Context(), `{ up_to = 5 }`, "true nil nobody is there to ask", errors.New("nobody is there to ask")},
		{byHook, `{ up_to = 5 }`, "true nil a hook ran this command, and only one that the user gave may ask", nil},
		{t.Context(), `{ up_to = 0 }`, `false lab.lua:3: continuations: option "up_to" is from 1 to 1000 nil`, nil},
		{t.Context(), `{ up_to = 1001 }`, `false lab.lua:3: continuations: option "up_to" is from 1 to 1000 nil`, nil},
		{t.Context(), `{}`, `false lab.lua:3: continuations: option "up_to" is missing nil`, nil},
		{t.Context(), `{ upto = 5 }`, `false lab.lua:3: continuations: unknown option "upto", did you mean "up_to"? nil`, nil},
	} {
		l.program.err = c.fails
		if got := ask(c.ctx, c.options); got != c.want {
			t.Errorf("%s gives\n%s\nwant\n%s", c.options, got, c.want)
		}
	}
	if want := []string{"allow lab 1000", "allow lab 5"}; !slices.Equal(l.program.did, want) {
		t.Errorf("the program did %q", l.program.did)
	}
}
