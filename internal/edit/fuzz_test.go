package edit

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pi/internal/printable"
)

// model is the buffer as one would write it without a thought of speed: the plain text as
// clusters and hidden characters, which are found anew after each change.
type model struct {
	clusters []string
	cursor   int
	tokens   []string // texts, in the order in which their signs are in the text
}

// part divides a text into clusters. Line ends and tokens are joined to nothing.
func part(text string) (clusters []string) {
	for i, segment := range strings.Split(text, string(TokenRune)) {
		if i > 0 {
			clusters = append(clusters, string(TokenRune))
		}
		for _, e := range elementsOf(segment) {
			clusters = append(clusters, e.text)
		}
	}
	return clusters
}

func (m *model) plain() string { return strings.Join(m.clusters, "") }

func (m *model) before() string { return strings.Join(m.clusters[:m.cursor], "") }

func (m *model) text() string {
	text, tokens := m.plain(), m.tokens
	for _, t := range tokens {
		text = strings.Replace(text, string(TokenRune), t, 1)
	}
	return text
}

// replace puts a text in the place of clusters, and the cursor behind it.
func (m *model) replace(from, to int, text string, tokens ...string) {
	head := strings.Join(m.clusters[:from], "")
	first := strings.Count(head, string(TokenRune))
	last := first + strings.Count(strings.Join(m.clusters[from:to], ""), string(TokenRune))
	m.tokens = slices.Replace(slices.Clone(m.tokens), first, last, tokens...)
	m.clusters = part(head + text + strings.Join(m.clusters[to:], ""))
	m.cursor = 0
	for n := 0; n < len(head)+len(text); m.cursor++ {
		n += len(m.clusters[m.cursor])
	}
}

// do is the same as Do for the actions that are simple enough.
func (m *model) do(action string) {
	n := len(m.clusters)
	switch action {
	case "left":
		m.cursor = max(0, m.cursor-1)
	case "right":
		m.cursor = min(n, m.cursor+1)
	case "backspace":
		m.replace(max(0, m.cursor-1), m.cursor, "")
	case "delete":
		m.replace(m.cursor, min(n, m.cursor+1), "")
	case "newline":
		m.replace(m.cursor, m.cursor, "\n")
	case "text_start":
		m.cursor = 0
	case "text_end":
		m.cursor = n
	case "row_start":
		if from := m.lineStart(); from < m.cursor {
			m.cursor = from
		} else {
			m.cursor = 0
		}
	case "row_end":
		if to := m.lineEnd(); to > m.cursor {
			m.cursor = to
		} else {
			m.cursor = n
		}
	case "kill_row_start":
		m.replace(min(m.lineStart(), max(0, m.cursor-1)), m.cursor, "")
	case "kill_row_end":
		m.replace(m.cursor, max(m.lineEnd(), min(n, m.cursor+1)), "")
	}
}

func (m *model) lineStart() int {
	for i := m.cursor; i > 0; i-- {
		if m.clusters[i-1] == "\n" {
			return i
		}
	}
	return 0
}

func (m *model) lineEnd() int {
	for i := m.cursor; i < len(m.clusters); i++ {
		if m.clusters[i] == "\n" {
			return i
		}
	}
	return len(m.clusters)
}

func modelActions() []string {
	return []string{"left", "right", "backspace", "delete", "newline", "text_start", "text_end", "row_start", "row_end",
		"kill_row_start", "kill_row_end"}
}

// fuzzTexts are typed and pasted: what combines, and what does not.
func fuzzTexts() []string {
	return []string{"a", "word ", "日本", "e", "\u0301", "🇩", "🇪🇫", "👨", "\u200d", "👩", "\ufe0f", "1", "\u20e3", "\t", "\x1b[0m", "क", "्", "ष",
		"x\ny", "\n", "1\n2\n3\n4", "한", "ᄀ", "ᅡ", "\u202e", "\xff", "\u00ad", "Z",
		"\U000e0041", "\ue0b0", "\u200c", "\u06cc", "❤", "a\U000e0042\u0301"}
}

// run gives the same edits to a buffer and to a model.
func run(t *testing.T, script []byte) {
	b, m := New(), &model{}
	texts, simple, all := fuzzTexts(), modelActions(), Actions()
	for i := 0; i+1 < len(script); i += 2 {
		n := int(script[i+1])
		switch script[i] % 8 {
		case 0, 1, 2:
			text := texts[n%len(texts)]
			b.Insert(text)
			m.replace(m.cursor, m.cursor, strings.ToValidUTF8(text, "\ufffd"))
		case 3:
			text := texts[n%len(texts)]
			b.Paste(text)
			if strings.Count(text, "\n") == 3 {
				m.replace(m.cursor, m.cursor, string(TokenRune), text)
			} else {
				m.replace(m.cursor, m.cursor, strings.ToValidUTF8(text, "\ufffd"))
			}
		case 4, 5:
			action := simple[n%len(simple)]
			b.Do(action)
			m.do(action)
		case 6: // those that the model does not know: it goes on with what came of them
			b.Do(all[n%len(all)])
			*m = modelOf(b)
		case 7:
			if n%4 == 0 {
				b.Restore(b.Save())
			} else {
				b.Prepend(Draft{Text: texts[n%len(texts)]})
			}
			*m = modelOf(b)
		}
		plain, cursor := b.Plain()
		if plain != m.plain() || plain[:cursor] != m.before() || b.Text() != m.text() {
			t.Fatalf("after %d of %v: %q, want %q with the text %q", i/2, script, marked(b), m.before()+"|"+m.plain()[len(m.before()):], m.text())
		}
		checkElements(t, b)
		checkLayout(t, b, 1+n%12)
	}
	checkUndo(t, b)
}

func modelOf(b *Buffer) model {
	plain, cursor := b.Plain()
	m := model{clusters: part(plain)}
	for _, t := range b.text.tokens() {
		m.tokens = append(m.tokens, t.text)
	}
	for n := 0; n < cursor; m.cursor++ {
		n += len(m.clusters[m.cursor])
	}
	return m
}

// checkElements holds that the elements are the clusters of the text, and that each hidden
// character is one of its own, unless it belongs to what is seen.
func checkElements(t *testing.T, b *Buffer) {
	t.Helper()
	plain, _ := b.Plain()
	var got []string
	b.text.each(place{}, b.text.end(), func(e element) { got = append(got, e.plain()) })
	if want := part(plain); !slices.Equal(got, want) {
		t.Fatalf("the elements are %q, want %q", got, want)
	}
	var hidden, alone []rune
	for line := range strings.SplitSeq(plain, "\n") {
		runes, before := []rune(line), rune(0)
		for i, r := range runes {
			if after := append(runes, 0)[i+1]; isHidden(r) && !printable.Belongs(before, r, after) {
				hidden = append(hidden, r)
				r = utf8.RuneError
			}
			before = r
		}
	}
	for _, text := range got {
		if r, n := utf8.DecodeRuneInString(text); n == len(text) && isHidden(r) {
			alone = append(alone, r)
		} else if strings.ContainsFunc(text, isHidden) && !strings.ContainsAny(text, "\u200c\u200d\ufe0e\ufe0f") {
			t.Fatalf("%q hides something", text)
		}
	}
	for _, r := range hidden { // a joiner that begins a line may belong to what is behind it, and is one too
		i := slices.Index(alone, r)
		if i < 0 {
			t.Fatalf("of %q %q are elements of their own, want %q", got, alone, hidden)
		}
		alone = slices.Delete(alone, i, i+1)
	}
}

// checkUndo holds that undo ends at the beginning, that redo comes back, and that a draft
// is the text.
func checkUndo(t *testing.T, b *Buffer) {
	t.Helper()
	for b.Do("redo") {
	}
	end, _ := b.Plain()
	steps := 0
	for b.Do("undo") {
		steps++
	}
	if !b.Empty() || b.cursor != (place{}) {
		t.Fatalf("%d steps of undo end at %q", steps, marked(b))
	}
	for b.Do("redo") {
		steps--
	}
	if plain, _ := b.Plain(); steps != 0 || plain != end || b.Save().Text != b.Text() {
		t.Fatalf("redo comes to %q, want %q", plain, end)
	}
}

func FuzzBuffer(f *testing.F) {
	f.Add([]byte("0a1b2c3d4e5f6g7h"))
	f.Add([]byte{0, 5, 0, 6, 4, 0, 4, 2, 0, 6, 6, 20})
	f.Add([]byte{0, 7, 0, 8, 0, 9, 4, 0, 4, 2, 3, 20, 3, 20, 4, 2, 7, 4})
	f.Add([]byte{0, 1, 0, 1, 6, 3, 6, 3, 6, 30, 6, 31, 6, 25, 6, 26, 6, 18})
	f.Fuzz(func(t *testing.T, script []byte) {
		run(t, script[:min(len(script), 200)])
	})
}
