package agent

import "testing"

func TestACompactionInProgressIsInterruptedAndNoOther(t *testing.T) {
	var c compactionState
	if c.Interrupt() {
		t.Error("there is one before it began")
	}
	ctx, end := c.Begin(t.Context())
	if !c.Interrupt() || ctx.Err() == nil || t.Context().Err() != nil {
		t.Error("it goes on")
	}
	if end(); c.Interrupt() {
		t.Error("there is one after it ended")
	}
}
