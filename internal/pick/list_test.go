package pick

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pi/internal/cells"
	"pi/internal/keys"
)

// shown is what a list draws, as one text.
func shown(l *List, width, height int) string {
	rows, _, _ := l.Render(width, height)
	return strings.Join(rows, "\n")
}

// typed gives a list keys by their names, and says which it used.
func typed(l *List, names ...string) (used string) {
	for _, name := range names {
		k := keys.Key{Name: name}
		if len(name) == 1 {
			k.Text = name
		}
		if l.Key(k) {
			used += name + " "
		}
	}
	return strings.TrimSpace(used)
}

func TestAListIsAPickerWithoutQuestionAndLegend(t *testing.T) {
	l := NewList(sessions()[:4], "2", true)
	equal(t, shown(l, 40, 3), `  filter:    4
  refactor tokenizer        7 h   16 msg
▸ flaky test TestResume    22 h   16 msg
  a very long name of a …   3 d    1 msg`)
	equal(t, typed(l, "down", "enter", "esc", "tab", "shift+tab", "f5", "t", "o", "k"), "down t o k")
	equal(t, shown(l, 40, 3), `  filter: tok   1 of 4
▸ refactor tokenizer        7 h   16 msg`)
	if row, ok := l.Selected(); !ok || row.ID != "1" || l.Filter() != "tok" {
		t.Errorf("selected is %v, filtered by %q", row, l.Filter())
	}
	typed(l, "x")
	equal(t, shown(l, 40, 3), "  filter: tokx   0 of 4\n  nothing matches")
	if row, ok := l.Selected(); ok {
		t.Errorf("selected is %v", row)
	}
	typed(l, "backspace", "backspace", "backspace", "backspace")
	if _, row, column := l.Render(40, 3); row != 0 || column != 10 {
		t.Errorf("the cursor is at %d, %d", row, column)
	}
}

func TestAListThatDoesNotFilterLeavesWhatIsTyped(t *testing.T) {
	l := NewList(sessions()[:4], "", false)
	equal(t, typed(l, "a", "backspace", "left", "end", "up"), "end up")
	equal(t, shown(l, 24, 2), "  flaky test Test…  22 h\n▸ a very long nam…   3 d")
	if _, row, _ := l.Render(24, 2); row != -1 {
		t.Errorf("it has a cursor in row %d", row)
	}
	l.SetRows(append([]Row{{ID: "0", Columns: []string{"new"}}}, sessions()[:4]...))
	if row, _ := l.Selected(); row.ID != "3" {
		t.Errorf("selected is %v", row)
	}
	l.SetRows(nil)
	equal(t, shown(l, 24, 2), "  nothing to choose")
}

// A large text that is pasted by mistake holds nobody up.
func TestWhatFiltersHasNoRoomForMore(t *testing.T) {
	rows := make([]Row, 10_000)
	for i := range rows {
		rows[i] = Row{ID: fmt.Sprint(i), Columns: []string{fmt.Sprintf("item %d of a long list", i)}}
	}
	large := strings.Repeat("日", 1<<18)
	began := time.Now()
	l, p := NewList(rows, "", true), New(Options{}, rows)
	for range 2 {
		if k := (keys.Key{Name: "paste", Text: large}); !l.Key(k) || !p.Key(k) {
			t.Error("a paste goes to others")
		}
	}
	if took := time.Since(began); took > 20*time.Second { // of minutes
		t.Errorf("it took %v", took)
	}
	typed(l, "x", "y", "z")
	if want := strings.Repeat("日", mostTyped/3) + "xy"; l.Filter() != want || p.Filter() != want[:len(want)-2] {
		t.Errorf("filtered by %d and %d bytes", len(l.Filter()), len(p.Filter()))
	}
	if typed(l, "backspace", "left", "home"); len(l.Filter()) != mostTyped-1 {
		t.Errorf("filtered by %d bytes", len(l.Filter()))
	}
}

func TestAListFitsItsRoom(t *testing.T) {
	for width := range 30 {
		for height := range 5 {
			l := NewList(sessions(), "", true)
			typed(l, "e")
			rows, _, _ := l.Render(width, height)
			for _, row := range rows {
				if cells.Width(row) > max(1, width) {
					t.Errorf("%d columns: %q", width, row)
				}
			}
			if len(rows) > max(1, height)+1 {
				t.Errorf("%d rows for %d", len(rows), height)
			}
		}
	}
}

func BenchmarkAListOf10000RowsFilteredAsOneTypes(b *testing.B) {
	rows := make([]Row, 10_000)
	for i := range rows {
		rows[i] = Row{ID: fmt.Sprint(i), Columns: []string{fmt.Sprintf("item %d of a long list", i)}, Description: "what it is"}
	}
	l := NewList(rows, "", true)
	for i := 0; b.Loop(); i++ {
		typed(l, []string{"i", "t", "9", "backspace", "backspace", "backspace"}[i%6])
		l.Render(80, 20)
	}
}
