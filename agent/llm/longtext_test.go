package llm

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

func TestLongTextIsWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var text longText
		var want strings.Builder
		for range r.IntN(40) {
			piece := strings.Repeat("é", r.IntN(3)*r.IntN(chunk))
			text.add(piece)
			want.WriteString(piece)
			if cut := r.IntN(want.Len() + 1); !strings.HasPrefix(text.head(cut), want.String()[:cut]) {
				t.Fatalf("the first %d of %d bytes differ", cut, want.Len())
			}
			if text.String() != want.String() {
				t.Fatalf("%d bytes differ from the %d that were added", len(text.String()), want.Len())
			}
		}
		text.reset()
		if text.add("again"); text.String() != "again" {
			t.Fatalf("%q after a reset", text.String())
		}
	}
}

// A text that grows is not copied again and again.
func TestALongTextGrowsInPlace(t *testing.T) {
	piece := strings.Repeat("x", 1000)
	const pieces = 10_000
	var before, after runtime.MemStats
	var text longText
	runtime.ReadMemStats(&before)
	for range pieces {
		text.add(piece)
	}
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(pieces*len(piece)*3/2); got > most {
		t.Errorf("%d bytes for a text of %d, want at most %d", got, pieces*len(piece), most)
	}
}
