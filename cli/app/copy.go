package app

import (
	"context"

	"pi/internal/clipboard"
)

// sequencer is a front end on a terminal.
type sequencer interface {
	// Sequence writes a sequence to the terminal between what else it shows there. It is
	// an error if the terminal is to get none.
	Sequence(sequence string) error
}

// copier returns the function that copies a text to the user's clipboard, through the
// terminal of the front end if it has one.
func (r *run) copier(front any) func(ctx context.Context, text string) (way string, err error) {
	c := clipboard.Clipboard{}
	if s, ok := front.(sequencer); ok {
		c.Terminal = s.Sequence
	}
	return c.Copy
}
