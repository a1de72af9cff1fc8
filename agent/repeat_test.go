package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestACallWhoseResultChangesIsNoRepeat(t *testing.T) {
	n := 0
	poll := tool("poll", func(context.Context) (Result, error) { n++; return TextResult(fmt.Sprintf("%d of 20 done", n)), nil })
	var replies []reply
	for range 20 {
		replies = append(replies, use(call{"a", "poll", `{}`}))
	}
	r := newRig(t, Options{Tools: []Tool{poll}, Settings: Settings{MaxRepeats: 5}}, append(replies, say("all done"))...)
	r.prompt("wait for it")
	if n != 20 || strings.Contains(r.talk(), "in a row") {
		t.Errorf("polled %d times:\n%s", n, r.talk())
	}
}

func TestTheModelIsToldOnceBeforeTheLimitOfRepeats(t *testing.T) {
	for limit, at := range map[int]int{1: 0, 2: 0, 3: 2, 4: 3, 5: 3, 8: 3, 0: 0} {
		look := tool("look", func(context.Context) (Result, error) { return TextResult("nothing"), nil })
		var replies []reply
		for range 10 {
			replies = append(replies, use(call{"a", "look", `{}`}))
		}
		r := newRig(t, Options{Tools: []Tool{look}, Settings: Settings{MaxRepeats: limit}}, append(replies, say("done"))...)
		err := r.Prompt(t.Context(), Prompt{Text: "go"})
		want := fmt.Sprintf("stopped: the model called look %d times in a row with the same arguments and the same result (max_repeats)", limit)
		if limited, ok := errors.AsType[*LimitError](err); limit > 0 && (!ok || limited.Error() != want) || limit == 0 && err != nil {
			t.Errorf("limit %d: %v", limit, err)
		}
		results, told := 0, 0
		for _, it := range r.Session().Context() {
			if it.Message.ToolCallID == "" {
				continue
			}
			if results++; strings.Contains(it.Message.Text(), fmt.Sprintf("[look was called %d times in a row", results)) {
				if told != 0 {
					t.Errorf("limit %d: told at %d and %d", limit, told, results)
				}
				told = results
			}
		}
		if told != at {
			t.Errorf("limit %d: told at %d, want %d", limit, told, at)
		}
	}
}

func TestWhatTheFileOfALongOutputIsCalledMakesNoDifference(t *testing.T) {
	n := 0
	long := tool("long", func(context.Context) (Result, error) {
		n++
		path := fmt.Sprintf("/tmp/out-%d.log", n)
		details, _ := json.Marshal(map[string]string{"fullOutputPath": path})
		return Result{Content: TextResult("much [all of it: " + path + "]").Content, Details: details}, nil
	})
	again := use(call{"a", "long", `{}`})
	r := newRig(t, Options{Tools: []Tool{long}, Settings: Settings{MaxRepeats: 2}}, again, again)
	if _, ok := errors.AsType[*LimitError](r.Prompt(t.Context(), Prompt{Text: "go"})); !ok {
		t.Error("it went on")
	}
}

func TestCallsBehindOneThatReachesALimitDoNotRun(t *testing.T) {
	ran := 0
	alone := tool("alone", func(context.Context) (Result, error) { ran++; return TextResult("same"), nil })
	alone.spec.Sequential = true
	r := newRig(t, Options{Tools: []Tool{alone}, Settings: Settings{MaxRepeats: 2}},
		use(call{"a", "alone", `{}`}, call{"b", "alone", `{}`}, call{"c", "alone", `{"n":1}`}))
	if _, ok := errors.AsType[*LimitError](r.Prompt(t.Context(), Prompt{Text: "go"})); !ok || ran != 2 {
		t.Errorf("ran %d times", ran)
	}
	if !strings.Contains(r.talk(), "not run: stopped: the model called alone 2 times") {
		t.Error(r.talk())
	}
}
