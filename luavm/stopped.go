package luavm

import "context"

// Stopped reports whether the job of ctx, which [VM.Context] or [VM.Wait] gave,
// was stopped: its context ended, or it used too much time or memory. It is
// false while the job goes on and when it ended by itself.
func Stopped(ctx context.Context) bool {
	j, ok := ctx.Value(jobKey{}).(*job)
	if !ok {
		return ctx.Err() != nil
	}
	return j.cause.Load() != nil || j.state.Load() != stateEnded && j.parent.Err() != nil
}
