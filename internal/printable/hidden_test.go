package printable

import (
	"testing"
	"unicode"
)

// The table is what Unicode calls ignorable, controls and formats, without those
// of its formats that are seen, and with the blank of Braille.
func TestTheTableOfHiddenCharactersIsUnicodes(t *testing.T) {
	seen := func(r rune) bool { // signs above or around numbers, and the layout of hieroglyphs
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0x13430 && r <= 0x1343f
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Bidi_Control) ||
			r >= 0xe0000 && r <= 0xe0fff || r == 0x2800
		if r == '\n' || r == '\t' || seen(r) || r&0xffff >= 0xfffe {
			want = false
		}
		if Hidden(r) != want && r&0xffff < 0xfffe {
			t.Errorf("Hidden(%U) = %v, want %v", r, Hidden(r), want)
		}
		if Hidden(r) && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			t.Errorf("%U is seen", r)
		}
	}
}

func TestHiddenCharactersAreCounted(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a\tb\r\nc\n", ""},
		{"selectors as bits", "one\nyes\ufe0f\ufe0e\ufe0f", "3 hidden characters, the first is U+FE0F in line 2"},
		{"supplementary selectors", "a\U000e0100\U000e01ef", "2 hidden characters, the first is U+E0100 in line 1"},
		{"joiners as bits", "a\u200d\u200c\u200d", "3 hidden characters, the first is U+200D in line 1"},
		{"a filler of Hangul", "\n\n\u3164", "hidden character U+3164 in line 3"},
		{"the others of Hangul", "\u115f\u1160\uffa0", "3 hidden characters, the first is U+115F in line 1"},
		{"a blank of Braille", "a\u2800", "hidden character U+2800 in line 1"},
		{"a joiner of graphemes", "a\u034f", "hidden character U+034F in line 1"},
		{"selectors of Mongolian", "\u180b\u180c\u180d\u180e\u180f", "5 hidden characters, the first is U+180B in line 1"},
		{"vowels of Khmer", "\u17b4\u17b5", "2 hidden characters, the first is U+17B4 in line 1"},
		{"separators", "a\u2028b\u2029", "2 hidden characters, the first is U+2028 in line 1"},
		{"tags", "🏴\U000e0067", "hidden character U+E0067 in line 1"},
		{"zero width and order", "a\u200b\u202e", "2 hidden characters, the first is U+200B in line 1"},
		{"a carriage return inside a line", "a\rb", "hidden character U+000D in line 1"},
		{"private use", "\ue000", "hidden character U+E000 in line 1"},
		{"emoji with selectors", "❤\ufe0f ☺\ufe0e 1\ufe0f\u20e3 ©\ufe0f", ""},
		{"emoji with joiners", "👩\u200d💻 👁\ufe0f\u200d🗨\ufe0f 👩🏽\u200d⚕\ufe0f 🐦\u200d⬛ 🙂\u200d↔\ufe0f ❤\ufe0f\u200d🔥", ""},
		{"Persian, with a mark before the joiner", "می\u200cخواهم كتابًا\u200c", ""},
		{"Arabic that begins with a joiner", "\u200dه", ""},
		{"numbers of Arabic", "\u0600\u0661 \u06dd", ""},
		{"Devanagari, Malayalam, Sinhala, Bengali", "क्\u200dष ന്\u200d ශ්\u200dරී র\u200dয", ""},
		{"two in a row of either", "می\u200c\u200c ❤\ufe0f\ufe0f 👩\u200d\u200d💻", "4 hidden characters, the first is U+200C in line 1"},
		{"a joiner behind a selector of nothing", "\ufe0f\u200d🔥", "2 hidden characters, the first is U+FE0F in line 1"},
		{"a joiner at the end of an emoji", "👩\u200d", "hidden character U+200D in line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := HiddenIn(c.text); got != c.want {
				t.Errorf("%+q: %q, want %q", c.text, got, c.want)
			}
		})
	}
}
