package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// OpenWait is [Open] for somebody who would rather wait than be told that
// another process has the session. waiting, which may be nil, is called once if
// there is a wait, with who has it. When ctx ends first, the error wraps why.
//
// There is no wait for a lock that can be given up, so it is tried again and
// again: soon at first, and at least twice a second.
func OpenWait(ctx context.Context, path string, o Options, waiting func(*BusyError)) (*Session, error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		s, err := Open(path, o)
		var busy *BusyError
		if !errors.As(err, &busy) {
			return s, err
		}
		if waiting != nil {
			waiting(busy)
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for session %q: %w", path, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}
