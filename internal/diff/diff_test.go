package diff

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// A difference is written as the library writes it, whose own function for this never looks
// at the job. Only where a hunk begins in the new text is told otherwise: the library counts
// no lines between changes of one hunk, and so tells later hunks to begin too early.
func TestADifferenceIsWrittenAsTheLibraryDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		lines := make([]string, r.IntN(30))
		for i := range lines {
			lines[i] = string(rune('a' + r.IntN(4)))
		}
		return strings.Join(lines, "\n") + []string{"", "\n", "\n\n"}[r.IntN(3)]
	}
	place := regexp.MustCompile(`(?m)^(@@ -[0-9,]+ )\+\d+`)
	for range 8_000 {
		before, after, context := text(), text(), r.IntN(5)
		want, err := udiff.ToUnified("a", "b", before, udiff.Lines(before, after), context)
		if err != nil {
			t.Fatal(err)
		}
		u := Unified{From: "a", To: "b", Context: context}
		got := u.Text(before, after)
		if place.ReplaceAllString(got, "$1") != place.ReplaceAllString(want, "$1") {
			t.Fatalf("%q and %q with %d lines around:\n%s\nwant\n%s", before, after, context, got, want)
		}
		if wrong := misplaced(got, u.Lines(after)); wrong != "" {
			t.Fatalf("%q and %q with %d lines around: %s\n%s", before, after, context, wrong, got)
		}
	}
}

// misplaced returns a line of a difference that is not in the new text where its hunk says.
func misplaced(difference string, after []string) string {
	at := 0
	for line := range strings.Lines(difference) {
		switch {
		case strings.HasPrefix(line, "@@"):
			_, to, _ := strings.Cut(line, "+")
			_, _ = fmt.Sscanf(to, "%d", &at)
		case strings.HasPrefix(line, "+++"), line[0] != '+' && line[0] != ' ':
		default:
			if at < 1 || at > len(after) || strings.TrimSuffix(after[at-1], "\n") != strings.TrimSuffix(line[1:], "\n") {
				return fmt.Sprintf("%q is not line %d", line, at)
			}
			at++
		}
	}
	return ""
}
