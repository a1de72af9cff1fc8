package edit

import (
	"slices"
	"strings"
	"testing"

	"pi/internal/printable"
)

// What nobody would see is a sign and one step of the cursor, however it came into the text,
// and is sent as it was; what belongs to a letter or an emoji stays with it.
func TestWhatIsHiddenIsASignAndOneStep(t *testing.T) {
	for _, c := range []struct {
		text  string
		shown string
		steps int
	}{
		{"hi\U000e0041\U000e0042", "hi<U+E0041><U+E0042>", 4},
		{"e\u0301\U000e0041\u0301", "e\u0301<U+E0041>◌\u0301", 3},
		{"\ue0b0\U000f0000\u2800", "<U+E0B0><U+F0000><U+2800>", 3},
		{"a\u200bb\u00ad\ufeff\u3164", "a<U+200B>b<U+00AD><U+FEFF><U+3164>", 6},
		{"🏴\U000e0067\U000e007f", "🏴<U+E0067><U+E007F>", 3},
		{"👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", 5},
		{"می\u200cخواهم", "می\u200cخواهم", 7},
		{"PDF\u200cها", "PDF\u200cها", 5},
		{"क्\u200dष", "क्\u200dष", 1},
		{"👩\u200d", "👩<U+200D>", 2},
		{"a\u200d\ufe0f!", "a<U+200D><U+FE0F>!", 4},
		{"\u202e\u2029\u2066", "<U+202E><U+2029><U+2066>", 3},
		{"\x1b\x00\x7f", "␛␀␡", 3}, // controls have their own
	} {
		for how, put := range map[string]func(*Buffer){
			"pasted": func(b *Buffer) { b.Paste(c.text) },
			"set":    func(b *Buffer) { b.Set(c.text, -1) },
			"typed": func(b *Buffer) {
				for _, r := range c.text {
					b.Insert(string(r))
				}
			},
			"typed backwards": func(b *Buffer) {
				for _, r := range slices.Backward([]rune(c.text)) {
					b.Insert(string(r))
					b.Do("text_start")
				}
			},
			"undone": func(b *Buffer) { b.Paste(c.text); b.Clear(); b.Do("undo") },
		} {
			b := New()
			put(b)
			if rows, _, _ := b.Layout(80, "", ""); rows[0] != c.shown {
				t.Errorf("%q, %s, is shown as %q, want %q", c.text, how, rows[0], c.shown)
			}
			if b.Text() != c.text {
				t.Errorf("%q, %s, is sent as %q", c.text, how, b.Text())
			}
			steps := 0
			for b.Do("text_end"); b.Do("left"); steps++ {
			}
			if steps != c.steps {
				t.Errorf("%q, %s, has %d steps, want %d", c.text, how, steps, c.steps)
			}
		}
		var f Field
		f.Insert(c.text)
		if row, _ := f.Render(80); row != c.shown {
			t.Errorf("a field shows %q as %q", c.text, row)
		}
	}
}

func TestALetterKnowsAJoinerOnlyWhileItBelongs(t *testing.T) {
	b := New()
	b.Insert("👩\u200d💻")
	b.Do("left")
	b.Do("right")
	b.Do("backspace")
	b.Insert("a\u200c")
	b.Insert("خ")
	rows, _, _ := b.Layout(80, "", "")
	b.Do("backspace")
	after, _, _ := b.Layout(80, "", "")
	if rows[0] != "a\u200cخ" || after[0] != "a<U+200C>" {
		t.Errorf("%q, and without the letter %q", rows[0], after[0])
	}
}

// A letter with thirty thousand tags takes no longer than they are many.
func TestHiddenCharactersWithoutEndAreNoWork(t *testing.T) {
	text := "a" + strings.Repeat("\U000e0041", 30_000)
	b := New()
	b.Insert(text)
	for range 3 {
		b.Do("text_start")
		b.Do("delete")
		b.Insert("b")
		b.Window(80, 8, "> ", "  ")
	}
	if printable.HiddenIn(b.Text()) == "" || len(b.Text()) != len(text) {
		t.Error("the text is another")
	}
}
