package edit

import (
	"fmt"
	"testing"

	"pi/internal/testing/screentest"
)

// draw shows rows on a screen of a width, one row of the screen each.
func draw(rows []string, width int) screentest.Screen {
	e := screentest.NewEmulator(width, len(rows)+2, false, screentest.Profile{})
	for i, row := range rows {
		fmt.Fprintf(e, "\x1b[%d;1H%s", i+1, row)
	}
	return e.Screen()
}

// wordFrom is where the word that the cursor is in begins in its row, and the row: a word
// that grows over the end of a row moves as a whole.
func wordFrom(b *Buffer) (row, from int) {
	l := b.text.lines[b.cursor.line]
	row = min(b.rowOf(), len(l.layout.starts)-1)
	for from = min(b.cursor.col, len(l.elements)-1); from > l.layout.starts[row] && !l.elements[from-1].isWrapped() && !l.elements[from-1].isAlone(); from-- {
	}
	return row, from
}

// The cursor is where a character appears that is typed there, if it is as wide as the one
// behind it: in each place of texts of all kinds, unless the word has to move for it, and no
// row needs a second one of the screen.
func TestTheCursorIsWhereTheNextCharacterAppears(t *testing.T) {
	for _, text := range []string{
		"hello world, this is a line of some length",
		"日本語のテキスト and latin",
		"👨‍👩‍👧 family, 🇩🇪🇫🇷 flags, e\u0301 accent, 1\ufe0f\u20e3 keycap, ❤\ufe0f heart",
		"tabs\there\tand\x1bthere\n\nrows\nnew",
		"한국어 ไทย العربية",
	} {
		for _, width := range []int{2, 3, 5, 8, 20, 80} {
			b := New()
			b.Insert(text)
			for again := true; again; again = b.Do("left") {
				_, row, column := b.Layout(width, "> ", "  ")
				before := b.Save()
				wordRow, from := wordFrom(b)
				full := b.text.at(b.cursor).isWrapped() && b.columnOf() >= width // there is no cell before a blank that has none
				typed := "X"
				if b.text.at(b.cursor).width == 2 { // a narrow one may fit into the row above, which had no room for this
					typed = "界"
				}
				b.Insert(typed)
				rows, _, _ := b.Layout(width, "> ", "  ")
				screen := draw(rows, width)
				b.Do("left")
				nowRow, now := wordFrom(b)
				b.Do("right")
				moved := nowRow != wordRow && now == from
				if got := screen.Cells[row][column].Text; got != typed && !full && !moved {
					t.Errorf("%q at width %d: %s, typed at %d, is not in row %d column %d of %q", text, width, typed, before.Position, row, column, rows)
				}
				if last := screen.Rows[len(rows)]; last != "" {
					t.Errorf("%q at width %d: the rows %q are %d on the screen", text, width, rows, len(rows)+1)
				}
				b.Do("backspace")
			}
		}
	}
}
