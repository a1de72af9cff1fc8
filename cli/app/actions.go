package app

import (
	"context"

	"pi/agent"
	"pi/agent/command"
)

// actOnRows shows a list in a terminal with arrows in which the user does one thing after the other,
// until they leave it, or ask for more than fits there. What was done last stands below the title. do
// does what they want with a row: said is what was done last, dialogs in ctx stand above the list, and
// ended is true if status is for the transcript. ok is false where there is no such list, or no row.
func actOnRows(ctx context.Context, ui agent.UI, view func() command.ListView, do func(ctx context.Context, x command.Pressed, said string) (status string, ended bool, err error)) (said string, ok bool, err error) {
	v := view()
	if len(v.Rows) == 0 {
		return "", false, nil
	}
	above, panel := command.OpenList(ctx, ui, v)
	if panel == nil {
		return "", false, nil
	}
	defer panel.Close()
	for {
		x, err := panel.Next()
		if err != nil || x.Key == "" {
			return said, true, err
		}
		status, ended, err := do(above, x, said)
		if err != nil && ctx.Err() == nil {
			status, err = err.Error(), nil
		}
		if err != nil || ended {
			return status, true, err
		}
		said = status
		if v = view(); said != "" {
			v.Title += "\n" + said
		}
		panel.Show(v)
	}
}
