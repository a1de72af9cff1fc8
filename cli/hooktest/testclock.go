package hooktest

import (
	"context"
	"time"

	"pi/stdlib"
)

// testClock is the time of the code of a test: that of the case that runs, so that a test sees
// what its hooks see.
type testClock struct{ file *file }

var _ stdlib.Clock = testClock{}

// Now is the time of the case; between cases that of the machine.
func (t testClock) Now() time.Time {
	if t.file.scene == nil {
		return time.Now()
	}
	return t.file.scene.stage.clock.Now()
}

// Sleep is that of the clock of the case.
func (t testClock) Sleep(ctx context.Context, d time.Duration) bool {
	return t.file.scene.stage.clock.Sleep(ctx, d)
}

// Timer is that of the clock of the case.
func (t testClock) Timer(d time.Duration, again bool) func(ctx context.Context, f func()) {
	return t.file.scene.stage.clock.Timer(d, again)
}
