package markdown

import (
	"fmt"
	"strings"
	"testing"
)

// deltas are 20,000 parts of 5 bytes of a text that is repeated.
func deltas(text string) []string {
	text = strings.Repeat(text, 100_000/len(text)+1)
	var parts []string
	for i := range 20_000 {
		parts = append(parts, text[5*i:5*i+5])
	}
	return parts
}

// BenchmarkStream writes 20,000 deltas, and looks at what is live once in fifty. The
// texts are one block each, as far as that is possible: what is painted must not be
// painted again, however long the block is.
func BenchmarkStream(b *testing.B) {
	paragraph := "The quick brown fox jumps over **the lazy dog** while `the cat` sleeps, and a [link](http://h/x) is *there*. "
	for name, text := range map[string]string{
		"paragraph": paragraph,
		"prose":     paragraph + paragraph + "\n\n",
		"list":      "- " + paragraph + "\n",
		"code":      "\tif err := run(); err != nil { return err }\n",
		"quote":     "> " + paragraph + "\n",
		"CJK":       "日本語の文章がここに続きます。",
		"stars":     "*a **b `c ",
	} {
		prefix := map[string]string{"code": "```go\n"}[name]
		for _, n := range []int{5_000, 20_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				parts := deltas(text)[:n]
				for b.Loop() {
					s := NewStream(Painter{Columns: 80, Paint: coloured, Highlight: true})
					s.Write(prefix)
					for i, part := range parts {
						s.Write(part)
						if i%50 == 0 {
							s.Live()
						}
					}
					s.End()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/delta")
			})
		}
	}
}

// BenchmarkHostile writes texts in which much could be something that never is.
func BenchmarkHostile(b *testing.B) {
	for _, text := range []string{"[", "*a **b ", "`a ``b ", ">", "> - ", "<", "https://x", "|", "-"} {
		b.Run(text, func(b *testing.B) {
			parts := deltas(text)
			for b.Loop() {
				s := NewStream(Painter{Columns: 80, Paint: coloured})
				for i, part := range parts {
					s.Write(part)
					if i%50 == 0 {
						s.Live()
					}
				}
				s.End()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(parts)), "µs/delta")
		})
	}
}

func BenchmarkTable(b *testing.B) {
	parts := deltas("| a word | another | 12 |\n")
	for b.Loop() {
		s := NewStream(Painter{Columns: 80, Paint: coloured})
		s.Write("| a | b | c |\n|---|---|---|\n")
		for i, part := range parts {
			s.Write(part)
			if i%50 == 0 {
				s.Live()
			}
		}
		s.End()
	}
}
