package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pi/internal/cells"
)

func TestLayout(t *testing.T) {
	for _, c := range []struct {
		text        string
		back        int // elements that the cursor goes back from the end
		width       int
		first, rest string
		rows        []string
		row, column int
	}{
		{"", 0, 10, "> ", "  ", []string{"> "}, 0, 2},
		{"abc", 1, 10, "> ", "  ", []string{"> abc"}, 0, 4},
		{"abcdefgh", 0, 5, "> ", "  ", []string{"> abc", "  def", "  gh"}, 2, 4},
		{"abcdef", 0, 5, "> ", "  ", []string{"> abc", "  def", "  "}, 2, 2},
		{"abcdef", 3, 5, "> ", "  ", []string{"> abc", "  def"}, 1, 2},
		{"abc\ndef", 4, 5, "> ", "  ", []string{"> abc", "  ", "  def"}, 1, 2},
		{"日本語", 0, 5, "", "", []string{"日本", "語"}, 1, 2},
		{"日本語", 1, 5, "", "", []string{"日本", "語"}, 1, 0},
		{"日a", 0, 1, "", "", []string{"?", "a", ""}, 2, 0},
		{"a\tb\t", 0, 20, "", "", []string{"a   b   "}, 0, 8},
		{"ab\tc", 0, 3, "", "", []string{"ab ", "c"}, 1, 1},
		{"\x1b[31m\x00\x7f\u009b", 0, 20, "", "", []string{"␛[31m␀␡\ufffd"}, 0, 8},
		{"a\u202eb\u200bc", 0, 20, "", "", []string{"a<U+202E>b<U+200B>c"}, 0, 19},
		{"a\U000e0041\ue0b0", 1, 20, "", "", []string{"a<U+E0041><U+E0B0>"}, 0, 10},
		{"a\U000e0041b", 0, 5, "", "", []string{"a", "<U+E…", "b"}, 2, 1},
		{"\n\u0301x", 0, 20, "", "", []string{"", "\u25cc\u0301x"}, 1, 2},
		{"👨‍👩‍👧🇩🇪e\u0301", 1, 20, "", "", []string{"👨‍👩‍👧🇩🇪e\u0301"}, 0, 4},
		{"ab", 0, 5, "steer> ", "  ", []string{"ab"}, 0, 2},
		{"abcdefg", 0, 4, "> ", "... ", []string{"> ab", "cdef", "g"}, 2, 1},
		{"abc", 0, 10, "\x1b[1m> \x1b[0m", "", []string{"\x1b[1m> \x1b[0mabc"}, 0, 5},
		{"a\n\n", 0, 5, "", "", []string{"a", "", ""}, 2, 0},
		{"one two three", 0, 9, "", "", []string{"one two ", "three"}, 1, 5},
		{"one two three", 0, 7, "", "", []string{"one two", "three"}, 1, 5},
		{"one two three", 5, 7, "", "", []string{"one two", "three"}, 1, 0},
		{"one two three", 6, 7, "", "", []string{"one two", "three"}, 0, 6},
		{"one two ", 0, 7, "", "", []string{"one two", ""}, 1, 0},
		{"one two   three", 0, 7, "", "", []string{"one two", "three"}, 1, 5},
		{"one twothree", 0, 9, "> ", "  ", []string{"> one ", "  twothre", "  e"}, 2, 3},
		{"one twothreefour", 0, 7, "", "", []string{"one ", "twothre", "efour"}, 2, 5},
		{"ab\tcdef", 0, 7, "", "", []string{"ab  ", "cdef"}, 1, 4},
		{"see 日本語 x", 0, 8, "", "", []string{"see 日本", "語 x"}, 1, 4},
		{"aaa\nbb cc", 0, 4, "", "", []string{"aaa", "bb ", "cc"}, 2, 2},
	} {
		b := New()
		b.Insert(c.text)
		for range c.back {
			b.Do("left")
		}
		rows, row, column := b.Layout(c.width, c.first, c.rest)
		if !slices.Equal(rows, c.rows) || row != c.row || column != c.column {
			t.Errorf("%q at %d: got %q %d,%d; want %q %d,%d", c.text, c.width, rows, row, column, c.rows, c.row, c.column)
		}
	}
}

func TestTokensAreDrawnAsLabels(t *testing.T) {
	b := New()
	do(t, b, "'see ", "<1\n2\n3\n4", "'!")
	for _, c := range []struct {
		width int
		want  []string
	}{
		{40, []string{"see [paste #1: 4 lines, 7 B]!"}},
		{26, []string{"see ", "[paste #1: 4 lines, 7 B]!"}},
		{10, []string{"see ", "[paste #1…", "!"}},
		{1, []string{"s", "e", "e", "…", "!", ""}},
	} {
		if rows, _, _ := b.Layout(c.width, "", ""); !slices.Equal(rows, c.want) {
			t.Errorf("at %d: got %q, want %q", c.width, rows, c.want)
		}
	}
	b.SetTokenStyle(func(label string) string { return "<" + label + ">" })
	if rows, _, _ := b.Layout(10, "", ""); !slices.Equal(rows, []string{"see ", "<[paste #1…>", "!"}) {
		t.Errorf("styled: %q", rows)
	}
}

func TestUpAndDownGoByRowsAsDrawnAndKeepTheColumn(t *testing.T) {
	for _, c := range []struct {
		text   string
		width  int
		script string
		want   string
	}{
		{"abcd\ne\nfghi", 40, "up", "abcd\ne|\nfghi"},
		{"abcd\ne\nfghi", 40, "up up", "abcd|\ne\nfghi"},
		{"abcd\ne\nfghi", 40, "left up up down down", "abcd\ne\nfgh|i"},
		{"abcd\ne\nfghi", 40, "up left up", "|abcd\ne\nfghi"},
		{"abcdefgh", 5, "up", "abcde|fgh"},
		{"abcdefgh", 5, "text_start down", "abc|defgh"},
		{"abcdef", 5, "up", "abc|def"},
		{"abcdef", 5, "up up down", "abc|def"},
		{"abcdef\nghi", 5, "up left up right", "abcd|ef\nghi"},
		{"日本\nabc", 40, "left left up", "|日本\nabc"},
		{"日本\nabc", 40, "left up", "日|本\nabc"},
		{"日本\nabc", 40, "left left up down", "日本\na|bc"},
	} {
		b := New()
		b.Insert(c.text)
		b.Layout(c.width, "> ", "  ")
		do(t, b, strings.Fields(c.script)...)
		if got := marked(b); got != c.want {
			t.Errorf("%q at %d, %s: got %q, want %q", c.text, c.width, c.script, got, c.want)
		}
	}
}

func TestUpIsFalseInTheFirstRowAndDownInTheLast(t *testing.T) {
	b := New()
	b.Insert("abcdefgh")
	b.Layout(5, "> ", "  ")
	for i, want := range []bool{true, true, false} {
		if got := b.Do("up"); got != want {
			t.Errorf("up %d: got %v", i, got)
		}
	}
	for i, want := range []bool{true, true, false} {
		if got := b.Do("down"); got != want {
			t.Errorf("down %d: got %v", i, got)
		}
	}
}

func TestAWindowHasTheCursorAndMovesNoFurtherThanNeeded(t *testing.T) {
	b := New()
	for i := range 20 {
		b.Insert(fmt.Sprintf("row %d\n", i))
	}
	for _, c := range []struct {
		script                   string
		first                    string
		count, row, above, below int
	}{
		{"", "row 15", 6, 5, 15, 0},
		{"up up", "row 15", 6, 3, 15, 0},
		{"up up up up", "row 14", 6, 0, 14, 1},
		{"down", "row 14", 6, 1, 14, 1},
		{"text_start", "row 0", 6, 0, 0, 15},
		{"down down down down down", "row 0", 6, 5, 0, 15},
		{"down", "row 1", 6, 5, 1, 14},
	} {
		do(t, b, strings.Fields(c.script)...)
		v := b.Window(40, 6, "", "")
		if len(v.Rows) != c.count || v.Rows[0] != c.first || v.Row != c.row || v.Above != c.above || v.Below != c.below {
			t.Errorf("after %q: %+v, want %+v", c.script, v, c)
		}
	}
	do(t, b, "text_end")
	b.Window(40, 6, "", "")
	b.Clear()
	if v := b.Window(40, 6, "", ""); len(v.Rows) != 1 || v.Above+v.Below+v.Row != 0 {
		t.Errorf("emptied: %+v", v)
	}
	if v := b.Window(40, 0, "", ""); len(v.Rows) != 1 {
		t.Errorf("no height: %+v", v)
	}
}

// checkLayout holds what is true of every text at every width.
func checkLayout(t *testing.T, b *Buffer, width int) {
	t.Helper()
	rows, row, column := b.Layout(width, "> ", "  ")
	for i, r := range rows {
		if w := cells.Width(r); w > width || strings.ContainsAny(r, "\t\n\x1b\x7f") {
			t.Errorf("row %d at width %d has %d cells: %q", i, width, w, r)
		}
	}
	if row < 0 || row >= len(rows) || column < 0 || column >= width {
		t.Fatalf("the cursor is at %d,%d of %q at width %d", row, column, rows, width)
	}
	v := b.Window(width, 3, "> ", "  ")
	if len(v.Rows) != min(3, len(rows)) || v.Above+v.Row != row || v.Column != column ||
		!slices.Equal(v.Rows, rows[v.Above:v.Above+len(v.Rows)]) || v.Above+len(v.Rows)+v.Below != len(rows) {
		t.Errorf("the window %+v of %q with the cursor at %d,%d", v, rows, row, column)
	}
}
