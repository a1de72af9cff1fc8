package agent

import (
	"slices"
	"testing"
	"time"
)

func TestTheNewestQueuedTextIsTakenBackFirst(t *testing.T) {
	b := newInbox(listening(), newInForce(Settings{}), time.Now)
	b.openQueues()
	for _, x := range []struct {
		text string
		q    Queue
	}{{"first", Steer}, {"at the end", FollowUp}, {"last", Steer}} {
		b.enqueue(Prompt{Text: x.text, Source: "interactive"}, x.q)
	}
	b.enqueue(Prompt{Text: "of a hook", Source: "hook"}, Steer)
	want := []Waiting{{"first", Steer, true, 1}, {"last", Steer, true, 3}, {"of a hook", Steer, false, 4}, {"at the end", FollowUp, true, 2}}
	if got := b.Queued(); !slices.Equal(got, want) {
		t.Errorf("queued are %v, want %v", got, want)
	}
	for _, want := range []string{"last", "at the end", "first", ""} {
		if got, ok := b.TakeLast(); got != want || ok != (want != "") {
			t.Errorf("took %q, %v, want %q", got, ok, want)
		}
	}
}
