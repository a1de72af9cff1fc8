package command

import (
	"context"
	"time"

	"pi/agent"
)

// RowActions are a list in which the user does one thing after the other.
type RowActions struct {
	View func() ListView // as it is now; it may be called by any goroutine
	// Do does what the user wants with a row: said is what was done last, dialogs in ctx stand above
	// the list, and ended is true if status is for the transcript.
	Do func(ctx context.Context, x Pressed, said string) (status string, ended bool, err error)
	// Refresh is how often the list is drawn anew while nobody presses a key; 0: never.
	Refresh time.Duration
}

// ActOnRows shows a list in a terminal with arrows until the user leaves it, or asks for more than
// fits there. What was done last stands below the title, and is returned. ok is false where there
// is no such list, or no row.
func ActOnRows(ctx context.Context, ui agent.UI, a RowActions) (said string, ok bool, err error) {
	v := a.View()
	if len(v.Rows) == 0 {
		return "", false, nil
	}
	above, panel := OpenList(ctx, ui, v)
	if panel == nil {
		return "", false, nil
	}
	defer panel.Close()
	for {
		stop := a.refresh(panel, said)
		x, err := panel.Next()
		stop()
		if err != nil || x.Key == "" {
			return said, true, err
		}
		status, ended, err := a.Do(above, x, said)
		if err != nil && ctx.Err() == nil {
			status, err = err.Error(), nil
		}
		if err != nil || ended {
			return status, true, err
		}
		said = status
		panel.Show(a.view(said))
	}
}

// view is the list with what was done last below its title.
func (a RowActions) view(said string) ListView {
	v := a.View()
	if said != "" {
		v.Title += "\n" + said
	}
	return v
}

// refresh draws the list anew from time to time, until stop is called.
func (a RowActions) refresh(panel List, said string) (stop func()) {
	if a.Refresh <= 0 {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(a.Refresh)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				panel.Show(a.view(said))
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}
