package edit

import (
	"strings"
	"testing"
)

// marks is a text with what was typed in capitals, and what was pasted between angle brackets.
func marks(d Draft) string {
	var out strings.Builder
	for i, c := range strings.ToLower(d.Text) {
		word := string(c)
		switch {
		case d.IsPasted(i, i+len(word)):
			word = "<" + word + ">"
		case d.IsTyped(i, i+len(word)):
			word = strings.ToUpper(word)
		}
		out.WriteString(word)
	}
	return strings.ReplaceAll(out.String(), "><", "")
}

func TestATextKnowsWhatOfItWasTyped(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*Buffer)
		want string
	}{
		{"typed", func(b *Buffer) { b.Insert("ab"); b.Do("newline"); b.Insert("c") }, "AB\nC"},
		{"pasted", func(b *Buffer) { b.Insert("a"); b.Paste("b\nc"); b.Insert("d") }, "A<b\nc>D"},
		{"a large paste", func(b *Buffer) { b.Insert("a"); b.Paste("1\n2\n3\n4"); b.Insert("d") }, "A<1\n2\n3\n4>D"},
		{"an accent that is pasted behind a letter", func(b *Buffer) { b.Insert("e"); b.Paste("\u0301") }, "<e\u0301>"},
		{"set by a program", func(b *Buffer) { b.Set("ab", -1) }, "ab"},
		{"changed by a program", func(b *Buffer) { b.Insert("look at it"); b.Set("look under it", -1) }, "LOOK under IT"},
		{"changed in an editor", func(b *Buffer) { b.Paste("x y z"); b.SetTyped("x and z", -1) }, "<x >AND< z>"},
		{"a letter changed in an editor", func(b *Buffer) { b.Insert("aéb"); b.SetTyped("aèb", -1) }, "AÈB"},
		{"an accent put on a letter in an editor", func(b *Buffer) { b.Insert("e"); b.SetTyped("e\u0301", -1) }, "E\u0301"},
		{"made longer in an editor", func(b *Buffer) { b.SetTyped("aa", -1); b.SetTyped("aaaa", -1) }, "AAAA"},
		{"a word that was completed", func(b *Buffer) { b.Insert("ab"); b.Replace(0, 2, "abc ") }, "ABC "},
		{"killed and put back", func(b *Buffer) { b.Paste("p"); b.Insert("t"); b.Do("kill_row_start"); b.Do("yank") }, "<p>T"},
		{"cleared and undone", func(b *Buffer) { b.Paste("p"); b.Insert("t"); b.Clear(); b.Do("undo") }, "<p>T"},
		{"kept and restored", func(b *Buffer) { b.Paste("p"); b.Insert("t"); b.Restore(b.Save()) }, "<p>T"},
		{"from a history that has not kept it", func(b *Buffer) { b.Recall(Draft{Text: "ab"}) }, "ab"},
		{"above what is typed", func(b *Buffer) { b.Insert("t"); b.Prepend(Draft{Text: "ab"}) }, "ab\nT"},
		{"what was sent and comes back", func(b *Buffer) {
			b.Insert("t")
			b.Paste("p")
			b.Reset()
			b.Prepend(Draft{Text: "tp"})
		}, "T<p>"},
	} {
		b := New()
		c.do(b)
		if got := marks(b.Save()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
