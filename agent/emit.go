package agent

import (
	"context"
	"fmt"
)

// wants reports whether anybody listens to k; events nobody wants are not built.
func (a *Agent) wants(k Kind) bool {
	for _, l := range a.listeners {
		if l.Wants(k) {
			return true
		}
	}
	return false
}

// emitIf builds and emits an event if anybody wants it.
func (a *Agent) emitIf(ctx context.Context, k Kind, build func() Event) {
	if a.wants(k) {
		a.emit(ctx, build())
	}
}

// emitAfter is emitIf for what has happened whether the run was interrupted or
// not: listeners hear of it also after an interrupt.
func (a *Agent) emitAfter(ctx context.Context, k Kind, build func() Event) {
	if a.wants(k) {
		a.emit(uncancelled(ctx), build())
	}
}

// uncancelled returns ctx, or a copy without its cancellation if it is cancelled
// already, so that listeners still run after an interrupt. An interrupt that comes
// while they run reaches them.
func uncancelled(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return context.WithValue(context.WithoutCancel(ctx), interruptedKey{}, true)
	}
	return ctx
}

type interruptedKey struct{}

// Interrupted reports whether the event that came with ctx is of a run that was
// interrupted before, so that nobody wants to wait for those who hear of it.
func Interrupted(ctx context.Context) bool { return ctx.Value(interruptedKey{}) != nil }

// emit hands e to the listeners in order. A listener's error stops nobody; it is
// told to all as a notice. The gates, where it decides, are asked by [Agent.ask].
func (a *Agent) emit(ctx context.Context, e Event) {
	a.emitUntil(ctx, e, func() bool { return false })
}

// emitUntil is emit up to the listener whose answer decides.
func (a *Agent) emitUntil(ctx context.Context, e Event, decided func() bool) {
	for _, l := range a.listeners {
		if !l.Wants(e.Kind()) {
			continue
		}
		if err := handle(ctx, l, e); err != nil {
			a.Notify(context.WithoutCancel(ctx), LevelError, err.Error())
		}
		if decided() {
			return
		}
	}
}

// ask hands e to the listeners in order, up to the first error or until decided
// says that the answer stands.
func (a *Agent) ask(ctx context.Context, e Event, decided func() bool) error {
	for _, l := range a.listeners {
		if !l.Wants(e.Kind()) {
			continue
		}
		if err := handle(ctx, l, e); err != nil {
			return err
		}
		if decided() {
			return nil
		}
	}
	return nil
}

// handle turns a crash of a listener into its error, so that it neither takes
// the session with it nor opens a gate.
func handle(ctx context.Context, l Listener, e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("listener for %s crashed: %v", e.Kind(), p)
		}
	}()
	return l.Handle(ctx, e)
}

// Notify shows the person a line that is no part of the conversation.
func (a *Agent) Notify(ctx context.Context, level Level, text string) {
	a.tellAll(ctx, &Notice{Text: text, Level: level})
}

// tellAll passes on what is no part of a run.
func (a *Agent) tellAll(ctx context.Context, e Event) {
	for _, l := range a.listeners {
		if l.Wants(e.Kind()) {
			_ = handle(ctx, l, e) // a front end that cannot show a notice has no better place to say so
		}
	}
}

func (a *Agent) notifyf(ctx context.Context, level Level, format string, args ...any) {
	a.Notify(ctx, level, fmt.Sprintf(format, args...))
}
