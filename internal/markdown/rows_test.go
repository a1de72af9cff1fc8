package markdown

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pi/internal/cells"
)

func TestADocumentIsReadableWithoutColours(t *testing.T) {
	text, err := os.ReadFile("testdata/all.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/all.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(Painter{Columns: 40}.Rows(string(text)), "\n") + "\n"; got != string(want) {
		t.Errorf("got\n%s", got)
	}
}

func TestRowsOfBlocks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blank lines", "\n \n\t\n", nil},
		{"a paragraph is wrapped", "one two three four five six", []string{"one two three four", "five six"}},
		{"its lines are joined", "one\ntwo", []string{"one two"}},
		{"hard breaks are kept", "one  \ntwo\\\nthree", []string{"one", "two", "three"}},
		{"blank lines are one", "one\n\n\n\ntwo", []string{"one", "", "two"}},
		{"headings", "text\n# One\n## Two ##\n####### no\n#no", []string{"text", "", "# One", "", "## Two", "####### no #no"}},
		{"a line below a text is a rule", "one\n---\ntwo\n===", []string{"one", strings.Repeat("─", 20), "two ==="}},
		{"a list", "- one\n* two\n+ three four five six", []string{"- one", "- two", "- three four five", "  six"}},
		{"numbers count", "3. three\n3. four\n9) other", []string{"3. three", "4. four", "9) other"}},
		{"hanging indent of ten", "9. nine nine nine nine\n10. ten ten ten ten ten", []string{"9. nine nine nine", "   nine", "10. ten ten ten ten", "    ten"}},
		{"nested", "- a\n  - b\n    1. c\n- d", []string{"- a", "  - b", "    1. c", "- d"}},
		{"two marks in a line", "- - a", []string{"- - a"}},
		{"blank rows as written", "- a\n\n- b\n- c", []string{"- a", "", "- b", "- c"}},
		{"paragraphs of an item", "- a\n\n  b\n\nc", []string{"- a", "", "  b", "", "c"}},
		{"an item without a text", "-\n- a", []string{"-", "- a"}},
		{"a lazy line", "- a\nb", []string{"- a b"}},
		{"a number does not interrupt", "the year\n1984. Or not", []string{"the year 1984. Or", "not"}},
		{"tasks", "- [ ] to do and to wrap\n- [x] done\n- [x]", []string{"- [ ] to do and to", "      wrap", "- [x] done", "- [x]"}},
		{"a quote", "> one two three four five\n>\n> two\n\nout", []string{"│ one two three four", "│ five", "│", "│ two", "", "out"}},
		{"a lazy quote", "> one\ntwo", []string{"│ one two"}},
		{"quotes in quotes", "> > a\n\n> b", []string{"│ │ a", "", "│ b"}},
		{"a list in a quote", "> - a\n>   b\n> - c", []string{"│ - a b", "│ - c"}},
		{"code", "a\n```go\nif x {\n\treturn\n}\n\n```\nb", []string{"a", "  if x {", "      return", "  }", "", "b"}},
		{"code is not wrapped", "```\n" + strings.Repeat("x", 30) + "\n```", []string{"  " + strings.Repeat("x", 30)}},
		{"code without an end", "~~~\na\n```\n", []string{"  a", "  ```"}},
		{"a longer fence", "````\n```\n````", []string{"  ```"}},
		{"indented code", "    a\n\n      b\n\nc", []string{"  a", "", "    b", "", "c"}},
		{"code in an item", "1. a\n   ```\n   x\n     y\n   ```\n   b", []string{"1. a", "     x", "       y", "   b"}},
		{"code that begins an item", "- ```\n  x\n  ```", []string{"-", "    x"}},
		{"code in a quote", "> ```\n> x\n> ```", []string{"│   x"}},
		{"rules", "***\n- - -\n___", []string{strings.Repeat("─", 20), strings.Repeat("─", 20), strings.Repeat("─", 20)}},
		{"HTML keeps its lines", "<p>\ntext\n</p>", []string{"<p>", "text", "</p>"}},
		{"a reference is text", "[a]: http://b\n\n[a] [a][b]", []string{"[a]: http://b", "", "[a] [a][b]"}},
		{"a table", "| a | b |\n|--|--|\n| 1 | 22 |\n| c |", []string{"a │ b", "──┼───", "1 │ 22", "c │"}},
		{"alignment", "| aaa | bbb | ccc |\n|:-:|--:|:--|\n| 1 | 2 | 3 |\n", []string{"aaa │ bbb │ ccc", "────┼─────┼────", " 1  │   2 │ 3"}},
		{"wide characters", "| 日本 | b |\n|---|---|\n| a | b |", []string{"日本 │ b", "─────┼──", "a    │ b"}},
		{"a table in a text", "text\n| a |\n|---|\n| 1 |\ntext", []string{"text", "a", "─", "1", "text"}},
		{"bars in cells", "| a |\n|---|\n| `x\\|y` |", []string{"a", "─────", "`x|y`"}},
		{"no table", "| a | b |\n| c | d |", []string{"| a | b | | c | d |"}},
		{"no table: too few columns", "| a | b |\n|---|", []string{"| a | b | |---|"}},
		{"records", "| key | what it says |\n|---|---|\n| one | long enough for two rows |\n| two | |", []string{"key: one", "what it says: long", "  enough for two", "  rows", "", "key: two"}},
		{"a head alone", "| key | what it says at length |\n|---|---|", []string{"key, what it says at", "length"}},
		{"Windows' line ends", "a\r\n\r\n- b\r\n", []string{"a", "", "- b"}},
	} {
		if got := (Painter{Columns: 20}).Rows(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestRowsOfTexts(t *testing.T) {
	for _, c := range []struct{ text, painted, plain string }{
		{"**a** *b* ***c***", "<bold>a</bold> <italic>b</italic> <italic><bold>c</bold></italic>", "a b c"},
		{"**a *b* c**", "<bold>a </bold><bold><italic>b</italic></bold><bold> c</bold>", "a b c"},
		{"`a **b** c`", "<code>a **b** c</code>", "`a **b** c`"},
		{"``a ` b``", "<code>a ` b</code>", "`a ` b`"},
		{"~~a~~ ~b~ ~~~c~~~ d", "<strikethrough>a</strikethrough> ~b~ ~~~c~~~ d", "~~a~~ ~b~ ~~~c~~~ d"},
		{"[a](http://h/b_c_d)", "<link>a</link> <dim>(http://h/b_c_d)</dim>", "a (http://h/b_c_d)"},
		{"[a `b`](<x y> \"t\")", "<link>a </link><link><code>b</code></link> <dim>(x y)</dim>", "a `b` (x y)"},
		{"[http://h](http://h)", "<link>http://h</link>", "http://h"},
		{"[a]()", "a", "a"},
		{"![a picture](p.png) ![](q.png)", "<link>a picture</link> <dim>(p.png)</dim> <link>q.png</link>", "a picture (p.png) q.png"},
		{"<http://h> <a@b.c> <b>", "<link>http://h</link> <link>a@b.c</link> <b>", "http://h a@b.c <b>"},
		{"see http://h/a_(b)_c. (http://h), xhttp://h", "see <link>http://h/a_(b)_c</link>. (<link>http://h</link>), xhttp://h", "see http://h/a_(b)_c. (http://h), xhttp://h"},
		{"&lt;b&gt; &#65; &copy; &nosuch; &#27;[1m &#8238; e&#769;", "<b> A © &nosuch; &#27;[1m &#8238; e&#769;", "<b> A © &nosuch; &#27;[1m &#8238; e&#769;"},
		{"\\*a\\* \\[b](c) \\", "*a* [b](c) \\", "*a* [b](c) \\"},
		{"5 * 3 * 2, snake_case_name, 2 ** 3, **open", "5 * 3 * 2, snake_case_name, 2 ** 3, **open", "5 * 3 * 2, snake_case_name, 2 ** 3, **open"},
		{"# a **b**", "<accent><bold><underline>a </underline></bold></accent><accent><bold><underline><bold>b</bold></underline></bold></accent>", "# a b"},
		{"- a", "<accent>-</accent> a", "- a"},
		{"a\x1b[31mb\x07c\u202ed", "abc<U+202E>d", "abc<U+202E>d"},
	} {
		got := strings.Join((Painter{Paint: tagged}).Rows(c.text), "\n")
		if plain := strings.Join((Painter{}).Rows(c.text), "\n"); got != c.painted || plain != c.plain {
			t.Errorf("%q:\npainted %q\n   want %q\n  plain %q\n   want %q", c.text, got, c.painted, plain, c.plain)
		}
	}
}

func TestWhatCannotChangeIsGivenOutAtOnce(t *testing.T) {
	words := strings.Repeat("some words of a text and ", 20)
	for _, c := range []struct {
		name, text string
		late       int // rows that wait for the end
	}{
		{"lines of code", "```\na\nb\nc", 1},
		{"code in an item", "- x\n  ```\n  a\n  b\n", 0},
		{"finished items", "- a\n- b\n- c", 1},
		{"all rows of a paragraph but the last", words, 1},
		{"in a list", "- " + words, 1},
		{"in a quote", "> " + words, 1},
		{"before what is open", words + "`" + words[:40], 4},
		{"behind what has been closed", "**one** two `three` four five six seven", 1},
		{"a heading", "# a\n", 0},
		{"a table waits", "| a |\n|---|\n| 1 |\n", 3},
		{"a table has ended", "| a |\n|---|\n| 1 |\n\n", 0},
		{"CJK", strings.Repeat("日本語の文章", 5), 1},
		{"what is not closed within reach", "**" + words + words, 1},
	} {
		var parts []string
		for i := range len(c.text) {
			parts = append(parts, c.text[i:i+1])
		}
		rows, early := streamed(Painter{Columns: 20}, parts...)
		if late := len(rows) - early; late != c.late {
			t.Errorf("%s: %d rows wait for the end, want %d: %q", c.name, late, c.late, rows)
		}
	}
}

func TestALongBlockIsReadAsItComes(t *testing.T) {
	for _, c := range []struct {
		name, begin, line string
		late              int // rows that may wait
	}{
		{"code", "```\n", "code\n", 0},
		{"list", "", "- an item\n", 1},
	} {
		s := NewStream(Painter{Columns: 40})
		s.Write(c.begin)
		given := 0
		for i := range 300 {
			if given += len(s.Write(c.line)); given < i+1-c.late {
				t.Fatalf("%s: %d rows after %d lines", c.name, given, i+1)
			}
			if live := len(s.Live()); given+live != i+1 {
				t.Fatalf("%s: %d and %d rows after %d lines", c.name, given, live, i+1)
			}
		}
	}
}

func TestLiveIsHowItWouldEnd(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 4))
		text := strings.NewReplacer("*", "", "_", "", "`", "", "~", "").Replace(document(random, 30))
		s := NewStream(Painter{Columns: 30, Paint: coloured})
		var given []string
		written := ""
		for _, part := range divided(strings.ToValidUTF8(text, ""), random) {
			if !strings.HasPrefix(text[len(written):], part) || strings.ContainsFunc(part, func(r rune) bool { return r >= 0x80 || r == '\r' }) {
				break
			}
			given = append(given, s.Write(part)...)
			written += part
			if got := append(slices.Clone(given), s.Live()...); !slices.Equal(got, s.p.Rows(written)) {
				t.Fatalf("after %q:\n got %q\nwant %q", written, got, s.p.Rows(written))
			}
		}
	}
}

func TestLiveShowsWhatIsOpenAsItWillBe(t *testing.T) {
	for text, want := range map[string]string{
		"a **b c":      "a <bold>b c</bold>",
		"a **b `c ":    "a <bold>b </bold><bold><code>c</code></bold>",
		"a ~~b":        "a <strikethrough>b</strikethrough>",
		"a **":         "a **",
		"***a":         "<italic><bold>a</bold></italic>",
		"5 * 3":        "5 * 3",
		"see [the doc": "see [the doc",
	} {
		s := NewStream(Painter{Paint: tagged})
		s.Write(text)
		if got := strings.Join(s.Live(), "\n"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestALongTableIsShownByItsEnd(t *testing.T) {
	s := NewStream(Painter{Columns: 40})
	s.Write("| a |\n|---|\n" + strings.Repeat("| x |\n", 100))
	if n := len(s.Live()); n != mostLive+2 {
		t.Errorf("%d rows are live", n)
	}
	if n := len(s.End()); n != 102 {
		t.Errorf("%d rows in the end", n)
	}
}

func TestRowsThatAreNotOutGetTheNewWidth(t *testing.T) {
	s := NewStream(Painter{Columns: 20, Paint: coloured})
	rows := s.Write("- one two three four **five six")
	s.SetColumns(10)
	rows = append(rows, s.Write(" seven** eight\n- nine ten eleven\n\n| a | b |\n|---|---|\n| long | longer |\n")...)
	rows = append(rows, s.End()...)
	want := []string{"- one two", "  three", "  four", "  five six", "  seven", "  eight", "- nine ten", "  eleven", "", "a: long", "b: longer"}
	for i, row := range rows {
		rows[i] = withoutColours(row)
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got %q, want %q", rows, want)
	}
}

func withoutColours(row string) string {
	var out strings.Builder
	for piece := range cells.Pieces(row) {
		if piece[0] != 0x1b {
			out.WriteString(piece)
		}
	}
	return out.String()
}

func TestCodeIsUnchanged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		var lines, want []string
		for range random.IntN(10) {
			line := strings.ReplaceAll(document(random, 5), "\n", "")
			if line = strings.ReplaceAll(strings.ReplaceAll(line, "\r", ""), "```", ""); strings.Trim(line, " \t`") == "" {
				continue
			}
			lines = append(lines, line)
			want = append(want, "  "+cells.ExpandTabs(line, tabStop))
		}
		for _, highlight := range []bool{false, true} {
			text := "```go\n" + strings.Join(append(lines, "```"), "\n")
			got := Painter{Columns: 10, Paint: coloured, Highlight: highlight}.Rows(text)
			for i := range got {
				got[i] = withoutColours(got[i])
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q:\n got %q\nwant %q", text, got, want)
			}
		}
	}
}

func TestNoMarkOfMatchedEmphasisIsLeft(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	for range 500 {
		var text strings.Builder
		for range 1 + random.IntN(40) {
			words := strings.TrimSpace(strings.Repeat("bold ", 1+random.IntN(30)))
			text.WriteString([]string{"some words ", "**" + words + "** ", "日本語、", "\n- ", "\n> ", "\n\n", "a **b**, "}[random.IntN(7)])
		}
		p := Painter{Columns: []int{5, 20, 40, 80, 200}[random.IntN(5)]}
		rows, _ := streamed(p, divided(text.String(), random)...)
		if i := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "*") }); i >= 0 {
			t.Fatalf("%q in %q", rows[i], text.String())
		}
	}
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"go", "if x == \"a\\\"b\" { // so\n\treturn 12, `a\nb` /* c\nd */ }", "<accent>if</accent> x == <success>\"a\\\"b\"</success> { <muted>// so</muted>\n" +
			"    <accent>return</accent> <warning>12</warning>, <success>`a</success>\n<success>b`</success> <muted>/* c</muted>\n<muted>d */</muted> }"},
		{"Python", "def f(): # a\n  '''x\n  y''' + 'z'", "<accent>def</accent> f(): <muted># a</muted>\n  <success>'''x</success>\n<success>  y'''</success> + <success>'z'</success>"},
		{"sql", "SELECT a FROM b", "<accent>SELECT</accent> a <accent>FROM</accent> b"},
		{"json", `{"a": [1, true]}`, `{<success>"a"</success>: [<warning>1</warning>, <accent>true</accent>]}`},
		{"nosuch", "if x // y", "if x // y"},
		{"", "if x // y", "if x // y"},
	} {
		text := "```" + c.language + "\n" + c.code + "\n```"
		got := Painter{Paint: tagged, Highlight: true}.Rows(text)
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "  ")
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.language, strings.Join(got, "\n"), c.want)
		}
		for _, row := range (Painter{Paint: tagged}).Rows(text) {
			if strings.Contains(row, "</") {
				t.Errorf("%s: colours that nobody asked for: %q", c.language, row)
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	for seed := range uint64(30) {
		f.Add(document(rand.New(rand.NewPCG(seed, 7)), 20), seed, 20)
	}
	f.Add("http://*0 0 !*0", uint64(3), 20)
	f.Add("\x1b[31m&#27;[1m\x9b", uint64(1), 10)
	f.Fuzz(func(t *testing.T, text string, seed uint64, columns int) {
		p := Painter{Columns: columns % 100}
		for _, row := range p.Rows(text) {
			if strings.ContainsFunc(row, unicode.IsControl) {
				t.Fatalf("control characters in %q", row)
			}
		}
		p.Paint = coloured
		checkDivided(t, p, text, seed)
	})
}
