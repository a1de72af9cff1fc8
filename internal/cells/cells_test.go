package cells

import (
	"slices"
	"strings"
	"testing"
)

const (
	family = "👨\u200d👩\u200d👧"
	flag   = "🇩🇪"
	accent = "e\u0301"
	link   = "\x1b]8;;http://h/\x1b\\"
	noLink = "\x1b]8;;\x1b\\"
)

func TestWidthIsWhatATerminalGives(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"", 0}, {"abc", 3}, {"日本", 4}, {"ｱ", 1}, {"Ａ", 2}, {"ü", 1}, {accent, 1}, {"\u0301", 0},
		{family, 2}, {flag, 2}, {flag + flag, 4}, {"🇩", 1}, {"👍🏽", 2}, {"✅", 2}, {"❤", 1}, {"❤\ufe0f", 2}, {"⚠\ufe0f x", 4},
		{"1\ufe0f\u20e3", 2}, {"1", 1}, {"한국", 4}, {"\u1112\u1161\u11ab", 2}, {"α±…·─", 5}, {"\x1b[1;31mred\x1b[0m", 3},
		{link + "here" + noLink, 4}, {"\x1b]8;;http://h/\ahere\x1b]8;;\a", 4}, {"a\tb", 3}, {"a\r\nb", 2}, {"\x00\x7f\u200b", 0},
		{"\xff", 1}, {"a\xe2", 2}, {"\xf0\x9f", 2}, {"\x1b", 0}, {"\x1b]8;;x", 5},
	} {
		if got := Width(c.in); got != c.want {
			t.Errorf("Width(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestWidthDoesNotDependOnTheLocale(t *testing.T) {
	t.Setenv("LC_ALL", "ja_JP.UTF-8")
	t.Setenv("RUNEWIDTH_EASTASIAN", "1")
	if got := Width("α±…"); got != 3 {
		t.Errorf("ambiguous characters take %d cells, want 3", got)
	}
}

func TestAClusterIsWhatAUserCounts(t *testing.T) {
	for in, want := range map[string][]string{
		"ab":                  {"a", "b"},
		"a" + family + flag:   {"a", family, flag},
		accent + "日" + accent: {accent, "日", accent},
		"a\r\nb":              {"a", "\r\n", "b"},
		"\x1b[1m":             {"\x1b", "[", "1", "m"},
		"x\xe6":               {"x", "\xe6"},
	} {
		var got []string
		for cluster := range Clusters(in) {
			got = append(got, cluster)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCutFitsAndSaysThatSomethingIsMissing(t *testing.T) {
	for _, c := range []struct {
		in      string
		columns int
		want    string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"hello", 1, "…"}, {"hello", 0, "hello"}, {"hello", -1, "hello"},
		{"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 2, "…"},
		{"a" + family + "b", 3, "a…"}, {"a" + family + "b", 4, "a" + family + "b"},
		{"\x1b[31mred text\x1b[39m", 4, "\x1b[31mred…\x1b[39m"}, {"\x1b[31mred", 9, "\x1b[31mred\x1b[39m"},
		{"\x1b[1mbold\x1b[0m and more", 6, "\x1b[1mbold\x1b[22m …"},
		{link + "linked" + noLink, 4, link + "lin…" + noLink}, {"a\tb", 9, "a b"},
	} {
		if got := Cut(c.in, c.columns); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.columns, got, c.want)
		}
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      string
		columns int
		want    []string
	}{
		{"nothing is a row", "", 10, []string{""}},
		{"what fits is one row", "the quick fox", 13, []string{"the quick fox"}},
		{"words stay whole", "the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"blanks at a break go", "the   quick  ", 5, []string{"the", "quick"}},
		{"indentation stays", "  the quick", 6, []string{"  the", "quick"}},
		{"indentation too wide goes", "        quick", 6, []string{"quick"}},
		{"a long word is broken", "see abcdefghij", 4, []string{"see", "abcd", "efgh", "ij"}},
		{"line ends end rows", "a\nb\r\n\nc", 10, []string{"a", "b", "", "c"}},
		{"tabs are blanks", "a\tb", 10, []string{"a b"}},
		{"without a width", "a b c", 0, []string{"a b c"}},
		{"CJK is broken anywhere", "日本語の文章", 5, []string{"日本", "語の", "文章"}},
		{"CJK among words", "see 日本語 now", 8, []string{"see 日本", "語 now"}},
		{"no row begins with a stop", "日本語。文", 6, []string{"日本", "語。文"}},
		{"no row ends with a bracket", "日本（語）", 6, []string{"日本", "（語）"}},
		{"ASCII marks too", "日本(語)", 5, []string{"日本", "(語)"}},
		{"clusters stay whole", family + accent + flag, 3, []string{family + accent, flag}},
		{"an accent behind a word", "abc" + accent + " x", 4, []string{"abc" + accent, "x"}},
		{"too narrow for a cluster", "a日b", 1, []string{"a", "日", "b"}},
		{"a blank that is not one", "a\u00a0b c", 3, []string{"a\u00a0b", "c"}},
	} {
		if got := Wrap(c.in, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWrapCarriesColoursOver(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      string
		columns int
		want    []string
	}{
		{"a colour", "\x1b[31mone two\x1b[39m", 4, []string{"\x1b[31mone\x1b[39m", "\x1b[31mtwo\x1b[39m"}},
		{"a colour that ends before the break", "\x1b[31mone\x1b[0m two", 4, []string{"\x1b[31mone\x1b[39m", "two"}},
		{"a colour that begins behind it", "one \x1b[31mtwo", 4, []string{"one", "\x1b[31mtwo\x1b[39m"}},
		{"several at once", "\x1b[1;38;5;80mone two", 4, []string{"\x1b[38;5;80m\x1b[1mone\x1b[39m\x1b[22m", "\x1b[38;5;80m\x1b[1mtwo\x1b[39m\x1b[22m"}},
		{"nested", "\x1b[2ma \x1b[1mb\x1b[22m c", 1, []string{"\x1b[2ma\x1b[22m", "\x1b[1m\x1b[2mb\x1b[22m", "c"}},
		{"a link", link + "one two" + noLink, 4, []string{link + "one" + noLink, link + "two" + noLink}},
		{"over a line end", "\x1b[4ma\nb", 4, []string{"\x1b[4ma\x1b[24m", "\x1b[4mb\x1b[24m"}},
		{"RGB", "\x1b[48;2;1;2;3ma b", 1, []string{"\x1b[48;2;1;2;3ma\x1b[49m", "\x1b[48;2;1;2;3mb\x1b[49m"}},
		{"inside of a word", "ab\x1b[31mcd", 3, []string{"ab\x1b[31mc\x1b[39m", "\x1b[31md\x1b[39m"}},
		{"other sequences go", "a\x1b[Kb c\x1b", 2, []string{"ab", "c"}},
	} {
		if got := Wrap(c.in, c.columns); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestHangPutsAPrefixBeforeEachRow(t *testing.T) {
	for _, c := range []struct {
		in          string
		columns     int
		first, rest string
		want        []string
	}{
		{"one two three", 9, "• ", "  ", []string{"• one two", "  three"}},
		{"one two", 9, "10. ", "    ", []string{"10. one", "    two"}},
		{"a\nb", 9, "> ", "| ", []string{"> a", "| b"}},
		{"one two", 8, "          - ", "            ", []string{"  - one", "    two"}},
		{"abc", 2, "- ", "  ", []string{"ab", "c"}},
		{"日", 2, "- ", "  ", []string{"日"}},
		{"\x1b[1mone two", 6, "\x1b[2m│\x1b[22m ", "  ", []string{"\x1b[2m│\x1b[22m \x1b[1mone\x1b[22m", "  \x1b[1mtwo\x1b[22m"}},
	} {
		if got := Hang(c.in, c.columns, c.first, c.rest); !slices.Equal(got, c.want) {
			t.Errorf("Hang(%q, %d, %q, %q):\n got %q\nwant %q", c.in, c.columns, c.first, c.rest, got, c.want)
		}
	}
}

func TestAnOpenRowIsWrappedAnew(t *testing.T) {
	w := NewWrapper(12, "- ", "  ")
	w.Write("one two \x1b[1mthree four fi")
	w.SetColumns(8)
	w.Write("ve six")
	want := []string{"- one two", "  \x1b[1mthree four\x1b[22m", "  \x1b[1mfive\x1b[22m", "  \x1b[1msix\x1b[22m"}
	if got := w.End(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPadCountsCells(t *testing.T) {
	for _, c := range []struct {
		in          string
		columns     int
		left, right string
	}{
		{"ab", 4, "  ab", "ab  "}, {"日", 4, "  日", "日  "}, {"日本", 3, "日本", "日本"}, {"\x1b[1ma\x1b[0m", 2, " \x1b[1ma\x1b[0m", "\x1b[1ma\x1b[0m "},
	} {
		if left, right := PadLeft(c.in, c.columns), Pad(c.in, c.columns); left != c.left || right != c.right {
			t.Errorf("%q to %d: %q, %q", c.in, c.columns, left, right)
		}
	}
}

func TestTabsReachTheirStops(t *testing.T) {
	for _, c := range []struct {
		in   string
		stop int
		want string
	}{
		{"\ta", 4, "    a"}, {"ab\tc", 4, "ab  c"}, {"abcd\te", 4, "abcd    e"}, {"日\tx", 4, "日  x"}, {"a\n\tb", 8, "a\n        b"},
		{"\x1b[1ma\x1b[0m\tb", 4, "\x1b[1ma\x1b[0m   b"}, {"a\tb", 0, "a\tb"}, {"\t\t", 2, "    "},
	} {
		if got := ExpandTabs(c.in, c.stop); got != c.want {
			t.Errorf("ExpandTabs(%q, %d) = %q, want %q", c.in, c.stop, got, c.want)
		}
	}
}

// seen is a text without its sequences.
func seen(s string) string {
	var out strings.Builder
	for piece := range Pieces(s) {
		if piece[0] != esc {
			out.WriteString(piece)
		}
	}
	return out.String()
}

// unwrapped checks that rows are what is seen of a text, in order, with nothing missing
// but blanks and line ends between the rows.
func unwrapped(t *testing.T, text string, rows []string) {
	t.Helper()
	rest, empty := strings.ReplaceAll(text, "\t", " "), 0
	for _, row := range rows {
		row = seen(row)
		if row == "" {
			empty++
		}
		for rest != "" && strings.Contains(" \n", rest[:1]) && !strings.HasPrefix(rest, row) {
			rest = rest[1:]
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, row); !ok {
			t.Fatalf("row %q is not what follows: %q (rows %q)", row, rest, rows)
		}
	}
	if blank := blankLines(text); empty != blank {
		t.Fatalf("%d empty rows for %d blank lines: %q", empty, blank, rows)
	}
	if strings.Trim(rest, " \r\n") != "" {
		t.Fatalf("%q is missing in %q", rest, rows)
	}
}

func blankLines(text string) (n int) {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Trim(line, " \t") == "" {
			n++
		}
	}
	return n
}

func FuzzRowsFitAndGiveTheTextBack(f *testing.F) {
	for _, seed := range []string{"the quick brown fox", "日本語（の）文。", family + flag + accent, "\x1b[31mone \x1b[1mtwo\x1b[0m three", link + "a b" + noLink,
		"a\tb\n  c", "abc\u0301d", "e\xe2\x80", "❤\ufe0f x", "\x1b]8;;", "  \x1b[7m  x", "a \u0301b", "日a日", "\u0600ab", "क्ष्म"} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = columns % 40
		sum := 0
		for _, w := range Pieces(text) {
			sum += w
		}
		if Width(text) != sum {
			t.Fatalf("Width %d, its pieces %d", Width(text), sum)
		}
		text = strings.ToValidUTF8(text, "?") // bytes on both sides of an ESC can become a character without it
		checkCut(t, text, columns)
		rows := Wrap(text, columns)
		if text := seen(text); !strings.ContainsRune(text, '\r') {
			unwrapped(t, text, rows)
		}
		checkParts(t, text, columns)
		for _, row := range append(rows, Hang(text, columns, "12. ", "\x1b[2m│\x1b[22m   ")...) {
			checkRow(t, row, columns)
		}
	})
}

// checkParts writes the text piece by piece, and holds the rows against those of the
// whole text.
func checkParts(t *testing.T, text string, columns int) {
	t.Helper()
	if strings.ContainsAny(text, "\x18\x1a") {
		return // they cancel a sequence, and what precedes them alone is none
	}
	w := NewWrapper(columns, "1. ", "   ")
	var rows []string
	for piece := range Pieces(text) {
		w.Write(piece)
		rows = append(rows, w.TakeRows()...)
		w.Clone().Write("other text\x1b[1m\n")
	}
	if rows = append(rows, w.End()...); !slices.Equal(rows, Hang(text, columns, "1. ", "   ")) {
		t.Fatalf("in parts:\n%q\nat once:\n%q", rows, Hang(text, columns, "1. ", "   "))
	}
}

func checkCut(t *testing.T, text string, columns int) {
	t.Helper()
	cut := Cut(text, columns)
	if columns > 0 && Width(cut) > columns {
		t.Fatalf("Cut to %d: %d cells of %q", columns, Width(cut), cut)
	}
	if (columns <= 0 || Width(text) <= columns) && Width(cut) != Width(text) {
		t.Fatalf("Cut to %d changed what fits: %q", columns, cut)
	}
}

// checkRow checks that a row fits, or is a single cluster, and ends what it begins.
func checkRow(t *testing.T, row string, columns int) {
	t.Helper()
	clusters := 0
	var now pen
	for piece, width := range Pieces(row) {
		now.apply(piece)
		if width > 0 {
			clusters++
		}
	}
	if columns > 0 && Width(row) > columns && clusters > 1 {
		t.Fatalf("%d cells in a row of %d: %q", Width(row), columns, row)
	}
	if now != (pen{}) {
		t.Fatalf("the row leaves %+v open: %q", now, row)
	}
}

func TestPlainTextIsMeasuredWithoutAllocation(t *testing.T) {
	for _, text := range []string{strings.Repeat("plain text ", 20), "日本語の文章", "naïve café"} {
		if n := testing.AllocsPerRun(100, func() { Width(text) }); n != 0 {
			t.Errorf("Width(%q) allocates %v times", text, n)
		}
	}
}

func BenchmarkWidth(b *testing.B) {
	for name, text := range map[string]string{
		"ASCII":    strings.Repeat("plain text ", 10),
		"CJK":      strings.Repeat("日本語の文章", 10),
		"emoji":    strings.Repeat(family+"❤\ufe0f ", 10),
		"coloured": strings.Repeat("\x1b[31mred\x1b[39m text ", 10),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Width(text)
			}
		})
	}
}

func BenchmarkWrap(b *testing.B) {
	for name, text := range map[string]string{
		"ASCII":    strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200),
		"CJK":      strings.Repeat("日本語の文章、", 200),
		"coloured": strings.Repeat("The \x1b[31mquick\x1b[39m brown fox. ", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Wrap(text, 80)
			}
		})
	}
}
