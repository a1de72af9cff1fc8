package tool

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a text rewritten for comparison, with the way back to the original.
// It consists of units: byte i of text belongs to a unit that stands for the
// bytes from[i] up to to[i] of the original.
type view struct {
	text     []byte
	from, to []int32
	length   int // of the original
}

// maxView bounds the texts that are rewritten: a view takes nine bytes a byte.
const maxView = 16 << 20

// add appends a unit that stands for the bytes from up to to of the original.
func (v *view) add(unit string, from, to int) {
	for i := range len(unit) {
		v.text = append(v.text, unit[i])
		v.from = append(v.from, int32(from))
		v.to = append(v.to, int32(to))
	}
}

// starts reports whether a unit starts at byte i of the view.
func (v *view) starts(i int) bool {
	return i == 0 || i == len(v.text) || v.from[i] != v.from[i-1]
}

// startAt is where byte i of the view starts in the original. At the start of a
// line it is the start of the original's, before spaces that were dropped.
func (v *view) startAt(i int, ofLine bool) int {
	switch {
	case ofLine && i > 0:
		return int(v.to[i-1])
	case i < len(v.text):
		return int(v.from[i])
	}
	return v.length
}

// endOfLine is where the line whose text ends before byte i of the view ends in
// the original, spaces that were dropped included.
func (v *view) endOfLine(i int) int {
	if i < len(v.text) {
		return int(v.from[i])
	}
	return v.length
}

// lineEndings returns a view of a text in which \r\n is \n.
func lineEndings(s string) *view {
	v := newView(len(s))
	for i := 0; i < len(s); {
		n := 1
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		v.add(s[i+n-1:i+n], i, i+n)
		i += n
	}
	return v
}

// tolerant views a text without what models do not see: in NFC, with plain
// quotes, dashes, spaces and line endings, and without spaces at line ends.
func tolerant(s string) *view {
	v := newView(len(s))
	for i := 0; i < len(s); {
		switch n := unitLength(s[i:]); {
		case s[i] == '\n' || strings.HasPrefix(s[i:], "\r\n"):
			v.trimLine()
			v.add("\n", i, i+n)
			i += n
		case n == 1 && s[i] < utf8.RuneSelf:
			v.add(s[i:i+1], i, i+1)
			i++
		default:
			v.add(fold(s[i:i+n]), i, i+n)
			i += n
		}
	}
	v.trimLine()
	return v
}

func newView(n int) *view {
	return &view{text: make([]byte, 0, n), from: make([]int32, 0, n), to: make([]int32, 0, n), length: n}
}

// trimLine takes spaces and tabs off the end of the view, that is of its last line.
func (v *view) trimLine() {
	n := len(v.text)
	for n > 0 && (v.text[n-1] == ' ' || v.text[n-1] == '\t') {
		n--
	}
	v.text, v.from, v.to = v.text[:n], v.from[:n], v.to[:n]
}

// unitLength is the length of the first character of s with its combining
// marks. Line ends take no marks.
func unitLength(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	if s[0] == '\n' || len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1
	}
	return max(1, norm.NFC.NextBoundaryInString(s, true))
}

// fold rewrites a text in NFC with plain quotes, dashes and spaces. A text that is
// not UTF-8 stays as it is.
func fold(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return strings.Map(plainRune, norm.NFC.String(s))
}

// plainRune returns the plain form of a quote, a dash or a space, and any other
// character as it is.
func plainRune(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		return '\''
	case '“', '”', '„', '‟', '″':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	case '\u00A0', '\u202F', '\u205F', '\u3000':
		return ' '
	}
	if r >= '\u2000' && r <= '\u200A' {
		return ' '
	}
	return r
}

// similarity compares two texts by the pairs of neighbouring bytes they share: 0 for
// nothing in common, 1 for the same pairs.
func similarity(a, b string) float64 {
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := make(map[[2]byte]int, len(a))
	for i := range len(a) - 1 {
		pairs[[2]byte{a[i], a[i+1]}]++
	}
	shared := 0
	for i := range len(b) - 1 {
		if p := ([2]byte{b[i], b[i+1]}); pairs[p] > 0 {
			pairs[p]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b)-2)
}

// oneLine shows a name that may have line breaks as one line.
func oneLine(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(name)
}
