package edit

import (
	"fmt"
	"testing"

	"pi/internal/screentest"
)

// draw shows rows on a screen of a width, one row of the screen each.
func draw(rows []string, width int) screentest.Screen {
	e := screentest.NewEmulator(width, len(rows)+2, false, screentest.Profile{})
	for i, row := range rows {
		fmt.Fprintf(e, "\x1b[%d;1H%s", i+1, row)
	}
	return e.Screen()
}

// The cursor is where a character appears that is typed there, if it is as wide as the one
// behind it: in each place of texts of all kinds, and no row needs a second one of the screen.
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
				typed := "X"
				if b.text.at(b.cursor).width == 2 { // a narrow one may fit into the row above, which had no room for this
					typed = "界"
				}
				b.Insert(typed)
				rows, _, _ := b.Layout(width, "> ", "  ")
				screen := draw(rows, width)
				if got := screen.Cells[row][column].Text; got != typed {
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
