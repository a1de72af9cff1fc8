package cli

import (
	"slices"
	"testing"
)

func TestALineOfBashIsCutAsBashDoes(t *testing.T) {
	for _, c := range []struct {
		line, replaced string
		words          []string
		offered, reply string // a whole word, and what takes the place of what bash replaces
	}{
		{`pi `, ``, []string{""}, "models", "models"},
		{`pi mod`, `mod`, []string{"mod"}, "models", "models"},
		{`pi -m a/b:hi`, `hi`, []string{"-m", "a/b:hi"}, "a/b:high", "high"},
		{`pi --mode=j`, `j`, []string{"--mode=j"}, "--mode=json", "json"},
		{`pi show "a b`, `a b`, []string{"show", "a b"}, "a b'c$\"", `a b'c\$\"`},
		{`pi show 'a b`, `a b`, []string{"show", "a b"}, "a b'c$", `a b'\''c$`},
		{`pi show "a`, `a`, []string{"show", "a"}, "a!", `a"'!'"`},
		{`pi show a\ b`, `a\ b`, []string{"show", "a b"}, "a b (c)", `a\ b\ \(c\)`},
		{`pi show x"y z`, `y z`, []string{"show", "xy z"}, "xy zé~", `y zé~`},
		{`pi -p "$(touch "x y")" --t`, `--t`, []string{"-p", `$(touch "x y")`, "--t"}, "--tools", "--tools"},
		{`pi -p $(a b) x`, `x`, []string{"-p", "$(a b)", "x"}, "xy", "xy"},
		{"pi '' x", `x`, []string{"", "x"}, "x", "x"},
		{`pi `, `other`, []string{""}, "models", "models"}, // what is replaced is not what stands there
	} {
		l := readBashLine([]string{c.line, c.replaced, "9"})
		if !slices.Equal(l.words, c.words) {
			t.Errorf("%s: words %q, want %q", c.line, l.words, c.words)
		}
		if reply, ok := l.reply(completionWord{text: c.offered}, true); reply != c.reply || !ok {
			t.Errorf("%s: %q becomes %q, %v, want %q", c.line, c.offered, reply, ok, c.reply)
		}
	}
	if _, ok := readBashLine([]string{"pi a:b", "b", "9"}).reply(completionWord{text: "other"}, false); ok {
		t.Error("a word that does not begin as what stands there is offered")
	}
	listed := readBashLine([]string{"pi ", "", "63"})
	if reply, _ := listed.reply(completionWord{"models", "list"}, true); reply != "models  (list)" {
		t.Errorf("listed as %q", reply)
	}
	if reply, _ := listed.reply(completionWord{"models", "list"}, false); reply != "models" {
		t.Errorf("a single word becomes %q", reply)
	}
}

// FuzzQuoteForBash holds that bash, as far as we read its lines, makes the same word of what is quoted.
func FuzzQuoteForBash(f *testing.F) {
	for _, seed := range []string{"", "a b", "it's", `"$(x)"`, "a!b", "`x`", "\\", "é ~*?[]{}#;&|<>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, r := range text {
			if r == '\n' || r == 0xfffd || i > 1000 { // no name that is offered has those
				return
			}
		}
		for begin, quote := range map[string]byte{"": 0, "'": '\'', `"`: '"'} {
			line := "pi " + begin + quoteForBash(text, quote)
			words, _ := cutShellWords(line)
			if len(words) != 2 || words[1] != text {
				t.Fatalf("%q behind %q is %q, which is %q", text, begin, line, words)
			}
		}
	})
}
