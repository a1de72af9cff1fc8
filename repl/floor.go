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
	mu        sync.Mutex
	changed   *sync.Cond
	prompting bool
	dialog    bool
	waiting   int           // dialogs
	spares    int           // that wait
	spare     chan struct{} // of the one that has the floor, signalled when a dialog waits, holds one; else nil
	notices   []func()
	stale     bool          // what stands above the prompt is to be shown anew
	poke      chan struct{} // somebody wants the prompt closed, holds one
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

// takePrompt gives the floor to the prompt when no dialog wants it.
func (f *floor) takePrompt(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.await(ctx, func() bool { return f.waiting+f.spares == 0 && !f.dialog }); err != nil {
		return err
	}
	f.prompting, f.stale = true, false
	return nil
}

// leavePrompt shows what waited for the end of the prompt.
func (f *floor) leavePrompt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prompting = false
	for _, show := range f.notices {
		show()
	}
	f.notices = nil
	f.changed.Broadcast()
}

// takeDialog gives the floor to a dialog; a second one waits for the first.
func (f *floor) takeDialog(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting++
	defer func() {
		f.waiting--
		f.changed.Broadcast()
	}()
	f.makeRoom()
	if err := f.await(ctx, func() bool { return !f.prompting && !f.dialog }); err != nil {
		return err
	}
	f.dialog = true
	return nil
}

// makeRoom asks for the floor whoever gives it away. f.mu is held.
func (f *floor) makeRoom() {
	if f.prompting {
		f.wantClosed()
	}
	select {
	case f.spare <- struct{}{}:
	default:
	}
}

// takeSpare is takeDialog for something that can be shown later as well: wanted is
// signalled when a dialog waits for the floor.
func (f *floor) takeSpare(ctx context.Context) (wanted <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spares++
	defer func() {
		f.spares--
		f.changed.Broadcast()
	}()
	f.makeRoom()
	if err := f.await(ctx, func() bool { return !f.prompting && !f.dialog && f.waiting == 0 }); err != nil {
		return nil, err
	}
	f.dialog, f.spare = true, make(chan struct{}, 1)
	return f.spare, nil
}

func (f *floor) leaveDialog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dialog, f.spare = false, nil
	f.changed.Broadcast()
}

// wanted reports whether anybody waits for the prompt to make room.
func (f *floor) wanted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting+f.spares > 0 || f.stale || len(f.notices) > 0
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
