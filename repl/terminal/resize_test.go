//go:build unix

package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fill prints rows of the transcript and shows a zone whose rows are as wide as the window.
func (s *stage) fill(columns, rows, zone int) {
	for i := range rows {
		s.term.Print(fmt.Sprint("row ", i))
	}
	s.fillZone(columns, zone)
}

func (s *stage) fillZone(columns, zone int) {
	var shown []string
	for i := range zone - 1 {
		shown = append(shown, wide(i, columns))
	}
	s.show(append(shown, "> ")...)
}

// wide is a row of the zone that takes so many columns.
func wide(i, columns int) string {
	name := fmt.Sprint("z", i)
	return name + strings.Repeat("x", columns-len(name))
}

// endsWith waits until the screen ends with a zone and has the rows of the transcript above,
// and nothing else.
func (s *stage) endsWith(last, columns, zone int) {
	s.t.Helper()
	good := func() bool {
		rows := strings.Split(s.text(), "\n")
		if len(rows) < zone || rows[len(rows)-1] != ">" {
			return false
		}
		for i, row := range rows[len(rows)-zone : len(rows)-1] {
			if row != wide(i, columns) {
				return false
			}
		}
		above := rows[:len(rows)-zone]
		for i, row := range above {
			if row != fmt.Sprint("row ", last-len(above)+1+i) {
				return false
			}
		}
		return true
	}
	s.until(func() string {
		return fmt.Sprintf("no zone of %d rows below row %d in %d columns", zone, last, columns)
	}, good)
}

func TestAnotherSizeShowsTheZoneOnce(t *testing.T) {
	s := onStage(t, 60, 20)
	s.fill(60, 30, 4)
	s.endsWith(29, 60, 4)
	for _, c := range []struct{ columns, rows, zone int }{
		{30, 20, 4}, {60, 20, 4}, {60, 8, 4}, {60, 20, 6}, {20, 6, 4}, {60, 30, 12}, {60, 10, 5}, {60, 30, 3},
	} {
		s.resize(c.columns, c.rows)
		s.fillZone(c.columns, c.zone)
		s.endsWith(29, c.columns, c.zone)
		if x, _ := s.cursor(); x != 2 {
			t.Errorf("%+v: the cursor is in column %d", c, x)
		}
	}
}

func TestAnySizeShowsTheRowOfTheCursor(t *testing.T) {
	s := onStage(t, 20, 5)
	s.fillZone(20, 9)
	s.term.Flush()
	for _, c := range []struct{ columns, rows int }{{20, 5}, {1, 1}, {2, 1}, {1, 3}, {20, 2}, {3, 3}} {
		s.resize(c.columns, c.rows)
		s.show("first", "middle", ">")
		want := strings.TrimSpace(map[int]string{1: ">", 2: "middle"[:min(6, c.columns)] + "\n>"}[c.rows])
		if c.rows > 2 {
			want = "first"[:min(5, c.columns)] + "\n" + "middle"[:min(6, c.columns)] + "\n>"
		}
		s.until(func() string { return fmt.Sprintf("%+v: want\n%s", c, want) }, func() bool {
			got := strings.Split(s.text(), "\n")
			for i, row := range got { // what is too wide is cut by the terminal, in its last column
				if len(row) == c.columns && c.columns < 6 {
					got[i] = row[:c.columns-1]
				}
			}
			expect := strings.Split(want, "\n")
			for i, row := range expect {
				if len(row) == c.columns && c.columns < 6 {
					expect[i] = row[:c.columns-1]
				}
			}
			return strings.Join(got, "\n") == strings.Join(expect, "\n")
		})
	}
}

func TestADragIsDrawnOnce(t *testing.T) {
	s := onStage(t, 60, 20)
	s.fill(60, 3, 3)
	s.endsWith(2, 60, 3)
	for columns := 59; columns >= 40; columns-- {
		s.resize(columns, 20)
		s.term.Echo()
	}
	s.fillZone(40, 3)
	s.endsWith(2, 40, 3)
	s.term.Flush()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, what := range s.told {
		if what == "resized" {
			n++
		}
	}
	if n > 3 {
		t.Errorf("the zone was drawn for %d sizes", n)
	}
}

func TestAWindowWithoutASizeHasTheUsualOne(t *testing.T) {
	s := onStage(t, 0, 0)
	if columns, rows := s.term.Size(); columns != usualColumns || rows != usualRows {
		t.Errorf("size %d×%d", columns, rows)
	}
	s.press("x", "x")
	s.show("> x")
	s.term.Flush()
	s.until(func() string { return "no zone" }, func() bool { return strings.Contains(s.output(), "> x") })
}

func TestRowsAboveTheCursorAfterARowBroke(t *testing.T) {
	for _, c := range []struct {
		rows        []string
		row, column int
		columns     int
		want        int
	}{
		{[]string{"> "}, 0, 2, 10, 0},
		{[]string{strings.Repeat("x", 20), "> "}, 1, 2, 10, 2},
		{[]string{strings.Repeat("x", 21), "> "}, 1, 2, 10, 3},
		{[]string{"", "> " + strings.Repeat("x", 20)}, 1, 22, 10, 3},
		{[]string{"> " + strings.Repeat("x", 18)}, 0, 20, 10, 1}, // behind the text, in its last row
		{[]string{"> " + strings.Repeat("x", 18)}, 0, 9, 10, 0},
		{[]string{"> " + strings.Repeat("x", 18)}, 0, 10, 10, 1},
		{[]string{"日本日本日", ">"}, 1, 1, 5, 3}, // two wide characters in each row
		{[]string{"\x1b[2m" + strings.Repeat("x", 12) + "\x1b[0m", ">"}, 1, 1, 6, 2},
		{[]string{"abc", ">"}, 1, 1, 1, 3},
		{[]string{"日", ">"}, 1, 1, 1, 1},
	} {
		d := canvas{rows: c.rows, row: c.row, column: c.column, columns: 80, height: 24}
		if got := d.rowsAbove(c.columns); got != c.want {
			t.Errorf("%q, cursor %d:%d, %d columns: %d rows above, want %d", c.rows, c.row, c.column, c.columns, got, c.want)
		}
	}
}

func TestTerminalsThatBreakRowsAreKnown(t *testing.T) {
	for _, c := range []struct {
		environment, name string
		want              bool
		version           string
	}{
		{environment: "TERM=xterm-256color", version: "65;6003;1", want: true}, // VTE
		{environment: "TERM=xterm-256color", version: "1;95;0", want: true},
		{environment: "TERM=xterm-256color", version: "41;390;0"},
		{environment: "TERM=xterm-256color", version: "0;136;0"},
		{environment: "TERM=xterm", name: "XTerm(390)", version: "1;95;0"},
		{environment: "TERM=screen STY=1.x", version: "65;6003;1"},
		{"TERM=xterm-256color", "", false, ""},
		{"TERM=xterm XTERM_VERSION=XTerm(390)", "", false, ""},
		{"TERM=xterm XTERM_VERSION=XTerm(390)", "kitty(0.40)", true, ""},
		{"TERM=xterm VTE_VERSION=7600", "", true, ""},
		{"TERM=xterm VTE_VERSION=7600", "XTerm(390)", false, ""},
		{"TERM=tmux-256color TMUX=/tmp/x XTERM_VERSION=XTerm(390)", "", true, ""},
		{"TERM=screen-256color TMUX=/tmp/x", "", true, ""},
		{"TERM=screen STY=1.x VTE_VERSION=7600", "", false, ""},
		{"TERM=linux", "", false, ""},
		{"TERM=alacritty", "", true, ""},
		{"TERM=xterm TERM_PROGRAM=Apple_Terminal", "", true, ""},
		{"TERM=xterm VTE_VERSION=1 MOSH_CONNECTION=1", "", false, ""},
	} {
		env := map[string]string{}
		for _, variable := range strings.Fields(c.environment) {
			name, value, _ := strings.Cut(variable, "=")
			env[name] = value
		}
		if got := reflows(func(name string) string { return env[name] }, c.name, c.version); got != c.want {
			t.Errorf("%s, %q, %q: %v", c.environment, c.name, c.version, got)
		}
	}
}

// Rows of the zone that were pushed out are erased when they come back, however the terminal
// has broken them meanwhile.
func TestRowsThatWerePushedOutAreErasedWhenTheyComeBack(t *testing.T) {
	wide := strings.Repeat("x", 12)
	d := canvas{rows: []string{wide, wide, ">"}, row: 2, column: 1, columns: 12, height: 10}
	d.resize(6, 10, true, 1) // five rows, of which the first three are above the window
	if d.row != 1 || !slices.Equal(d.lost, []string{wide, "xxxxxx"}) {
		t.Fatalf("row %d, lost %q", d.row, d.lost)
	}
	d.redraw(nil, nil, Zone{Rows: []string{"a", ">"}, Row: 1, Column: 1})
	for _, c := range []struct{ columns, at, row, lost int }{
		{12, 9, 3, 0}, // two rows came back
		{6, 9, 4, 0},
		{6, 2, 2, 1}, // one of the three did
		{12, 1, 1, 2},
	} {
		again := d
		again.lost = slices.Clone(d.lost)
		again.resize(c.columns, 10, true, c.at)
		if again.row != c.row || len(again.lost) != c.lost {
			t.Errorf("%+v: row %d, lost %q", c, again.row, again.lost)
		}
	}
}

// Shift and F3 send what is the answer to the question for the cursor, too.
func TestAnAnswerIsAnAnswerWhenItIsAwaited(t *testing.T) {
	s := onStage(t, 20, 6)
	s.asked()
	s.press("\x1b[1;2R", "shift+f3")
	s.types("\x1b[?62c")
	s.press("a", "a")
	s.show("> ")
	s.see(">")
	s.resize(19, 6)
	s.until(func() string { return "not asked" }, func() bool { return strings.Contains(s.output(), askPosition) })
	s.press("\x1b[1;2Rb", "b")
	s.press("\x1b[1;2R", "shift+f3")
}
