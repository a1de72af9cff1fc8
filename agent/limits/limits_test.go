package limits

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pi/session/message"
)

func callOf(name, arguments, result string) Call {
	return Call{Name: name, Arguments: json.RawMessage(arguments), Content: []message.Block{message.TextBlock(result)}}
}

func TestWhatCountsAsARepeat(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls string // two of the same letter are the same call
		times string // for each call how many times it has come
	}{
		{"in a row", "aaaa", "1234"},
		{"alternating", "abababab", "11122334"},
		{"three in turn", "abcabcabc", "111112223"},
		{"something new in between", "aababcac", "12112112"},
		{"seen, but longer ago than is looked", "a" + "bcdefghijklmnopqrstu" + "a", "1" + "11111111111111111111" + "1"},
		{"seen, as long ago as is looked", "a" + "bcdefghijklmnopqrst" + "aa", "1" + "1111111111111111111" + "12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Repeats
			var got strings.Builder
			for _, name := range strings.Split(c.calls, "") {
				times, _ := r.Note(callOf(name, `{}`, "same"))
				fmt.Fprint(&got, times)
			}
			if got.String() != c.times {
				t.Errorf("%s: %s, want %s", c.calls, got.String(), c.times)
			}
		})
	}
}

func TestTheResultAndTheArgumentsMakeTheCall(t *testing.T) {
	var r Repeats
	for i, c := range []struct {
		call  Call
		times int
		inRow bool
	}{
		{callOf("look", `{"a":1,"b":2}`, "x"), 1, true},
		{callOf("look", `{ "b": 2, "a": 1 }`, "x"), 2, true},
		{callOf("look", `{"a":1,"b":2}`, "y"), 1, true},
		{callOf("look", `{"a":1,"b":2}`, "x"), 1, true},
		{callOf("look", `{"a":1,"b":2}`, "y"), 2, false},
		{callOf("look", `{"a":1,"b":2}`, "y"), 3, false},
	} {
		if times, inRow := r.Note(c.call); times != c.times || inRow != c.inRow {
			t.Errorf("call %d: %d %v, want %d %v", i, times, inRow, c.times, c.inRow)
		}
	}
}

func TestATurnIsItsCallsInWhateverOrder(t *testing.T) {
	var r Repeats
	for i, c := range []struct {
		calls string
		times int
	}{
		{"ab", 1}, {"ba", 2}, {"aab", 1}, {"baa", 2}, {"ab", 1}, {"c", 1}, {"ab", 1},
	} {
		for _, name := range strings.Split(c.calls, "") {
			r.Note(callOf(name, `{}`, "same"))
		}
		if calls, times := r.EndTurn(); calls != len(c.calls) || times != c.times {
			t.Errorf("turn %d, %s: %d calls, %d times, want %d", i, c.calls, calls, times, c.times)
		}
	}
}
