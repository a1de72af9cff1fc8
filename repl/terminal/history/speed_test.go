package history

import (
	"fmt"
	"strings"
	"testing"

	"pi/internal/edit"
)

// many is a history of 10,000 entries, of which every five hundredth has 10,000 lines.
func many(b *testing.B) *History {
	long := strings.Repeat("func main() { return nil }\n", 10_000)
	return Open(fill(b, kept, func(i int) string {
		if i%500 == 0 {
			return fmt.Sprint(i, long)
		}
		return fmt.Sprintf("please fix the test number %d of the tokenizer, and run all others", i)
	}), nil)
}

// A key in Ctrl+R: typed onto the query, and removed from it.
func BenchmarkSearchKey(b *testing.B) {
	s := many(b).Search()
	for _, queries := range [][2]string{{"t", ""}, {"tokenizer 77", "tokenizer 7"}, {"xyzzy", "xyzz"}, {"main 5", "main"}, {"z", "q"}} {
		b.Run(fmt.Sprintf("%q", queries[0]), func(b *testing.B) {
			for i := range b.N {
				s.Find(queries[i%2])
			}
		})
	}
}

// Ctrl+R itself: all entries are decoded and folded.
func BenchmarkSearchBegin(b *testing.B) {
	path := many(b).file.path
	for b.Loop() {
		Open(path, nil).Search()
	}
}

// The first Up of a program.
func BenchmarkFirstUp(b *testing.B) {
	path := many(b).file.path
	for b.Loop() {
		Open(path, nil).Walk().Up(edit.New())
	}
}

func BenchmarkAdd(b *testing.B) {
	h := many(b)
	for i := 0; b.Loop(); i++ {
		if err := h.Add(edit.Draft{Text: fmt.Sprint("entry ", i)}); err != nil {
			b.Fatal(err)
		}
	}
}
