package command

import (
	"context"
	"errors"
	"fmt"

	"pi/agent"
)

// navigator is the command /tree.
type navigator struct{ Options }

// nothingShown says that the filter leaves no entry to show.
func nothingShown(f treeFilter) string {
	if f.search != "" {
		return fmt.Sprintf("no entry has %q in it; /tree all lists them", f.search)
	}
	return "no entry is shown with the filter " + f.word + "; /tree all lists them"
}

// canceller is a UI on which the user can cancel what takes a while.
type canceller interface {
	Cancellable(ctx context.Context, doing string, do func(context.Context))
}

// moveTo moves the leaf to an entry, so that the conversation goes on from there, and says
// with which message it ends now. Where the UI can, the user may cancel while the model
// writes a summary.
func (t navigator) moveTo(ctx context.Context, id string, o agent.NavigateOptions) (_ Outcome, err error) {
	var m agent.Moved
	move := func(ctx context.Context) { m, err = t.Agent.Navigate(ctx, id, o) }
	if ui, ok := t.UI.(canceller); ok && o.Summarize {
		ui.Cancellable(ctx, "summing up", move)
	} else {
		move(ctx)
	}
	if errors.Is(err, agent.ErrAborted) {
		return Outcome{}, errors.New("interrupted; nothing has moved")
	}
	word := "moved"
	switch {
	case m.Stayed:
		word = "you are there already"
	case m.Summary != nil:
		word = "moved, with a summary of what was left"
	case o.Summarize:
		word = "moved; nothing was left that could be summed up"
	}
	return moved(t.Agent, m, word), err
}
