package app

import (
	"context"

	"pi/agent"
	"pi/agent/command"
)

// actOnRows is [command.ActOnRows] for a list that changes only when the user does something.
func actOnRows(ctx context.Context, ui agent.UI, view func() command.ListView, do func(ctx context.Context, x command.Pressed, said string) (status string, ended bool, err error)) (said string, ok bool, err error) {
	return command.ActOnRows(ctx, ui, command.RowActions{View: view, Do: do})
}
