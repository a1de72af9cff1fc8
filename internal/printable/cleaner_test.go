package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTextOfOthersLosesControl(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain text and its lines stay", "a\tb\nc", "a\tb\nc"},
		{"colours vanish", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor movement vanishes", "a\x1b[2J\x1b[Hb", "ab"},
		{"a title vanishes up to BEL", "\x1b]0;title\x07x", "x"},
		{"a title vanishes up to ST", "\x1b]0;title\x1b\\x", "x"},
		{"a link shows its text", "\x1b]8;;http://e/\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"a title without an end takes its line only", "\x1b]0;title\nx", "\nx"},
		{"a device control string vanishes", "\x1bPq#0\x1b\\x", "x"},
		{"a sequence that is broken off gives way", "\x1b[31\nx", "\nx"},
		{"a second escape begins anew", "\x1b\x1b[31mx", "x"},
		{"a character set is not chosen", "\x1b(0x", "x"},
		{"keypad modes vanish", "\x1b=\x1b>x", "x"},
		{"C1 control as a character begins a sequence", "\u009b31mx\u009d0;t\u009cy", "xy"},
		{"C1 control as a byte is no character", "a\x9b31m", "a\uFFFD31m"},
		{"bells, backspaces and deletes vanish", "a\a\b\x00\x7fb", "ab"},
		{"line ends become one kind", "a\r\nb\rc\n", "a\nb\nc\n"},
		{"an override of direction is seen", "a\u202eb\u2066c", "a<U+202E>b<U+2066>c"},
		{"a zero-width space is seen", "a\u200bb\ufeff", "a<U+200B>b<U+FEFF>"},
		{"a joiner inside ASCII is seen", "a\u200db", "a<U+200D>b"},
		{"a joiner inside an emoji stays", "👩\u200d💻", "👩\u200d💻"},
		{"an emoji has its selector", "❤\ufe0f 1\ufe0f\u20e3", "❤\ufe0f 1\ufe0f\u20e3"},
		{"a second selector is seen", "❤\ufe0f\ufe0f", "❤\ufe0f<U+FE0F>"},
		{"selectors as bits are seen", "a\ufe0f\ufe0e1\ufe0f!", "a<U+FE0F><U+FE0E>1<U+FE0F>!"},
		{"a joiner behind a line separator is seen", "\u2029\u200d\U0001f4bb", "<U+2029><U+200D>\U0001f4bb"},
		{"a joiner behind a selector of nothing is seen", "\ufe0f\u200d🔥", "<U+FE0F><U+200D>🔥"},
		{"a joiner without an emoji behind it is seen", "👩\u200d", "👩<U+200D>"},
		{"joiners of Persian and of Indic script stay", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		{"a second joiner is seen", "می\u200c\u200cخ", "می\u200c<U+200C>خ"},
		{"a selector behind a sequence that is broken off", "\x1b\ufe0f", ""},
		{"fillers are seen", "\u3164\u115f\uffa0\u034f\u17b4\u180b", "<U+3164><U+115F><U+FFA0><U+034F><U+17B4><U+180B>"},
		{"icons and plots stay", "\ue0b0 \u28ff\u2800\u28ff", "\ue0b0 \u28ff\u2800\u28ff"},
		{"the flag of Scotland is a flag and its tags", "🏴\U000e0067\U000e007f", "🏴<U+E0067><U+E007F>"},
		{"a tag is seen", "a\U000e0041", "a<U+E0041>"},
		{"invalid UTF-8 is marked", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
			}
			for i := range c.in {
				if got := cleanParts(c.in[:i], c.in[i:]); got != c.want {
					t.Errorf("in parts %q and %q: %q, want %q", c.in[:i], c.in[i:], got, c.want)
				}
			}
		})
	}
}

func TestTextForAProgramKeepsWhatNobodySees(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc": "a\nbc", "\x1b[31mred\x1b[0m\a\x00": "red", "a\u200db\u202e\ufeff\u2028": "a\u200db\u202e\ufeff\u2028", "10%\r20%\r\n": "10%20%\n",
		"\x1b]0;title\x07x\ty": "x\ty", "é\xff": "é\uFFFD",
	} {
		for i := range len(in) {
			c := Cleaner{Data: true}
			if got := string(c.Finish(c.Append(c.Append(nil, in[:i]), in[i:]))); got != want {
				t.Errorf("%q and %q: %q, want %q", in[:i], in[i:], got, want)
			}
		}
	}
}

func cleanParts(parts ...string) string {
	var c Cleaner
	var out []byte
	for _, part := range parts {
		out = c.Append(out, part)
	}
	return string(c.Finish(out))
}

// commands reports, from Unicode's own tables, what no terminal may be sent.
func commands(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) ||
		r >= 0xe0000 && r <= 0xe0fff
}

// unfiltered takes out what passes although it is hidden.
func unfiltered(r rune) rune {
	if private(r) || r == blankBraille {
		return -1
	}
	return r
}

func FuzzCleanerLetsNoControlThrough(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31mred", "\x1b]0;t\x07", "é\u009b1m", "\xc3", "a\r\nb", "👩\u200d💻\u202e", "\x1b\x1b]\x1b", "\x1b(\x1b",
		"\u2029\u200d", "❤\ufe0f\u200d🔥", "\ufe0f\u200d🔥", "می\u200cخ\u200d", "\x1b\u200c\u0628", "1\ufe0f\u20e3", "\U000e0041\U000e0001", "\u3164\u2800\U000f0001"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, in string, cut int) {
		out := Text(in)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		if found := HiddenIn(strings.Map(unfiltered, out)); found != "" {
			t.Fatalf("%s: %q", found, out)
		}
		if strings.ContainsAny(Line(in), "\n\t") {
			t.Fatalf("more than a line: %q", Line(in))
		}
		for _, r := range out {
			if commands(r) {
				t.Fatalf("%U passed: %q", r, out)
			}
		}
		if again := Text(out); again != out {
			t.Fatalf("clean text changed: %q became %q", out, again)
		}
		if !strings.ContainsFunc(in, func(r rune) bool { return (r < 0x20 && r != '\n') || r > 0x7e }) && out != in {
			t.Fatalf("harmless text %q became %q", in, out)
		}
		if cut = min(max(cut, 0), len(in)); cleanParts(in[:cut], in[cut:]) != out {
			t.Fatalf("cut at %d: %q, whole: %q", cut, cleanParts(in[:cut], in[cut:]), out)
		}
	})
}
