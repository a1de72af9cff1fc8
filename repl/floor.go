package repl

import (
	"context"
	"sync"
	"time"
)

// floor decides who may use the lines below the transcript: the prompt, one
// dialog, or one background line, which shows a compaction or a retry. A dialog
// takes precedence over the prompt; if it comes while the prompt is open, the loop
// is poked and closes the prompt. A background line takes precedence over the
// prompt and yields to dialogs. Notices wait while the prompt is open.
type floor struct {
	mu                sync.Mutex
	changed           *sync.Cond
	prompting         bool
	dialog            bool // a dialog or a background line has the floor
	dialogsWaiting    int
	backgroundWaiting int
	background        chan struct{} // signals the background line that has the floor that a dialog waits, a buffer of one; else nil
	notices           []func()
	stale             bool          // the lines above the prompt are to be shown anew
	poke              chan struct{} // asks the loop to close the prompt, a buffer of one
}

// refreshWait is how long changes of the lines above the prompt are collected.
const refreshWait = 50 * time.Millisecond

func newFloor() *floor {
	f := &floor{poke: make(chan struct{}, 1)}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// await waits until ready returns true or ctx ends, whose error it returns then. f.mu
// is locked, but free while it waits.
func (f *floor) await(ctx context.Context, ready func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.changed.Broadcast()
	})
	defer stop()
	for ctx.Err() == nil && !ready() {
		f.changed.Wait()
	}
	return ctx.Err()
}

// acquirePrompt waits until nothing else has or wants the floor, and gives it to the
// prompt.
func (f *floor) acquirePrompt(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(ctx, func() bool { return f.dialogsWaiting+f.backgroundWaiting == 0 && !f.dialog }); err != nil {
		return err
	}
	f.prompting, f.stale = true, false
	return nil
}

// releasePrompt gives the floor back and shows the notices that waited for that.
func (f *floor) releasePrompt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prompting = false
	for _, show := range f.notices {
		show()
	}
	f.notices = nil
	f.changed.Broadcast()
}

// acquireDialog gives the floor to a dialog; a second one waits for the first.
func (f *floor) acquireDialog(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialogsWaiting++
	defer func() {
		f.dialogsWaiting--
		f.changed.Broadcast()
	}()
	f.askForFloor()
	if err := f.await(ctx, func() bool { return !f.prompting && !f.dialog }); err != nil {
		return err
	}
	f.dialog = true
	return nil
}

// askForFloor asks the prompt or the background line to give the floor back. f.mu
// is locked.
func (f *floor) askForFloor() {
	if f.prompting {
		f.wantClosed()
	}
	select {
	case f.background <- struct{}{}:
	default:
	}
}

// acquireBackground gives the floor to a background line. When a dialog waits for
// the floor, wanted is signalled, and the line has to give it back.
func (f *floor) acquireBackground(ctx context.Context) (wanted <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.backgroundWaiting++
	defer func() {
		f.backgroundWaiting--
		f.changed.Broadcast()
	}()
	f.askForFloor()
	if err := f.await(ctx, func() bool { return !f.prompting && !f.dialog && f.dialogsWaiting == 0 }); err != nil {
		return nil, err
	}
	f.dialog, f.background = true, make(chan struct{}, 1)
	return f.background, nil
}

// releaseDialog gives the floor of a dialog or a background line back.
func (f *floor) releaseDialog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialog, f.background = false, nil
	f.changed.Broadcast()
}

// wanted reports whether the open prompt has to be closed for something: a dialog, a
// background line, a notice, or new lines above it.
func (f *floor) wanted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dialogsWaiting+f.backgroundWaiting > 0 || f.stale || len(f.notices) > 0
}

// refresh has an open prompt closed soon and opened again, because the lines above it
// have changed. Changes that follow at once are shown together.
func (f *floor) refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.prompting && !f.stale {
		f.stale = true
		time.AfterFunc(refreshWait, f.wantClosed)
	}
}

// wantClosed asks the loop to close the prompt. It never waits: one request is enough.
func (f *floor) wantClosed() {
	select {
	case f.poke <- struct{}{}:
	default:
	}
}

// notice calls show now, or, while the prompt is open, as soon as the loop has
// closed it.
func (f *floor) notice(show func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.prompting {
		show()
		return
	}
	f.notices = append(f.notices, show)
	f.wantClosed()
}
