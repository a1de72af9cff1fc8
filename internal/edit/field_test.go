package edit

import (
	"strings"
	"testing"

	"pi/internal/cells"
)

// press gives keys to a field: names of more than one character are keys, others are
// typed.
func press(f *Field, keys ...string) (last Outcome) {
	for _, key := range keys {
		name, text := key, ""
		if pasted, ok := strings.CutPrefix(key, "paste:"); ok {
			name, text = "paste", pasted
		} else if len([]rune(key)) == 1 {
			text = key
		}
		last = f.Key(name, text)
	}
	return last
}

func TestFieldKeys(t *testing.T) {
	for _, c := range []struct {
		keys string
		want string
		last Outcome
	}{
		{"a b", "ab", Used},
		{"a b left c", "acb", Used},
		{"日 本 backspace", "日", Used},
		{"paste:one\ntwo\r\nthree", "one two three", Used},
		{"a enter", "a", Submitted},
		{"a esc", "a", Cancelled},
		{"a ctrl+c", "a", Cancelled},
		{"a ctrl+a ctrl+d", "", Used},
		{"a ctrl+d", "a", Used},
		{"ctrl+d", "", Cancelled},
		{"a up", "a", Unused},
		{"a down", "a", Unused},
		{"a pageup", "a", Unused},
		{"a tab", "a", Unused},
		{"a ctrl+w ctrl+y", "a", Used},
		{"a ctrl+u ctrl+_", "a", Used},
		{"left", "", Used},
	} {
		f := &Field{}
		var keys []string
		if strings.HasPrefix(c.keys, "paste:") {
			keys = []string{c.keys}
		} else {
			keys = strings.Fields(c.keys)
		}
		if last := press(f, keys...); f.Text() != c.want || last != c.last {
			t.Errorf("%q: %q and %v, want %q and %v", c.keys, f.Text(), last, c.want, c.last)
		}
	}
}

func TestPastesOfAFieldAreText(t *testing.T) {
	f := &Field{}
	press(f, "paste:"+strings.Repeat("long ", 1000))
	if row, _ := f.Render(10); strings.Contains(row, "[") || f.Text() != strings.Repeat("long ", 1000) {
		t.Errorf("shown as %q", row)
	}
}

func TestFieldRender(t *testing.T) {
	for _, c := range []struct {
		name   string
		field  Field
		keys   []string
		width  int
		want   string
		column int
	}{
		{"empty", Field{}, nil, 10, "", 0},
		{"placeholder", Field{Placeholder: "type to filter"}, nil, 8, "type to…", 0},
		{"drawn placeholder", Field{Placeholder: "x", Faint: func(s string) string { return "<" + s + ">" }}, nil, 8, "<x>", 0},
		{"no placeholder behind text", Field{Placeholder: "x"}, []string{"a"}, 8, "a", 1},
		{"scrolled", Field{}, []string{"paste:abcdefghij"}, 5, "ghij", 4},
		{"scrolled and back", Field{}, []string{"paste:abcdefghij", "home"}, 5, "abcde", 0},
		{"in between", Field{}, []string{"paste:abcdefghij", "left", "left", "left", "left", "left"}, 5, "fghij", 0},
		{"shorter again", Field{}, []string{"paste:abcdefghij", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace"}, 5, "abcd", 4},
		{"wide", Field{}, []string{"paste:日本語"}, 5, "本語", 4},
		{"one cell", Field{}, []string{"paste:a日", "left"}, 1, "?", 0},
		{"masked", Field{Masked: true}, []string{"paste:sk-日"}, 10, "••••", 4},
		{"signs", Field{}, []string{"paste:a\tb\x1b"}, 10, "a b␛", 4},
	} {
		f := c.field
		f.Render(c.width)
		for _, key := range c.keys {
			press(&f, key)
			f.Render(c.width)
		}
		if row, column := f.Render(c.width); row != c.want || column != c.column {
			t.Errorf("%s: %q with the cursor at %d, want %q at %d", c.name, row, column, c.want, c.column)
		}
	}
}

func TestAFieldIsSetAndReadByItsOwner(t *testing.T) {
	f := &Field{Action: func(key string) string { return map[string]string{"f1": "backspace"}[key] }}
	f.Set("one\ntwo")
	press(f, "f1", "ctrl+a", "x")
	if f.Text() != "one twx" || f.Empty() {
		t.Errorf("the text is %q", f.Text())
	}
	if f.Set(""); !f.Empty() {
		t.Errorf("emptied, it is %q", f.Text())
	}
}

func FuzzField(f *testing.F) {
	f.Add([]byte("0123456789"), uint8(5))
	f.Add([]byte{7, 7, 7, 200, 200, 1, 3}, uint8(1))
	f.Fuzz(func(t *testing.T, script []byte, width uint8) {
		field, w := &Field{Masked: width%2 == 0}, max(1, int(width)%20)
		texts, actions := fuzzTexts(), Actions()
		for _, n := range script[:min(len(script), 100)] {
			if n < 128 {
				field.Insert(texts[int(n)%len(texts)])
			} else {
				field.edited().Do(actions[int(n)%len(actions)])
				field.Set(field.Text()) // a newline that was made becomes a blank
			}
			row, column := field.Render(w)
			if cells.Width(row) > w || column < 0 || column >= w {
				t.Fatalf("%q is shown in %d cells as %q with the cursor at %d", field.Text(), w, row, column)
			}
			if all := len(field.buffer.text.lines[0].elements); all > 0 && row == "" && w > 1 {
				t.Fatalf("%q is shown as nothing in %d cells", field.Text(), w)
			}
		}
		if len(field.edited().text.tokens()) > 0 || strings.Contains(field.Text(), "\n") {
			t.Fatalf("the text has rows or tokens: %q", field.Text())
		}
	})
}
