package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEditReplacesOnlyWhatMatches(t *testing.T) {
	type pair struct{ old, new string }
	for name, c := range map[string]struct {
		before string
		edits  []pair
		all    bool
		after  string
	}{
		"exact":                        {before: "a\nb\nc\n", edits: []pair{{"b", "B"}}, after: "a\nB\nc\n"},
		"exact wins over alike":        {before: "“x”\n\"x\"\n", edits: []pair{{`"x"`, "y"}}, after: "“x”\ny\n"},
		"deletion":                     {before: "a\nb\nc\n", edits: []pair{{"b\n", ""}}, after: "a\nc\n"},
		"all":                          {before: "aXbXc", edits: []pair{{"X", "--"}}, all: true, after: "a--b--c"},
		"all, overlapping":             {before: "aaaaa", edits: []pair{{"aa", "b"}}, all: true, after: "bba"},
		"all, by the eye":              {before: "‘x’ ’x‘", edits: []pair{{"'x'", "y"}}, all: true, after: "y y"},
		"edits see the original":       {before: "a b", edits: []pair{{"a", "b"}, {"b", "a"}}, after: "b a"},
		"edits in any order, adjacent": {before: "abcd", edits: []pair{{"cd", "2"}, {"ab", "1"}}, after: "12"},

		"CRLF stays":                     {before: "a\r\nb\r\nc\r\n", edits: []pair{{"a\nb", "x\ny\nz"}}, after: "x\r\ny\r\nz\r\nc\r\n"},
		"CRLF goes to one-line matches":  {before: "a\r\nb\r\n", edits: []pair{{"b", "x\ny"}}, after: "a\r\nx\r\ny\r\n"},
		"CRLF, match begins at newline":  {before: "a\r\nb\r\n", edits: []pair{{"\nb", "\nx"}}, after: "a\r\nx\r\n"},
		"LF stays":                       {before: "a\nb\nc\n", edits: []pair{{"a\r\nb", "x\r\ny"}}, after: "x\ny\nc\n"},
		"mixed endings stay":             {before: "a\r\nb\nc\r\nd\n", edits: []pair{{"b\nc", "B\nC"}}, after: "a\r\nB\nC\r\nd\n"},
		"endings change when asked for":  {before: "a\r\nb\r\n", edits: []pair{{"a\r\n", "a\n"}}, after: "a\nb\r\n"},
		"lone CR is text":                {before: "a\rb\n", edits: []pair{{"a\rb", "c\rd"}}, after: "c\rd\n"},
		"BOM stays":                      {before: "\uFEFFa\nb\n", edits: []pair{{"a", "x"}}, after: "\uFEFFx\nb\n"},
		"BOM in the old text":            {before: "\uFEFFa\nb\n", edits: []pair{{"\uFEFFa", "x"}}, after: "\uFEFFx\nb\n"},
		"bytes that are no text stay":    {before: "\xff1\nold\n\x80\n", edits: []pair{{"old", "new"}}, after: "\xff1\nnew\n\x80\n"},
		"bytes stay in tolerant matches": {before: "\xff1\n“old”\n\x80\n", edits: []pair{{`"old"`, "new"}}, after: "\xff1\nnew\n\x80\n"},

		"trailing space":               {before: "a  \nb\t\nc  \n", edits: []pair{{"a\nb\n", "x\ny\n"}}, after: "x\ny\nc  \n"},
		"trailing space in old text":   {before: "foobar\nfoo\n", edits: []pair{{"foo  ", "x"}}, after: "foobar\nx\n"},
		"trailing space at the end":    {before: "a\nb  ", edits: []pair{{"a\nb\t", "x"}}, after: "x"},
		"quotes":                       {before: "say “it’s”\n", edits: []pair{{`say "it's"`, "x"}}, after: "x\n"},
		"dashes":                       {before: "1–2 — 3 − 4\n", edits: []pair{{"1-2 - 3 - 4", "x"}}, after: "x\n"},
		"spaces":                       {before: "a\u00a0b\u3000c\u2009d\n", edits: []pair{{"a b c d", "x"}}, after: "x\n"},
		"NFC, file decomposed":         {before: "cafe\u0301 now\n", edits: []pair{{"caf\u00e9", "tea"}}, after: "tea now\n"},
		"NFC, old text decomposed":     {before: "caf\u00e9 now\n", edits: []pair{{"cafe\u0301", "tea"}}, after: "tea now\n"},
		"tolerant, within a line":      {before: "x = “a” + “b”  \n", edits: []pair{{`"a"`, `"c"`}}, after: "x = \"c\" + “b”  \n"},
		"tolerant, CRLF":               {before: "“a”  \r\nb\r\n", edits: []pair{{"\"a\"\nb", "c\nd"}}, after: "c\r\nd\r\n"},
		"common lines keep bytes":      {before: "“a”  \nb\n“c”\t\n", edits: []pair{{"\"a\"\nb\n\"c\"", "\"a\"\nB\nB2\n\"c\""}}, after: "“a”  \nB\nB2\n“c”\t\n"},
		"lines put between":            {before: "“a” \n  \n“b”\n", edits: []pair{{"\"a\"\n\n\"b\"\n", "\"a\"\nnew\n\n\"b\"\n"}}, after: "“a” \nnew\n  \n“b”\n"},
		"lines taken out":              {before: "“a”\nb \n“c”\n", edits: []pair{{"\"a\"\nb\n\"c\"\n", "\"a\"\n\"c\"\n"}}, after: "“a”\n\"c\"\n"},
		"line put after":               {before: "“a”  \nb\n", edits: []pair{{"\"a\"\n", "\"a\"\nnew\n"}}, after: "“a”  \nnew\nb\n"},
		"a mark belongs to its letter": {before: "“e\u0331\u0323” “e”\n", edits: []pair{{`"e"`, "x"}}, after: "“e\u0331\u0323” x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, Options{})
			b.file("f.txt", c.before)
			a := args{"path": "f.txt"}
			if len(c.edits) == 1 {
				a["oldText"], a["newText"] = c.edits[0].old, c.edits[0].new
				a["replaceAll"] = c.all
			} else {
				var list []args
				for _, e := range c.edits {
					list = append(list, args{"oldText": e.old, "newText": e.new})
				}
				a["edits"] = list
			}
			b.run("edit", a)
			equal(t, b.content("f.txt"), c.after)
		})
	}
}

func TestEditRefusesWithLines(t *testing.T) {
	b := newHarness(t, Options{})
	const text = "one\ntwo\n\tthree = call(x)\nfour\ntwo\n“five”\n”five“\n"
	b.file("f.txt", text)
	list := func(pairs ...string) []args {
		var l []args
		for i := 0; i < len(pairs); i += 2 {
			l = append(l, args{"oldText": pairs[i], "newText": pairs[i+1]})
		}
		return l
	}
	for name, c := range map[string]struct {
		a    args
		says []string
	}{
		"several":              {args{"oldText": "two", "newText": "x"}, []string{"stands in 2 places, on lines 2, 5;", "replaceAll"}},
		"several, alike":       {args{"oldText": `"five"`, "newText": "x"}, []string{"in 2 places, on lines 6, 7", "look the same"}},
		"several, overlapping": {args{"oldText": "e", "newText": "x"}, []string{"places, on lines 1, 3, 3"}},
		"none, one line off":   {args{"oldText": "two\n\tthree = call(y)\nfour", "newText": "x"}, []string{"nearest is line 2", "line 3 of the file is\n  \tthree = call(x)\nand oldText has\n  \tthree = call(y)"}},
		"none, indentation":    {args{"oldText": "two\nthree = call(x)\nfour", "newText": "x"}, []string{"nearest is line 2", "line 3 of the file"}},
		"none, one line":       {args{"oldText": "three = calls(x);", "newText": "x"}, []string{"nearest is line 3:\n  \tthree = call(x)"}},
		"none, past the end":   {args{"oldText": "“five”\n”five“\nsix", "newText": "x"}, []string{"lines 6-", "the file ends"}},
		"none at all":          {args{"oldText": "zzzz qqqq", "newText": "x"}, []string{"nor anything like it"}},
		"the same":             {args{"oldText": "four", "newText": "four"}, []string{"nothing would change", "line 4"}},
		"the same, by the eye": {args{"oldText": "one \ntwo", "newText": "one\ntwo"}, []string{"nothing would change: at line 1 the file already"}},
		"empty":                {args{"oldText": "", "newText": "x"}, []string{"oldText is empty"}},
		"overlap":              {args{"edits": list("two\n\tthree", "x", "three = call", "y")}, []string{"edits[0] (lines 2-3) and edits[1] (line 3) overlap"}},
		"overlap, the same":    {args{"edits": list("four", "x", "four", "y")}, []string{"edits[0] (line 4) and edits[1] (line 4) overlap"}},
		"one of several":       {args{"edits": list("one", "1", "nine", "9")}, []string{"edits[1]: oldText is not there", "none of the edits was made"}},
		"both forms":           {args{"oldText": "one", "newText": "1", "edits": list("four", "4")}, []string{"not both"}},
		"neither form":         {args{"oldText": "one"}, []string{"oldText and newText are needed"}},
		"all with edits":       {args{"replaceAll": true, "edits": list("four", "4")}, []string{"replaceAll goes with oldText"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.a["path"] = "f.txt"
			b.refused("edit", c.a, append(c.says, "edit f.txt: ")...)
			equal(t, b.content("f.txt"), text)
		})
	}
	b.refused("edit", args{"path": "g.txt", "oldText": "a", "newText": "b"}, "g.txt does not exist")
	b.refused("edit", args{"path": ".", "oldText": "a", "newText": "b"}, "it is a directory")
	b.file("bin", "\x7fELF\x00")
	b.refused("edit", args{"path": "bin", "oldText": "a", "newText": "b"}, "binary file (ELF")
}

func TestEditTellsADiffAndTheFirstChangedLine(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("d/f.txt", "1\n2\n3\n4\n5\n“six”\n7\n")
	r := b.run("edit", args{"path": "d/f.txt", "edits": []args{{"oldText": "2\n3", "newText": "2\nthree"}, {"oldText": "7", "newText": "seven"}}})
	equal(t, textOf(r), "Edited d/f.txt: 2 replacements, first changed line 3")
	d := details[editDetails](t, r)
	equal(t, d.Diff, "--- a/d/f.txt\n+++ b/d/f.txt\n@@ -1,7 +1,7 @@\n 1\n 2\n-3\n+three\n 4\n 5\n “six”\n-7\n+seven\n")
	if d.FirstChangedLine != 3 {
		t.Errorf("first changed line %d", d.FirstChangedLine)
	}
	text := b.text("edit", args{"path": "d/f.txt", "oldText": `"six"`, "newText": "6"})
	if !strings.Contains(text, "differs from oldText in quotes") || !strings.Contains(text, "-“six”\n+6\n") {
		t.Errorf("a tolerant match is not shown: %q", text)
	}
}

// The lines of the new text in the second hunk are where it says, though the first has several
// changes with lines between them.
func TestHunksBehindSeveralChangesTellTheirNewLines(t *testing.T) {
	b := newHarness(t, Options{})
	b.file("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n")
	r := b.run("edit", args{"path": "f.txt", "edits": []args{{"oldText": "1\n2", "newText": "one\n2"}, {"oldText": "4\n5", "newText": "four\n4.5\n5"}, {"oldText": "14", "newText": "fourteen"}}})
	equal(t, details[editDetails](t, r).Diff, "--- a/f.txt\n+++ b/f.txt\n@@ -1,7 +1,8 @@\n-1\n+one\n 2\n 3\n-4\n+four\n+4.5\n 5\n 6\n 7\n@@ -11,4 +12,4 @@\n 11\n 12\n 13\n-14\n+fourteen\n")
}

// A change within a line shows the whole of it, once, however many there are in it.
func TestADiffHasWholeLines(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		edits  []args
		want   string
	}{
		"several in a line":     {"a b c\nd\n", []args{{"oldText": "a", "newText": "A"}, {"oldText": "c", "newText": "C"}}, "@@ -1,2 +1,2 @@\n-a b c\n+A b C\n d\n"},
		"lines are joined":      {"ab\ncd\ne\n", []args{{"oldText": "b\nc", "newText": ""}}, "@@ -1,3 +1,2 @@\n-ab\n-cd\n+ad\n e\n"},
		"a line end goes":       {"ab\ncd\ne\n", []args{{"oldText": "b\n", "newText": ""}}, "@@ -1,3 +1,2 @@\n-ab\n-cd\n+acd\n e\n"},
		"a line goes":           {"ab\ncd\ne\n", []args{{"oldText": "cd\n", "newText": ""}}, "@@ -1,3 +1,2 @@\n ab\n-cd\n e\n"},
		"a line is split":       {"ab\ne\n", []args{{"oldText": "ab", "newText": "a\nb"}}, "@@ -1,2 +1,3 @@\n-ab\n+a\n+b\n e\n"},
		"lines are put between": {"a\nb\n", []args{{"oldText": "a\n", "newText": "a\nx\ny\n"}}, "@@ -1,2 +1,4 @@\n a\n+x\n+y\n b\n"},
		"beside each other":     {"a\nb\nc\n", []args{{"oldText": "a\n", "newText": "A\n"}, {"oldText": "b\n", "newText": "B\n"}}, "@@ -1,3 +1,3 @@\n-a\n+A\n-b\n+B\n c\n"},
		"meet in a line":        {"abcd\ne\n", []args{{"oldText": "ab", "newText": "1\n"}, {"oldText": "cd", "newText": "2"}}, "@@ -1,2 +1,3 @@\n-abcd\n+1\n+2\n e\n"},
		"no newline at the end": {"a\nb", []args{{"oldText": "b", "newText": "c"}}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		"a newline at the end":  {"a\nb", []args{{"oldText": "b", "newText": "b\n"}}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		"the end goes":          {"a\nb\n", []args{{"oldText": "\nb\n", "newText": ""}}, "@@ -1,2 +1 @@\n-a\n-b\n+a\n\\ No newline at end of file\n"},
		"all goes":              {"a\nb\n", []args{{"oldText": "a\nb\n", "newText": ""}}, "@@ -1,2 +0,0 @@\n-a\n-b\n"},
	} {
		b := newHarness(t, Options{})
		b.file("f.txt", c.before)
		a := args{"path": "f.txt", "edits": c.edits}
		if got := details[editDetails](t, b.run("edit", a)).Diff; got != "--- a/f.txt\n+++ b/f.txt\n"+c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func FuzzEditMatcher(f *testing.F) {
	for _, s := range [][3]string{
		{"a\nb\nc\n", "b", "x"}, {"a\r\nb\r\n", "a\nb", "x\ny"}, {"“a”  \nb", `"a"`, "q"}, {"aaa", "aa", "b"},
		{"e\u0301x", "\u00e9", ""}, {" \n \n", "\n", "x"}, {"\xff\n\u0301", "\n", "z"}, {"a \nb \nc", "a\nb\nc", "a\nx\nc"},
		{"a  \n\nb ", "a\n \nb  ", "a\n"}, {"x\r\r\n", "x\r", "y"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, body, old, text string) {
		if old == "" || old == text || !utf8.ValidString(old) || !utf8.ValidString(text) {
			t.Skip("no replacement that a call may ask for")
		}
		m := &matcher{body: body}
		changes, err := m.plan([]replacement{{old: old, new: text}})
		if err != nil {
			if len(occurrences(body, old)) == 1 && !strings.Contains(body, "\r") {
				t.Fatalf("a unique exact match was refused: %v", err)
			}
			return
		}
		c := changes[0]
		after := m.apply(changes)
		if c.start > c.end || !strings.HasPrefix(after, body[:c.start]) || !strings.HasSuffix(after, body[c.end:]) {
			t.Fatalf("bytes outside of %d-%d changed: %q to %q", c.start, c.end, body, after)
		}
		plainText := !strings.Contains(text+body, "\r") || strings.Contains(old, "\r")
		if len(occurrences(body, old)) == 1 && plainText {
			if want := strings.Replace(body, old, text, 1); after != want {
				t.Fatalf("%q: got %q, want %q", body, after, want)
			}
		}
		if c.tolerant && !strings.Contains(string(tolerant(body).text), string(tolerant(old).text)) {
			t.Fatal("a tolerant match of something else")
		}
	})
}

func FuzzTolerantViewLeadsBack(f *testing.F) {
	for _, s := range []string{"", "a  \r\n“b”\t\n", "e\u0301\u0323\n\u0301", "\xff \n\x80\u0301", "\r\u0301\r\n", "한\u1100\u1161"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range []*view{tolerant(s), lineEndings(s)} {
			if strings.Count(string(v.text), "\n") != strings.Count(s, "\n") {
				t.Fatalf("%q has other lines in %q", s, v.text)
			}
			end := 0
			for i := range v.text {
				from, to := int(v.from[i]), int(v.to[i])
				if v.starts(i) {
					if from < end || to <= from || to > len(s) {
						t.Fatalf("%q: byte %d stands for %d-%d after %d", s, i, from, to, end)
					}
					end = to
				}
			}
		}
	})
}
