package repl

import (
	"fmt"
	"strings"
	"testing"
)

func TestOlderBlocksComeOneAfterTheOther(t *testing.T) {
	var f folds
	if _, ok := f.older(); ok {
		t.Error("there is a block")
	}
	for i := range foldsKept + 2 {
		if n := f.add(fmt.Sprint("block ", i+1), nil); n != i+1 {
			t.Fatalf("block %d has number %d", i+1, n)
		}
	}
	expect := func(want int) {
		t.Helper()
		if b, ok := f.older(); !ok || b.number != want {
			t.Errorf("shows #%d, want #%d", b.number, want)
		}
	}
	expect(foldsKept + 2)
	expect(foldsKept + 1)
	f.again()
	expect(foldsKept + 2)
	f.add("new", nil)
	expect(foldsKept + 3)
	if _, ok := f.find(3); ok {
		t.Error("a block is kept for ever")
	}
	if b, ok := f.find(4); !ok || b.title != "block 4" {
		t.Errorf("#4 is %q", b.title)
	}
	for range foldsKept - 1 {
		f.older()
	}
	if _, ok := f.older(); ok {
		t.Error("there is one before the oldest")
	}
}

func TestLastLinesCountWhatIsHidden(t *testing.T) {
	for _, c := range []struct {
		lines  string
		most   int
		want   string
		hidden int
	}{
		{"a", 2, "a", 0},
		{"a|b", 2, "a|b", 0},
		{"a|b|c", 2, "a|b|c", 0},
		{"a|b|c|d", 2, "c|d", 2},
		{"\tx", 2, "    x", 0},
		{"0123456789ab", 1, "012345678…", 0},
	} {
		rows, hidden := lastLines(strings.Split(c.lines, "|"), c.most, 10)
		if got := strings.Join(rows, "|"); got != c.want || hidden != c.hidden {
			t.Errorf("%q: %q and %d hidden, want %q and %d", c.lines, got, hidden, c.want, c.hidden)
		}
	}
}

func TestOfWhatWasOverwrittenTheLastStateCounts(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb":               "a\nb",
		"a\r\nb\r\n":         "a\nb\n",
		"10%\r20%\r100%":     "100%",
		"10%\r20%\r":         "20%",
		"one\n10%\r20%\nend": "one\n20%\nend",
		"\r":                 "",
	} {
		if got := lastStates(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
