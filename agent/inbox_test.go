package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

func textsOf(messages []queued) (texts []string) {
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return texts
}

func TestAnInboxKeepsWhatNoRunLooksAtForTheFrontEnd(t *testing.T) {
	b := inbox{wake: make(chan struct{}, 1)}
	if b.enqueue(Prompt{Text: "early"}, Steer) {
		t.Error("a prompt is queued though no run is there")
	}
	b.openQueues()
	for i, q := range []Queue{Steer, FollowUp, Steer, FollowUp} {
		b.enqueue(Prompt{Text: fmt.Sprint(i), Source: "interactive"}, q)
	}
	var got []string
	for _, stopping := range []bool{false, true, false, true, true} {
		messages, q := b.due(stopping, false, true)
		got = append(got, fmt.Sprint(q, textsOf(messages)))
	}
	if want := []string{"steer [0]", "steer [2]", "steer []", "follow_up [1 3]", "follow_up []"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
	if b.endRun() || b.isOpen() {
		t.Error("the queues are open after the end of the run")
	}
	_, err := b.post(Origin{}, 1, time.Time{}, func() error { b.deferToFrontEnd(Prompt{Text: "late"}); return nil })
	<-b.wake
	if err != nil || b.Pending() != 1 || b.TakeNoMore() {
		t.Errorf("%v, %d wait", err, b.Pending())
	}
	for p := range b.TakeSubmitted() {
		if p.Text != "late" || !b.TakeNoMore() {
			t.Error(p)
		}
	}
}

func TestAnInboxDropsWhatHooksSentOnceTheyWantTooMuch(t *testing.T) {
	b := inbox{wake: make(chan struct{}, 1), queueing: true}
	hook := Origin{Kind: FromHook, Hook: "loop"}
	b.put(queued{Prompt: Prompt{Text: "a", Origin: hook}}, Steer)
	b.put(queued{Prompt: Prompt{Text: "b"}}, Steer)
	var limit *LimitError
	if err := b.addRequest(hook, 1); err != nil {
		t.Fatal(err)
	}
	if err := b.addRequest(hook, 1); !errors.As(err, &limit) || b.Pending() != 1 {
		t.Errorf("%v, %d wait", err, b.Pending())
	}
	if _, err := b.post(hook, 1, time.Time{}, func() error { t.Error("it is taken"); return nil }); !heldBack(err) {
		t.Error(err)
	}
	b.HeardFrom(Origin{Kind: FromPerson})
	if err := b.addRequest(hook, 1); err != nil {
		t.Error(err)
	}
	r := &compactRequest{}
	if !b.putCompact(r) || b.putCompact(&compactRequest{}) || b.takeCompact() != r || b.takeCompact() != nil {
		t.Error("more than one compaction waits")
	}
}
