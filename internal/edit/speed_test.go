package edit

import (
	"fmt"
	"strings"
	"testing"
)

// A key in a long text: an edit in its middle, and the rows of a window of eight.
func BenchmarkKey(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"short", "hello"},
		{"line of 6,000", strings.Repeat("abcde fgh ", 600)},
		{"wide line of 6,000", strings.Repeat("日本語", 2000)},
		{"rows 10,000", strings.Repeat(strings.Repeat("word ", 16)+"\n", 10_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := New()
			e.Insert(c.text)
			e.Window(80, 8, "> ", "  ")
			e.Do("text_start")
			for range 2000 {
				e.Do("down")
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i%2 == 0 {
					e.Insert("x")
				} else {
					e.Do("backspace")
				}
				e.Window(80, 8, "> ", "  ")
			}
		})
	}
}

// A line end typed and removed in the middle of a long text.
func BenchmarkLineEnd(b *testing.B) {
	e := New()
	e.Insert(strings.Repeat(strings.Repeat("word ", 16)+"\n", 10_000))
	e.Window(80, 8, "> ", "  ")
	e.Do("text_start")
	for b.Loop() {
		e.Do("newline")
		e.Window(80, 8, "> ", "  ")
		e.Do("backspace")
		e.Window(80, 8, "> ", "  ")
	}
}

// A paste of many rows, and all of what the next keys need.
func BenchmarkPaste(b *testing.B) {
	text := strings.Repeat("a line of code that was pasted\n", 10_000)
	for b.Loop() {
		e := New()
		e.Paste(text)
		e.Window(80, 8, "> ", "  ")
	}
}

func BenchmarkLayout(b *testing.B) {
	for _, rows := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			e := New()
			e.Insert(strings.Repeat("a row of text\n", rows))
			for b.Loop() {
				e.Layout(80, "> ", "  ")
			}
		})
	}
}
