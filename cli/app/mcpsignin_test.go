package app

import (
	"context"
	"errors"
	"testing"

	"pi/agent"
)

// pasting is a user with a dialog for what is pasted: it ends with answer, or with its context.
type pasting struct {
	agent.NoUI
	answer *string // nil: the dialog is left open
	left   bool
}

func (*pasting) HasUI() bool { return true }

func (p *pasting) Input(ctx context.Context, _, _ string, _ agent.DialogOptions) (string, bool, error) {
	switch {
	case p.left:
		return "", false, nil
	case p.answer != nil:
		return *p.answer, true, nil
	}
	<-ctx.Done()
	return "", false, ctx.Err()
}

func TestWhoLeavesTheDialogOfASignInGivesItUp(t *testing.T) {
	text := "https://127.0.0.1/callback?code=x"
	for _, tt := range []struct {
		name    string
		ui      *pasting
		over    bool // the browser came back
		want    string
		givesUp bool
	}{
		{"pasted", &pasting{answer: &text}, false, text, false},
		{"left", &pasting{left: true}, false, "", true},
		{"the browser came back", &pasting{}, true, "", false},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		dialog, end := context.WithCancel(ctx)
		if tt.over {
			end()
		}
		got, err := signsInBy(tt.ui, cancel).Paste(dialog)
		if got != tt.want || (err != nil) != (tt.want == "") || errors.Is(context.Cause(ctx), errGivenUp) != tt.givesUp {
			t.Errorf("%s: %q, %v, then %v", tt.name, got, err, context.Cause(ctx))
		}
		end()
		cancel(nil)
	}
	if signsInBy(agent.NoUI{}, nil).Paste != nil {
		t.Error("nobody is asked to paste")
	}
}
