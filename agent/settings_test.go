package agent

import (
	"errors"
	"testing"
)

// setCompaction changes the settings of compaction.
func (r *harness) setCompaction(change func(*CompactionSettings)) {
	s := r.Settings()
	change(&s.Compaction)
	r.SetSettings(s)
}

func TestSettingsThatAreChangedCountForARunInProgress(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{echo("t")}, Settings: Settings{MaxTurns: 9}},
		use(call{"1", "t", `{"n":1}`}), use(call{"2", "t", `{"n":2}`}), use(call{"3", "t", `{"n":3}`}), say("done"))
	r.events.all = append(r.events.all, on(func(*TurnEnd) {
		s := r.Settings()
		s.MaxTurns = 2
		r.SetSettings(s)
	}))
	err := r.Prompt(t.Context(), Prompt{Text: "go"})
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != "max_turns" || len(r.model.requests) != 2 {
		t.Errorf("%v after %d requests", err, len(r.model.requests))
	}
	if got := r.Settings().MaxTurns; got != 2 {
		t.Errorf("max_turns is %d", got)
	}
}
