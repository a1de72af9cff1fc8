package fuzzy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestFilterFindsRowsThatHaveAllWords(t *testing.T) {
	rows := []string{
		"refactor tokenizer\n7 h\n16 msg",
		"flaky test TestResume\n22 h\n16 msg",
		"Der Müller von Straßburg\n2 d\n1 msg",
		"Mu\u0308ller again\n3 d\n160 msg",
		"ΣΊΣΥΦΟΣ\n1 d\n日本語",
		"",
	}
	tests := []struct {
		query string
		want  []int
	}{
		{"", []int{0, 1, 2, 3, 4, 5}},
		{"  ", []int{0, 1, 2, 3, 4, 5}},
		{"token", []int{0}},
		{"TOKEN", []int{0}},
		{"test flaky", []int{1}},
		{"resume h", []int{1}},
		{"16", []int{0, 1, 3}},
		{"16 22", []int{1}},
		{"160", []int{3}},
		{"müller", []int{2, 3}},
		{"MU\u0308LLER", []int{2, 3}},
		{"σίσυφος", []int{4}},
		{"本", []int{4}},
		{"h16", nil}, // not across columns
		{"tokenx", nil},
	}
	f := NewFilter(len(rows), func(i int) string { return rows[i] })
	for _, tt := range tests {
		if got := f.Find(tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("%q finds %v, want %v", tt.query, got, tt.want)
		}
	}
}

func TestFilterAsksForATextOnce(t *testing.T) {
	asked := 0
	f := NewFilter(3, func(int) string { asked++; return "row" })
	for _, query := range []string{"", "r", "ro", "x", "row"} {
		f.Find(query)
	}
	if asked != 3 {
		t.Errorf("texts were asked for %d times, want 3", asked)
	}
}

func TestIndexRanks(t *testing.T) {
	tests := []struct {
		typed string
		texts string // the order that is wanted
		none  string
	}{
		{"mode", "mode model modelmode /mode m.o.d.exit amode", "dome"},
		{"ft", "ft ftp fileTest file_test after facet", "tf"},
		{"tool", "tool.go agent/tool.go agent/tool/bash.go atool titlepool tobaccoolive", "tol"},
		{"a/t/b", "agent/tool/bash.go xa/xt/xb", "agent/tool"},
		{"v2", "v2 api-v2 apiv2 v12", "2v"},
		{"mü", "Müller Mu\u0308ller der-müller Amüsieren", "Muller"},
		{"日語", "日語 日語学 日本語", "語日"},
		{"istanbul", "İstanbul x-istanbul", "stanbul"},
		{"k", "\u212A Kelvin x-k ark", "x"},
	}
	for _, tt := range tests {
		want := strings.Fields(tt.texts)
		for _, texts := range [][]string{want, reversed(want)} {
			all := append([]string{tt.none}, texts...)
			var got []string
			for _, i := range NewIndex(all).Find(tt.typed, 100) {
				got = append(got, all[i])
			}
			if !sameOrder(got, want, tt.typed) {
				t.Errorf("%q: %q, want %q", tt.typed, got, want)
			}
		}
	}
}

// sameOrder compares two rankings. Texts of the same price may have any order.
func sameOrder(got, want []string, typed string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool { return a == b || priceOf(a, typed) == priceOf(b, typed) })
}

func priceOf(text, typed string) int32 {
	c := newCandidate(text)
	return newPattern(typed).price(&c, new([]int32))
}

func reversed(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Reverse(texts)
	return texts
}

func TestEqualCandidatesKeepTheirOrder(t *testing.T) {
	texts := []string{"off", "low", "medium", "high", "max"}
	if got := NewIndex(texts).Find("", 3); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("nothing typed: %v", got)
	}
	if got := NewIndex([]string{"ab", "xa", "ac", "ad"}).Find("a", 9); !slices.Equal(got, []int{0, 2, 3, 1}) {
		t.Errorf("a: %v", got)
	}
	if got := NewIndex(texts).Find("", 0); len(got) != 0 {
		t.Errorf("none wanted: %v", got)
	}
}

func TestBestLeavesOutWhatIsScattered(t *testing.T) {
	texts := []string{"anthropic/claude-sonnet", "anthropic/claude-opus", "corpus"}
	tests := []struct {
		typed string
		want  []int
	}{
		{"opus", []int{1}},
		{"pus", []int{1, 2}},
		{"ops", []int{0, 1, 2}}, // there is nothing better
		{"aco", []int{1, 0}},
		{"", []int{0, 1, 2}},
	}
	for _, tt := range tests {
		if got := NewIndex(texts).Best(tt.typed, 9); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, want %v", tt.typed, got, tt.want)
		}
	}
}

func TestALongTextIsFoundByAllOfIt(t *testing.T) {
	long := strings.Repeat("a b", longestTyped)
	x := NewIndex([]string{"x" + long, long, "a"})
	if got := x.Find(long, 9); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("found %v, want [1 0]", got)
	}
	if got := covered("x"+long, Spans("x"+long, long)); got != long {
		t.Errorf("the spans of a long text are %d bytes, want %d", len(got), len(long))
	}
}

func TestSpans(t *testing.T) {
	tests := []struct{ text, typed, want string }{
		{"model", "mo", "[mo]del"},
		{"file_test", "ft", "[f]ile_[t]est"},
		{"agent/tool/bash.go", "tool", "agent/[tool]/bash.go"},
		{"agent/agent.go", "agent", "[agent]/agent.go"},
		{"atool", "tool", "a[tool]"},
		{"Mu\u0308ller", "ü", "M[u\u0308]ller"},
		{"Müller", "u", "M[ü]ller"}, // an accent is not cut from its letter
		{"日本語", "日語", "[日]本[語]"},
		{"model", "x", "model"},
		{"model", "", "model"},
	}
	for _, tt := range tests {
		if got := marked(tt.text, Spans(tt.text, tt.typed)); got != tt.want {
			t.Errorf("%q in %q: %s, want %s", tt.typed, tt.text, got, tt.want)
		}
	}
}

func TestWordSpans(t *testing.T) {
	tests := []struct{ text, query, want string }{
		{"flaky test TestResume", "test fl", "[fl]aky [test] [Test]Resume"},
		{"aaa", "aa", "[aaa]"},
		{"abcd", "bc ab", "[abc]d"},
		{"Müller", "MU\u0308", "[Mü]ller"},
		{"row", "", "row"},
		{"row", "x", "row"},
	}
	for _, tt := range tests {
		if got := marked(tt.text, WordSpans(tt.text, Words(tt.query))); got != tt.want {
			t.Errorf("%q in %q: %s, want %s", tt.query, tt.text, got, tt.want)
		}
	}
}

// marked puts brackets around the spans of a text.
func marked(text string, spans []Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.Start] + "[" + text[s.Start:s.End] + "]")
		at = s.End
	}
	return b.String() + text[at:]
}

// covered is what the spans of a text cover.
func covered(text string, spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(text[s.Start:s.End])
	}
	return b.String()
}

// hasInOrder is the oracle of what an index may find.
func hasInOrder(text, typed string) bool {
	plain := func(s string) []rune { return []rune(norm.NFD.String(strings.ReplaceAll(s, "İ", "i"))) }
	left := plain(typed)
	for _, r := range plain(text) {
		if len(left) > 0 && strings.EqualFold(string(r), string(left[0])) {
			left = left[1:]
		}
	}
	return len(left) == 0
}

func FuzzFoundHasWhatWasTyped(f *testing.F) {
	for _, seed := range [][3]string{{"agent/tool.go", "Müller", "at"}, {"日本語", "x", "語"}, {"\xff", "\u212a", "k"}, {"İ", "ς", "σ"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, one, two, typed string) {
		if len(one+two+typed) > 100 || !utf8.ValidString(one+two+typed) || !orderedMarks(one) || !orderedMarks(two) || !orderedMarks(typed) {
			return
		}
		texts := []string{one, two, one + "/" + two}
		x := NewIndex(texts)
		for n := range []rune(typed) { // key by key
			x.Find(string([]rune(typed)[:n]), 3)
		}
		found := x.Find(typed, 3)
		for i, text := range texts {
			if want := hasInOrder(text, typed); slices.Contains(found, i) != want {
				t.Errorf("%q in %q: %v, want %v", typed, text, !want, want)
			}
			if spans := Spans(text, typed); slices.Contains(found, i) && !hasInOrder(covered(text, spans), typed) {
				t.Errorf("the spans of %q in %q are %v", typed, text, spans)
			}
		}
	})
}

// orderedMarks reports whether the accents of a text stay where they are when it is
// written in its standard form. Those that do not are folded one by one here and in
// order there.
func orderedMarks(s string) bool {
	var each strings.Builder
	for _, r := range s {
		each.WriteString(norm.NFD.String(string(r)))
	}
	return each.String() == norm.NFD.String(s)
}

func FuzzFilterIsTheSameKeyByKey(f *testing.F) {
	f.Add("flaky test\n22 h", "te fl")
	f.Add("Müller\x00", "ÜL  m")
	f.Fuzz(func(t *testing.T, row, query string) {
		if len(row+query) > 100 {
			return
		}
		rows := []string{row, query, row + " " + query, ""}
		text := func(i int) string { return rows[i] }
		typed := NewFilter(len(rows), text)
		for i := range query {
			typed.Find(query[:i])
		}
		got := typed.Find(query)
		if want := NewFilter(len(rows), text).Find(query); !slices.Equal(got, want) {
			t.Errorf("%q finds %v key by key, %v at once", query, got, want)
		}
		if strings.TrimSpace(query) != "" && !slices.Contains(got, 1) && !strings.Contains(query, "\n") {
			t.Errorf("%q does not find itself", query)
		}
		for _, i := range got {
			if spans := WordSpans(rows[i], Words(query)); len(Words(query)) > 0 && len(spans) == 0 {
				t.Errorf("%q is found in %q and has no spans", query, rows[i])
			}
		}
	})
}

// FuzzPriceIsTheLeast compares the calculation with one that tries every match.
func FuzzPriceIsTheLeast(f *testing.F) {
	f.Add("agent/tool.go", "ato")
	f.Add("fileTest_x", "ftx")
	f.Fuzz(func(t *testing.T, text, typed string) {
		if len(text) > 14 || len(typed) > 4 || typed == "" {
			return
		}
		c := newWide(text, foldText(text))
		want, p := leastPrice(c.wide, foldText(typed).runes, c.prices, 0, false), newPattern(typed)
		if got := priceOf(text, typed); got > pricePrefix && got != want {
			t.Errorf("%q in %q costs %d, want %d", typed, text, got, want)
		}
		paid := int32(0)
		at := matched(c.wide, p.runes, c.prices)
		for i, position := range at {
			if i == 0 || position != at[i-1]+1 {
				paid += int32(c.prices[position])
			}
		}
		if want < noMatch && priceOf(text, typed) > pricePrefix && paid != want {
			t.Errorf("%q in %q is matched at %v for %d, want %d", typed, text, at, paid, want)
		}
	})
}

func leastPrice(text, typed []rune, prices []uint16, from int, inRun bool) int32 {
	if len(typed) == 0 {
		return 0
	}
	least := int32(noMatch)
	for i := from; i < len(text); i++ {
		if text[i] != typed[0] {
			continue
		}
		cost := int32(prices[i])
		if inRun && i == from {
			cost = 0
		}
		least = min(least, cost+leastPrice(text, typed[1:], prices, i+1, true))
	}
	return least
}

// paths makes n paths as a project has them.
func paths(n int) []string {
	parts := []string{"agent", "tool", "repl", "terminal", "session", "message", "completion", "internal", "docs", "testdata"}
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s/%s/%s_%d/%s_%d.go", parts[i%10], parts[i/10%10], parts[i/100%10], i/1000, parts[i/7%10], i%97)
	}
	return list
}

func BenchmarkFilterKey(b *testing.B) {
	rows := paths(10_000)
	for i := range rows {
		rows[i] += "\n" + strings.Repeat("the last words of a session ", 6) + "\n16 msg"
	}
	f := NewFilter(len(rows), func(i int) string { return rows[i] })
	f.Find("x")
	for b.Loop() {
		f.Find("tool words")
		f.Find("session 3")
	}
}

func BenchmarkIndexFirst(b *testing.B) {
	texts := paths(50_000)
	for b.Loop() {
		NewIndex(texts)
	}
}

func BenchmarkIndexKey(b *testing.B) {
	x := NewIndex(paths(50_000))
	for _, typed := range []string{"a", "to", "termgo", "agtobago"} {
		b.Run(typed, func(b *testing.B) {
			for b.Loop() {
				x.Find("?", 100) // so that nothing is known of the search before
				x.Find(typed, 100)
			}
		})
	}
}
