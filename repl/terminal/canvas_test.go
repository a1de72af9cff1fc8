package terminal

import (
	"fmt"
	"strings"
	"testing"

	"pi/internal/cells"
	"pi/internal/testing/screentest"
)

const (
	canvasColumns = 12
	canvasHeight  = 6
)

// zoneOf makes a zone of bytes, and returns the rest of them: its rows have letters, blanks and colours.
func zoneOf(p []byte) (z Zone, rest []byte) {
	take := func() int {
		if len(p) == 0 {
			return 0
		}
		b := p[0]
		p = p[1:]
		return int(b)
	}
	n := take() % (canvasHeight + 2)
	for range n {
		row := ""
		for range take() % (canvasColumns + 2) {
			row += []string{"a", "b", "c", " ", "\x1b[2m", "\x1b[31m", "\x1b[0m", "\x1b[1m"}[take()%8]
		}
		z.Rows = append(z.Rows, row)
	}
	z.Row, z.Column, z.NoCursor = take()%8, take()%14, take()%4 == 0
	return z, p
}

// painted is what a screen shows: each cell with its colours.
func painted(s screentest.Screen) (rows []string) {
	for _, cells := range s.Cells {
		var row strings.Builder
		for _, c := range cells {
			if c.Text == "" || c.Text == " " {
				c = screentest.Cell{Text: " "}
			}
			fmt.Fprintf(&row, "%s[%s] ", c.Text, c.Style)
		}
		rows = append(rows, row.String())
	}
	return rows
}

// FuzzAChangedZoneLooksAsIfItWereDrawnAnew changes one zone into the next, with rows of a
// transcript now and then, and compares the screen with one on which each zone is drawn at once.
func FuzzAChangedZoneLooksAsIfItWereDrawnAnew(f *testing.F) {
	f.Add([]byte("\x02\x04\x00\x01\x02\x00\x03\x04\x00\x00\x01\x02\x01\x02\x04\x00\x01\x02\x01\x03\x04\x00\x00\x01\x01\x05\x01"))
	f.Add([]byte(strings.Repeat("\x03\x08\x04\x00\x01\x05\x02\x00\x06\x01\x02\x03\x01\x04\x07", 9)))
	f.Fuzz(func(t *testing.T, p []byte) {
		changing := screentest.NewEmulator(canvasColumns, canvasHeight, false, screentest.Profile{})
		d := canvas{columns: canvasColumns, height: canvasHeight, stale: true}
		var transcript []string
		for i := 0; len(p) > 0 && i < 30; i++ {
			var z Zone
			z, p = zoneOf(p)
			shown := z.fit(canvasColumns, canvasHeight)
			var text []byte
			if len(p) > 0 && p[0]%3 == 0 {
				row := fmt.Sprint("row ", i)
				transcript = append(transcript, row)
				text = appendRows(nil, []string{row})
			}
			var frame []byte
			if len(text) > 0 || d.stale {
				frame = d.redraw(nil, text, shown)
			} else if !d.shows(shown) {
				frame = d.change(nil, shown)
			}
			_, _ = changing.Write(frame)

			screen := changing.Screen()
			if got, want := zonePart(screen, &d), zoneAnew(shown); got != want {
				t.Fatalf("zone %d %q (frame %q):\n%s\nwant\n%s", i, shown.Rows, frame, got, want)
			}
			if len(shown.Rows) < canvasHeight && len(transcript) > 0 {
				above := screen.Row - d.row - 1
				if above >= 0 && !strings.HasPrefix(screen.Rows[above], transcript[len(transcript)-1]) {
					t.Fatalf("zone %d: row %q is above it, want %q", i, screen.Rows[above], transcript[len(transcript)-1])
				}
			}
		}
	})
}

// zonePart is the rows of the screen from the first one of the zone on.
func zonePart(s screentest.Screen, d *canvas) string {
	return withoutBlank(painted(s)[s.Row-d.row:]) + fmt.Sprint(s.Col, d.row, !s.Hidden)
}

// zoneAnew is zonePart of a screen that shows nothing but a zone.
func zoneAnew(z Zone) string {
	v := screentest.NewEmulator(canvasColumns, canvasHeight, false, screentest.Profile{})
	for i, row := range z.Rows {
		if i > 0 {
			_, _ = v.Write([]byte("\r\n"))
		}
		_, _ = v.Write([]byte(wrapOff + row + styleEnd))
	}
	return withoutBlank(painted(v.Screen())) + fmt.Sprint(z.Column, z.Row, !z.NoCursor)
}

// withoutBlank joins rows, without blank ones at the end.
func withoutBlank(rows []string) string {
	for len(rows) > 0 && rows[len(rows)-1] == strings.Repeat(" [] ", canvasColumns) {
		rows = rows[:len(rows)-1]
	}
	return strings.Join(rows, "\n") + "\n"
}

func TestThePrefixThatTwoRowsShare(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		same    string
		columns int
		style   string
	}{
		{"abc", "abd", "ab", 2, ""},
		{"abc", "abcd", "abc", 3, ""},
		{"", "a", "", 0, ""},
		{"abe", "abe\u0301", "ab", 2, ""}, // it combines with the last
		{"ab日", "ab本", "a", 1, ""},
		{"\x1b[2mab\x1b[0mc", "\x1b[2mab\x1b[0md", "\x1b[2mab\x1b[0m", 2, ""},
		{"\x1b[2mab", "\x1b[2mac", "\x1b[2ma", 1, "\x1b[2m"},
		{"\x1b[2ma", "\x1b[3ma", "", 0, ""},
		{"\x1b[1m\x1b[2mab", "\x1b[1m\x1b[2mac", "\x1b[1m\x1b[2ma", 1, "\x1b[1m\x1b[2m"},
		{"a\x1b]8;;x\x1b\\b", "a\x1b]8;;x\x1b\\c", "a", 1, ""},
	} {
		n, columns, style := samePrefix(c.a, c.b)
		if c.b[:n] != c.same || columns != c.columns || style != c.style {
			t.Errorf("%q and %q share %q, %d columns, style %q", c.a, c.b, c.b[:n], columns, style)
		}
		if got := cells.Width(c.b[:n]); got != columns {
			t.Errorf("%q takes %d columns, not %d", c.b[:n], got, columns)
		}
	}
}
