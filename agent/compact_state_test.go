package agent

import "testing"

func TestACompactionInProgressIsInterruptedAndNoOther(t *testing.T) {
	var c compactionState
	if c.interrupt() {
		t.Error("there is one before it began")
	}
	ctx, end := c.begin(t.Context())
	if !c.interrupt() || ctx.Err() == nil || t.Context().Err() != nil {
		t.Error("it goes on")
	}
	if end(); c.interrupt() {
		t.Error("there is one after it ended")
	}
}
