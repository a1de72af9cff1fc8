package history

import (
	"slices"
	"strings"
	"testing"

	"pi/internal/edit"
)

func TestWalk(t *testing.T) {
	large := strings.Repeat("a line\n", 10_000)
	for _, c := range []struct {
		name    string
		entries []string
		keys    []string // u is Up, d is Down, others are typed or actions after a dot
		want    string
	}{
		{"nothing", nil, []string{"x", "u"}, "x"},
		{"older", []string{"one", "two"}, []string{"u", "u"}, "one"},
		{"the oldest stays", []string{"one", "two"}, []string{"u", "u", "u"}, "one"},
		{"back to what was typed", []string{"one", "two"}, []string{"x", "u", "u", "d", "d"}, "x"},
		{"no further", []string{"one"}, []string{"x", "u", "d", "d", "y"}, "xy"},
		{"Down at first", []string{"one"}, []string{"x", "d"}, "x"},
		{"same entries are one", []string{"one", "two", "two", "two"}, []string{"u", "u"}, "one"},
		{"what is typed already", []string{"one", "two"}, []string{"two", "u"}, "one"},
		{"rows first", []string{"one"}, []string{"a", ".newline", "b", "u", "x"}, "ax\nb"},
		{"then entries", []string{"one"}, []string{"a", ".newline", "b", "u", "u"}, "one"},
		{"from a recalled entry at once", []string{"one", "a\nb\nc"}, []string{"u", "u"}, "one"},
		{"but not from one that was changed", []string{"one", "a\nb"}, []string{"u", "x", "u", "y"}, "ay\nbx"},
		{"nor after a movement", []string{"one", "ab\nc"}, []string{"u", ".left", "u", "x"}, "xab\nc"},
		{"a change is kept", []string{"one", "two"}, []string{"u", "x", "u", "d"}, "twox"},
		{"the entry itself is not changed", []string{"one", "two"}, []string{"u", "x", "u", "d", ".backspace", "u", "d"}, "two"},
		{"large entries", []string{"one", large}, []string{"u", "!"}, large + "!"},
		{"from a large entry", []string{"one", large}, []string{"u", "u"}, "one"},
		{"undo", []string{"one"}, []string{"x", "u", ".undo"}, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := Open("", nil)
			for _, e := range c.entries {
				h.append(recordOf(edit.Draft{Text: e}))
			}
			b := edit.New()
			b.Window(80, 8, "> ", "  ")
			w := h.Walk()
			for _, key := range c.keys {
				action, isAction := strings.CutPrefix(key, ".")
				switch {
				case key == "u":
					w.Up(b)
				case key == "d":
					w.Down(b)
				case isAction:
					b.Do(action)
				default:
					b.Insert(key)
				}
			}
			if got := b.Text(); got != c.want {
				t.Errorf("got %.80q, want %.80q", got, c.want)
			}
		})
	}
}

func TestWalkSaysWhetherThereIsMore(t *testing.T) {
	h := openNew(t)
	add(t, h, "one", "two")
	b, w := edit.New(), h.Walk()
	var got []bool
	for _, key := range []func(*edit.Buffer) bool{w.Down, w.Up, w.Up, w.Up, w.Down, w.Down, w.Down} {
		got = append(got, key(b))
	}
	if want := []bool{false, true, true, false, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestATypedLineComesBackWithItsTokensAndCursor(t *testing.T) {
	h := openNew(t)
	add(t, h, "one")
	b := edit.New()
	b.Insert("see ")
	b.Paste("1\n2\n3\n4\n5")
	b.Insert(" now")
	b.Do("word_left")
	before := b.Save()
	rows, row, column := b.Layout(80, "", "")
	w := h.Walk()
	w.Up(b)
	w.Down(b)
	after := b.Save()
	again, rowAgain, columnAgain := b.Layout(80, "", "")
	if !slices.Equal(rows, again) || row != rowAgain || column != columnAgain || after.Text != before.Text || after.Position != before.Position {
		t.Errorf("came back as %q at %d, want %q at %d", again, columnAgain, rows, column)
	}
}

func TestSearch(t *testing.T) {
	h := openNew(t)
	large := strings.Repeat("a row\n", 10_000) + "needle"
	add(t, h, "fix the Tokenizer", "run tests", "the tokenizer again", large, "run tests", "Größe")
	s := h.Search()
	for query, want := range map[string][]string{
		"":          {"Größe", "run tests", large, "the tokenizer again", "fix the Tokenizer"},
		"token":     {"the tokenizer again", "fix the Tokenizer"},
		"TOKEN fix": {"fix the Tokenizer"},
		"needle":    {large},
		"grö":       {"Größe"},
		"nothing":   nil,
	} {
		var got []string
		for _, i := range s.Find(query) {
			got = append(got, s.Entry(i).Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q found %.60q, want %.60q", query, got, want)
		}
	}
	if row := s.Entry(2).Row(40); s.Len() != 5 || row != "[paste #1: 10001 lines, 60.0 kB]" {
		t.Errorf("%d entries, a large one is shown as %q", s.Len(), row)
	}
}

func TestUpGoesOnFromAnEntryThatWasFound(t *testing.T) {
	h := openNew(t)
	add(t, h, "one", "two", "three", "four")
	b, w := edit.New(), h.Walk()
	b.Insert("typed")
	s := h.Search()
	w.Show(s.Entry(s.Find("three")[0]), b)
	if b.Text() != "three" {
		t.Fatalf("shown is %q", b.Text())
	}
	w.Up(b)
	if b.Text() != "two" {
		t.Errorf("before it is %q", b.Text())
	}
	for range 3 {
		w.Down(b)
	}
	if b.Text() != "typed" {
		t.Errorf("at the newest end is %q", b.Text())
	}
}
