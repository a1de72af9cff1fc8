package repl

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func plainPaint(_, text string) string { return text }

func TestThinkingIsTheSameHoweverItIsDivided(t *testing.T) {
	const text = "\n\n  I wonder whether this is right, and look\n\n\nat it from the other side, 日本語 included.  \n\n"
	random := rand.New(rand.NewPCG(1, 2))
	for _, columns := range []int{1, 7, 20, 40, 200} {
		whole := newThought(plainPaint, columns, false)
		want := append(whole.Write(text), whole.End()...)
		if want[0] == "" || want[len(want)-1] == "" {
			t.Errorf("%d columns: blank rows at the beginning or the end of %q", columns, want)
		}
		for range 50 {
			cut := newThought(plainPaint, columns, false)
			var got []string
			for rest := []rune(text); len(rest) > 0; {
				n := min(len(rest), 1+random.IntN(9))
				got = append(got, cut.Write(string(rest[:n]))...)
				live := cut.Live()
				if strings.Contains(strings.Join(live, ""), "\n") {
					t.Fatalf("a row with a line end: %q", live)
				}
				rest = rest[n:]
			}
			if got = append(got, cut.End()...); !slices.Equal(got, want) {
				t.Fatalf("%d columns:\n%q\nwant\n%q", columns, got, want)
			}
		}
	}
}
