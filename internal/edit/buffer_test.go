package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// do types what begins with a quote, pastes what begins with a <, and runs the rest as
// actions.
func do(t *testing.T, b *Buffer, script ...string) {
	t.Helper()
	for _, s := range script {
		switch s[0] {
		case '\'':
			b.Insert(s[1:])
		case '<':
			b.Paste(s[1:])
		default:
			if _, ok := b.actions[s]; !ok {
				t.Fatalf("no action %q", s)
			}
			b.Do(s)
		}
	}
}

// marked is the plain text with | where the cursor is.
func marked(b *Buffer) string {
	text, at := b.Plain()
	return text[:at] + "|" + text[at:]
}

func TestActions(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"'hello;left;left;backspace", "he|lo"},
		{"'hello;text_start;delete;right;'X", "eX|llo"},
		{"'日本;backspace", "日|"},
		{"'👨‍👩‍👧🇩🇪e\u0301日;left;left;left", "👨‍👩‍👧|🇩🇪e\u0301日"},
		{"'👨‍👩‍👧🇩🇪e\u0301日;left;backspace;backspace;backspace", "|日"},
		{"'🇩;'🇪;backspace", "|"},
		{"'🇩🇪🇫🇷;left;left;'🇧;right", "🇧🇩🇪🇫|🇷"},
		{"'e;'\u0301;left", "|e\u0301"},
		{"'🇩x🇪;left;backspace", "🇩🇪|"},
		{"'ab cd  ef;word_left;word_left", "ab |cd  ef"},
		{"'ab cd  ef;text_start;word_right;word_right", "ab cd|  ef"},
		{"'a.b/c d;delete_word_back;delete_word_back", "a.b/|"},
		{"'run a-b.go  ;delete_blank_back", "run |"},
		{"'ab cd;text_start;delete_word", "| cd"},
		{"'one;newline;'two;row_start", "one\n|two"},
		{"'one;newline;'two;row_start;row_start", "|one\ntwo"},
		{"'one;newline;'two;text_start;row_end;row_end", "one\ntwo|"},
		{"'one;newline;'two;kill_row_start", "one\n|"},
		{"'one;newline;'two;kill_row_start;kill_row_start", "one|"},
		{"'one;newline;'two;text_start;kill_row_end;kill_row_end", "|two"},
		{"'one;newline;'two;text_start;kill_row_end;kill_row_end;kill_row_end;yank", "one\ntwo|"},
		{"'a b c;delete_word_back;delete_word_back;yank", "a b c|"},
		{"'a b;delete_word_back;left;right;delete_blank_back;yank", "a |"},
		{"'a b;delete_word_back;left;right;delete_blank_back;yank;yank_pop", "b|"},
		{"'a b;delete_word_back;left;right;delete_blank_back;yank;yank_pop;yank_pop;undo", "b|"},
		{"'ab;transpose", "ba|"},
		{"'abc;left;transpose", "acb|"},
		{"'a;transpose;'b", "ab|"},
		{"'a;newline;transpose", "a\n|"},
		{"'abc;undo", "|"},
		{"'abc;undo;redo", "abc|"},
		{"'a;'b;left;'c;undo", "a|b"},
		{"'abc;backspace;backspace;undo", "abc|"},
		{"'abc;undo;'x;redo", "x|"},
		{"'abc;<def;undo", "abc|"},
		{"<a\r\nb\rc\t\x1b\xff", "a\nb\nc\t\x1b\ufffd|"},
		{"<1\n2\n3\n", "1\n2\n3\n|"},
		{"<1\n2\n3\n4", "\ufffc|"},
		{"'a ;<1\n2\n3\n4;'b;left;backspace", "a |b"},
		{"'a;<1\n2\n3\n4;'b;word_left;word_left", "a|\ufffcb"},
		{"<1\n2\n3\n4;'\u0301;left;left", "|\ufffc\u0301"},
		{"<1\n2\n3\n4;delete_word_back;'x;yank", "x\ufffc|"},
	} {
		b := New()
		do(t, b, strings.Split(c.script, ";")...)
		if got := marked(b); got != c.want {
			t.Errorf("%q: got %q, want %q", c.script, got, c.want)
		}
	}
}

func TestActionsSayWhetherTheyDidAnything(t *testing.T) {
	for _, c := range []struct {
		script []string
		want   bool
	}{
		{[]string{"left"}, false}, {[]string{"backspace"}, false}, {[]string{"delete"}, false}, {[]string{"yank"}, false},
		{[]string{"undo"}, false}, {[]string{"redo"}, false}, {[]string{"nonsense"}, false}, {[]string{"kill_row_end"}, false},
		{[]string{"up"}, false}, {[]string{"down"}, false}, {[]string{"text_end"}, false}, {[]string{"delete_word_back"}, false},
		{[]string{"newline"}, true}, {[]string{"newline", "up"}, true}, {[]string{"newline", "up", "up"}, false},
		{[]string{"newline", "left"}, true}, {[]string{"newline", "undo"}, true}, {[]string{"newline", "yank_pop"}, false},
	} {
		b, got := New(), false
		for _, s := range c.script {
			got = b.Do(s)
		}
		if got != c.want {
			t.Errorf("%v: got %v, want %v", c.script, got, c.want)
		}
	}
}

func TestUsualKeysNameActions(t *testing.T) {
	for key, action := range Keys() {
		if !slices.Contains(Actions(), action) {
			t.Errorf("%s does %q, which is no action", key, action)
		}
	}
}

func TestAPasteIsExactAndShownAsAToken(t *testing.T) {
	b := New()
	text := strings.Repeat("a\tb⏎␉日\x1b[31m\n", 20)
	b.Insert("look: ")
	b.Paste(strings.ReplaceAll(text, "\n", "\r"))
	b.Paste(strings.Repeat("x", 1001))
	b.Paste(strings.Repeat("é", 1000))
	if got, want := b.Text(), "look: "+text+strings.Repeat("x", 1001)+strings.Repeat("é", 1000); got != want {
		t.Errorf("the text is %q", got)
	}
	rows, _, _ := b.Layout(2000, "> ", "  ")
	want := fmt.Sprintf("> look: [paste #1: 20 lines, %d B][paste #2: 1 line, 1.0 kB]", len(text))
	if len(rows) != 1 || !strings.HasPrefix(rows[0], want+"éé") {
		t.Errorf("shown is %.100q, want %q", rows, want)
	}
	b.Reset()
	b.Paste(text)
	if rows, _, _ := b.Layout(80, "", ""); !strings.HasPrefix(rows[0], "[paste #1:") {
		t.Errorf("after Reset: %q", rows)
	}
}

func TestClearIsUndone(t *testing.T) {
	b := New()
	do(t, b, "'one", "newline", "'two", "<1\n2\n3\n4", "left")
	text, before := b.Text(), marked(b)
	if !b.Clear() || !b.Empty() || b.Clear() {
		t.Error("Clear did not empty the buffer once")
	}
	do(t, b, "undo")
	if b.Text() != text || marked(b) != before {
		t.Errorf("got %q, want %q", marked(b), before)
	}
}

func TestSetKeepsTokensThatAreStillThere(t *testing.T) {
	b := New()
	do(t, b, "'x ", "<1\n2\n3\n4", "' y ", "<5\n6\n7\n8")
	b.Set("before 1\n2\n3\n4 between 5\n6\n7\n9", -1)
	if got, want := marked(b), "before \ufffc between 5\n6\n7\n9|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	do(t, b, "undo")
	if got, want := marked(b), "x \ufffc y \ufffc|"; got != want {
		t.Errorf("undone: got %q, want %q", got, want)
	}
	b.Set("ab\r\ncd", 3)
	if got, want := marked(b), "ab\n|cd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.Position(); got != 3 {
		t.Errorf("the cursor is at %d", got)
	}
}

func TestDraftsComeBackAsTheyWere(t *testing.T) {
	b := New()
	do(t, b, "'fix ", "<1\n2\n3\n4")
	b.InsertToken("[image #1]", "@/tmp/x.png")
	do(t, b, "' now", "left")
	saved, before := b.Save(), marked(b)
	rows, _, _ := b.Layout(80, "", "")
	b.Clear()
	for range 3 {
		b.Restore(saved)
	}
	again, _, _ := b.Layout(80, "", "")
	if marked(b) != before || !slices.Equal(rows, again) || b.Text() != "fix 1\n2\n3\n4@/tmp/x.png now" {
		t.Errorf("got %q drawn as %q, want %q drawn as %q", marked(b), again, before, rows)
	}
	b.Restore(Draft{Text: "ab", Tokens: []Span{{From: 1, To: 9}, {From: -1, To: 1}, {From: 2, To: 1}}, Position: 99})
	if got := marked(b); got != "ab|" {
		t.Errorf("spans outside of the text: %q", got)
	}
}

func TestRecalledEntries(t *testing.T) {
	large := strings.Repeat("line\n", 10_000)
	b := New()
	for _, c := range []struct {
		draft Draft
		want  string
	}{
		{Draft{Text: "one\ntwo", Position: 1}, "one\ntwo|"},
		{Draft{Text: large}, "\ufffc|"},
		{Draft{Text: strings.Repeat("x", 1001)}, "\ufffc|"},
		{Draft{Text: "1\n2\n3\n4\n5"}, "1\n2\n3\n4\n5|"},
		{Draft{Text: "see " + large + "!", Tokens: []Span{{From: 4, To: 4 + len(large)}}}, "see \ufffc!|"},
	} {
		b.Recall(c.draft)
		if got := marked(b); got != c.want || !b.Recalled() || b.Text() != c.draft.Text {
			t.Errorf("%.20q: shown as %.40q, want %q", c.draft.Text, got, c.want)
		}
	}
	for _, change := range []func(){func() { b.Insert("x") }, func() { b.Do("left") }, func() { b.Restore(Draft{Text: "x"}) }, b.Reset} {
		b.Recall(Draft{Text: "entry"})
		if change(); b.Recalled() {
			t.Errorf("%q is said to be as it was recalled", marked(b))
		}
	}
}

func TestPrependPutsRowsAboveTheText(t *testing.T) {
	b := New()
	b.Prepend(Draft{})
	b.Prepend(Draft{Text: "queued"})
	if got := marked(b); got != "queued|" {
		t.Errorf("above nothing: %q", got)
	}
	do(t, b, "newline", "'typed", "left")
	b.Prepend(Draft{Text: "1\n2\n3\n4", Tokens: []Span{{To: 7}}})
	if got, want := marked(b), "\ufffc\nqueued\ntype|d"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	do(t, b, "undo")
	if got, want := marked(b), "queued\ntype|d"; got != want {
		t.Errorf("undone: got %q, want %q", got, want)
	}
}

func TestPastesThatWereSentComeBackAsTokens(t *testing.T) {
	b := New()
	do(t, b, "'fix ", "<1\n2\n3\n4", "' and ", "<1\n2\n3\n4\n5")
	text := b.Text()
	b.Reset()
	b.Insert("typed")
	b.Prepend(Draft{Text: text, Position: -1})
	if got, want := marked(b), "fix \ufffc and \ufffc\ntyped|"; got != want || b.Text() != text+"\ntyped" {
		t.Errorf("taken back: %q, want %q", got, want)
	}
	b.Set("only 1\n2\n3\n4", -1)
	if got, want := marked(b), "only \ufffc|"; got != want {
		t.Errorf("set: %q, want %q", got, want)
	}
	for i := range sentKept { // too many to know the first ones
		b.Reset()
		b.Paste(strings.Repeat("x\n", 4+i))
	}
	b.Reset()
	if b.Set(text, -1); strings.Contains(marked(b), "\ufffc") {
		t.Errorf("of what was long ago: %q", marked(b))
	}
}

func TestWordsAreReplaced(t *testing.T) {
	for _, c := range []struct{ script, word, want string }{
		{"'look at @src/ma and", "and", "look at @src/ma X|"},
		{"'look at @src/ma", "@src/ma", "look at X|"},
		{"'/model op;left", "op", "/model X|"},
		{"'a ;left;right", "", "a X|"},
		{"<1\n2\n3\n4;'@x", "@x", "\ufffcX|"},
		{"'a;newline;'b;left", "b", "a\nX|"},
	} {
		b := New()
		do(t, b, strings.Split(c.script, ";")...)
		word, from, to := b.Word()
		if b.Replace(from, to, "X"); word != c.word || marked(b) != c.want {
			t.Errorf("%q: word %q became %q, want %q and %q", c.script, word, marked(b), c.word, c.want)
		}
		before := marked(b)
		b.Replace(-5, -1, "")
		b.Replace(1<<20, 1<<21, "")
		if text, _ := b.Plain(); text != strings.Replace(before, "|", "", 1) {
			t.Errorf("%q: a range outside of the text changed it to %q", c.script, text)
		}
	}
}

func TestADraftAsARow(t *testing.T) {
	for _, c := range []struct {
		draft Draft
		width int
		want  string
	}{
		{Draft{Text: "one\ntwo\tthree\x1b"}, 40, "one⏎two three␛"},
		{Draft{Text: "one two three"}, 8, "one two…"},
		{Draft{Text: "see 1\n2\n3\n4!", Tokens: []Span{{From: 4, To: 11}}}, 40, "see [paste #1: 4 lines, 7 B]!"},
		{Draft{Text: strings.Repeat("a line\n", 10_000)}, 30, "[paste #1: 10000 lines, 70.0 …"},
		{Draft{}, 10, ""},
	} {
		if got := c.draft.Row(c.width); got != c.want {
			t.Errorf("%.20q in %d cells: %q, want %q", c.draft.Text, c.width, got, c.want)
		}
	}
}
