package repl

import (
	"strings"
	"testing"
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
		{"a tag is seen", "a\U000e0041", "a<U+E0041>"},
		{"invalid UTF-8 is marked", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := clean(c.in); got != c.want {
				t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
			}
			for i := range c.in {
				if got := cleanParts(c.in[:i], c.in[i:]); got != c.want {
					t.Errorf("in parts %q and %q: %q, want %q", c.in[:i], c.in[i:], got, c.want)
				}
			}
		})
	}
}

func cleanParts(parts ...string) string {
	var s sanitizer
	var out []byte
	for _, part := range parts {
		out = s.append(out, part)
	}
	return string(s.finish(out))
}

func FuzzSanitizerLetsNoControlThrough(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31mred", "\x1b]0;t\x07", "é\u009b1m", "\xc3", "a\r\nb", "👩\u200d💻\u202e", "\x1b\x1b]\x1b", "\x1b(\x1b"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, in string, cut int) {
		out := clean(in)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		for _, r := range out {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || hidden(r) && !joiner(r) {
				t.Fatalf("%U passed: %q", r, out)
			}
		}
		if again := clean(out); again != out {
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
