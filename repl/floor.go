package repl

import (
	"context"
	"sync"
	"time"
)

// floor says who may use the lines below the transcript: the prompt, or one
// dialog. A dialog goes before the prompt; one that comes while the prompt is
// open has it closed by poking the loop. What is spare goes before the prompt too
// and makes room for dialogs. Notices wait while the prompt is open.
type floor struct {
	mu                sync.Mutex
	changed           *sync.Cond
	prompting         bool
	dialog            bool
	dialogsWaiting    int           // dialogs
	backgroundWaiting int           // that wait
	background        chan struct{} // of the one that has the floor, signalled when a dialog waits, holds one; else nil
	notices           []func()
	stale             bool          // what stands above the prompt is to be shown anew
	poke              chan struct{} // somebody wants the prompt closed, holds one
}

// refreshWait is how long changes of what stands above the prompt are collected.
const refreshWait = 50 * time.Millisecond

func newFloor() *floor {
	f := &floor{poke: make(chan struct{}, 1)}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// await waits, with f.mu held, until ready or until ctx ends.
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

// acquirePrompt gives the floor to the prompt when no dialog wants it.
func (f *floor) acquirePrompt(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(ctx, func() bool { return f.dialogsWaiting+f.backgroundWaiting == 0 && !f.dialog }); err != nil {
		return err
	}
	f.prompting, f.stale = true, false
	return nil
}

// releasePrompt shows what waited for the end of the prompt.
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

// askForFloor asks for the floor whoever gives it away. f.mu is held.
func (f *floor) askForFloor() {
	if f.prompting {
		f.wantClosed()
	}
	select {
	case f.background <- struct{}{}:
	default:
	}
}

// acquireBackground is takeDialog for something that can be shown later as well: wanted is
// signalled when a dialog waits for the floor.
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

func (f *floor) releaseDialog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialog, f.background = false, nil
	f.changed.Broadcast()
}

// wanted reports whether anybody waits for the prompt to make room.
func (f *floor) wanted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dialogsWaiting+f.backgroundWaiting > 0 || f.stale || len(f.notices) > 0
}

// refresh has an open prompt closed and opened again soon.
func (f *floor) refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.prompting && !f.stale {
		f.stale = true
		time.AfterFunc(refreshWait, f.wantClosed)
	}
}

func (f *floor) wantClosed() {
	select {
	case f.poke <- struct{}{}:
	default:
	}
}

// notice shows something now, or as soon as the prompt can make room.
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
