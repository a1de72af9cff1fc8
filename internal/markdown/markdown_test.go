package markdown

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pi/internal/cells"
)

// tagged paints styles as tags, so that they are seen.
func tagged(style, text string) string { return "<" + style + ">" + text + "</" + style + ">" }

// coloured paints some styles as a terminal has them.
func coloured(style, text string) string {
	codes := map[string][2]string{"bold": {"1", "22"}, "dim": {"2", "22"}, "italic": {"3", "23"}, "underline": {"4", "24"},
		"strikethrough": {"9", "29"}, "accent": {"36", "39"}, "code": {"35", "39"}, "link": {"94", "39"},
		"success": {"32", "39"}, "warning": {"33", "39"}, "muted": {"90", "39"}}
	c, ok := codes[style]
	if !ok {
		panic("no style " + style)
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[%sm", c[0], text, c[1])
}

// streamed writes a text in parts and returns all rows, those that were given out before
// the end, and an error if Live is not what End would be.
func streamed(p Painter, parts ...string) (rows []string, early int) {
	s := NewStream(p)
	for _, part := range parts {
		rows = append(rows, s.Write(part)...)
		s.Live()
	}
	early = len(rows)
	return append(rows, s.End()...), early
}

func divided(text string, random *rand.Rand) []string {
	var parts []string
	for text != "" {
		n := 1 + random.IntN(min(len(text), 1+random.IntN(40)))
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

// document is a random text of pieces that mean something in Markdown.
func document(random *rand.Rand, pieces int) string {
	words := []string{"word", "a", "longer words here ", " ", " ", " ", "\n", "\n", "\n\n", "\n\n", "**", "**", "*", "_", "`", "``", "~~", "[", "](", ")", "]",
		"![", "[text](http://h/x)", "**bold words**", "*em*", "`code`", "日本語。", "é", "- ", "\n- ", "\n1. ", "\n2) ", "\n  - ", "\n    ", "\n> ", ">", "# ", "\n## ",
		"\n```\n", "\n```go\ncode\n```\n", "\n~~~\n", "---", "\n---\n", "\n| a | b |\n|---|:-:|\n| 1 | 2 |\n", "|", "\n|", "\\", "\\*", "&amp;", "&", "<b>", "<http://a.b>",
		"http://h/p_q_r", "https://x.y/(z).", "\t", "\n\t", "  \n", "\n   ", "[x] ", "- [ ] ", "1", ".", "!", "\n===\n", "snake_case", "2*3", "a|b", "\n* * *\n", "\r\n", "<", "(", "\"", "😀"}
	var out strings.Builder
	for range pieces {
		out.WriteString(words[random.IntN(len(words))])
	}
	return out.String()
}

func TestRowsDoNotDependOnWhereTheTextIsDivided(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		text := document(random, 1+random.IntN(120))
		checkDivided(t, Painter{Columns: []int{0, 1, 3, 7, 20, 40, 80}[random.IntN(7)], Paint: coloured}, text, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A paragraph that is longer than a window, with marks that nothing ends.
func TestRowsOfLongParagraphsDoNotDependOnIt(t *testing.T) {
	pieces := []string{"word ", "words", " ", "**", "*", "`", "[", "](", ")", "]", "~~", "_", "![", "<", "http://h/x", "日本語", "\\", "&amp;", "(", ".", "\nnew line", "  \nhard "}
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 9))
		var text strings.Builder
		some := pieces[random.IntN(len(pieces)):]
		for range 100 + random.IntN(900) {
			if text.WriteString(some[random.IntN(len(some))]); random.IntN(3) > 0 {
				text.WriteString(pieces[random.IntN(3)])
			}
		}
		checkDivided(t, Painter{Columns: []int{7, 40, 80}[random.IntN(3)], Paint: coloured}, text.String(), seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// differs divides a text in some ways and returns the parts whose rows are not those of
// the whole.
func differs(p Painter, text string, seed uint64, ways int) []string {
	want := p.Rows(text)
	random := rand.New(rand.NewPCG(seed, 2))
	for range ways {
		parts := divided(text, random)
		if got, _ := streamed(p, parts...); !slices.Equal(got, want) {
			return parts
		}
	}
	return nil
}

// checkDivided reports a text whose rows depend on how it is divided, made as short as it
// can be.
func checkDivided(t *testing.T, p Painter, text string, seed uint64) {
	t.Helper()
	parts := differs(p, text, seed, 1)
	if parts == nil {
		return
	}
	tries := 2000
	for size := len(text) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(text) && tries > 0; tries-- {
			if shorter := text[:i] + text[i+size:]; differs(p, shorter, seed, 1+2000/len(text)) != nil {
				text = shorter
				continue
			}
			i++
		}
	}
	if shorter := differs(p, text, seed, 1+2000/len(text)); shorter != nil {
		parts = shorter
	}
	got, _ := streamed(p, parts...)
	t.Errorf("columns %d, parts %q\n got %q\nwant %q", p.Columns, parts, got, p.Rows(strings.Join(parts, "")))
}

func TestNoRowOutsideOfCodeIsTooWide(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		text := strings.NewReplacer("```", "", "~~~", "", "    ", "", "\t", "").Replace(document(random, 1+random.IntN(80)))
		for _, columns := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 40, 80, 200} {
			for _, row := range (Painter{Columns: columns, Paint: coloured}).Rows(text) {
				if cells.Width(row) > max(columns, 2) {
					t.Fatalf("%d cells in %d columns: %q of %q", cells.Width(row), columns, row, text)
				}
			}
		}
	}
}
