package tool

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// change replaces the bytes start to end of a text.
type change struct {
	start, end int
	text       string
	edit       int  // which edit asked for it
	tolerant   bool // what is replaced looks like the old text but is not the same
}

// matcher finds places in one text. The views are built when first needed.
type matcher struct {
	body             string
	endings, lenient *view
}

// replacement is one edit: old text, new text, and whether every place counts.
type replacement struct {
	old, new string
	all      bool
}

// find returns the changes that an edit asks for: exact matches if there are
// any, else the ones that differ by line endings, else the ones that look the
// same. Unless r.all, there is one or an error.
func (m *matcher) find(r replacement) ([]change, error) {
	for _, look := range []func(replacement) []change{m.exact, m.sameButEndings, m.sameToTheEye} {
		found := look(r)
		switch {
		case len(found) == 0:
			continue
		case r.all:
			return disjoint(found), nil
		case len(found) > 1:
			return nil, m.ambiguous(found)
		}
		return found, nil
	}
	return nil, missing(m.body, r.old)
}

// exact finds the places that are the old text byte for byte. Unless the old text says
// which line endings it means, the new text gets those of the file.
func (m *matcher) exact(r replacement) []change {
	var found []change
	verbatim := strings.Contains(r.old, "\r")
	for _, at := range occurrences(m.body, r.old) {
		// A match that starts at the second half of a line ending would
		// leave the first half behind; it is found by sameButEndings.
		if !verbatim && r.old[0] == '\n' && at > 0 && m.body[at-1] == '\r' {
			continue
		}
		c := change{start: at, end: at + len(r.old), text: r.new}
		if !verbatim {
			c.text = m.withEndings(r.new, c.start, c.end)
		}
		found = append(found, c)
	}
	return found
}

// sameButEndings finds the places that differ from the old text in line endings at most.
func (m *matcher) sameButEndings(r replacement) []change {
	if len(m.body) > maxView || !strings.Contains(m.body, "\r\n") && !strings.Contains(r.old, "\r\n") {
		return nil
	}
	if m.endings == nil {
		m.endings = lineEndings(m.body)
	}
	v, old := m.endings, strings.ReplaceAll(r.old, "\r\n", "\n")
	var found []change
	for _, at := range occurrences(string(v.text), old) {
		c := change{start: int(v.from[at]), end: int(v.to[at+len(old)-1])}
		c.text = m.withEndings(r.new, c.start, c.end)
		found = append(found, c)
	}
	return found
}

// sameToTheEye finds the places that look like the old text: they differ from it in quotes,
// dashes, spaces, line endings and Unicode form at most.
func (m *matcher) sameToTheEye(r replacement) []change {
	if len(m.body) > maxView || len(r.old) > maxView {
		return nil
	}
	old := tolerant(r.old)
	if len(bytes.TrimSpace(old.text)) == 0 {
		return nil
	}
	if m.lenient == nil {
		m.lenient = tolerant(m.body)
	}
	v := m.lenient
	// Spaces that were dropped at the end of the old text were at a line end.
	spaced := int(old.to[len(old.text)-1]) < old.length
	var found []change
	for _, at := range occurrences(string(v.text), string(old.text)) {
		end := at + len(old.text)
		atEnd := end == len(v.text) || v.text[end] == '\n'
		if !v.starts(at) || !v.starts(end) || spaced && !atEnd {
			continue
		}
		found = append(found, m.tolerantChange(r, at, end, spaced))
	}
	return found
}

// tolerantChange is the change for the tolerant match from at to end of the view. Whole
// lines that old and new text have in common, at their beginning and end, stay in the
// file byte for byte.
func (m *matcher) tolerantChange(r replacement, at, end int, spaced bool) change {
	v := m.lenient
	old, text := strings.ReplaceAll(r.old, "\r\n", "\n"), strings.ReplaceAll(r.new, "\r\n", "\n")
	head := commonLines(old, text)
	tail := commonTail(old[head:], text[head:])
	stop := end
	for range strings.Count(old[:head], "\n") {
		at += bytes.IndexByte(v.text[at:], '\n') + 1
	}
	for range strings.Count(old[len(old)-tail:], "\n") {
		stop = bytes.LastIndexByte(v.text[:stop], '\n')
	}
	c := change{start: v.startAt(at, head > 0), text: text[head : len(text)-tail], tolerant: true}
	switch {
	case stop == at && strings.HasSuffix(c.text, "\n"):
		c.end = c.start // whole lines are put between others
	case tail > 0 || spaced:
		c.end = v.endOfLine(stop)
	case stop > at:
		c.end = int(v.to[stop-1])
	}
	c.end = max(c.end, c.start)
	c.text = m.withEndings(c.text, c.start, c.end)
	return c
}

// commonLines is the length of the whole lines at the beginning of both texts.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + strings.LastIndexByte(a[:n], '\n')
}

// commonTail is the length of the whole lines, each with the line ending before
// it, at the end of both texts.
func commonTail(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if i := strings.IndexByte(a[len(a)-n:], '\n'); i >= 0 {
		return n - i
	}
	return 0
}

// withEndings gives new text the line endings of the place it goes to: those
// between start and end, else of the line there, else of the line before.
func (m *matcher) withEndings(text string, start, end int) string {
	at := strings.IndexByte(m.body[start:], '\n') + start
	if at < start {
		at = strings.LastIndexByte(m.body[:end], '\n')
	}
	if at < 0 || !strings.Contains(text, "\n") {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if at > 0 && m.body[at-1] == '\r' {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// occurrences returns where old is in text, overlapping places included:
// of "aa" in "aaa" it is not clear which is meant.
func occurrences(text, old string) []int {
	var at []int
	for from := 0; from <= len(text)-len(old); {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + 1
	}
	return at
}

// disjoint returns the changes without those that overlap an earlier one.
func disjoint(found []change) []change {
	apart := found[:0]
	end := 0
	for _, c := range found {
		if c.start >= end {
			apart = append(apart, c)
			end = c.end
		}
	}
	return apart
}

// line is the number of the line that byte at is on.
func (m *matcher) line(at int) int { return 1 + strings.Count(m.body[:at], "\n") }

// lines names the lines of the text that a change replaces.
func (m *matcher) lines(c change) string {
	first, last := m.line(c.start), m.line(max(c.start, c.end-1))
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, last)
}

// listedPlaces is how many places an error names.
const listedPlaces = 10

// ambiguous is the error for an old text that is in several places. It names their
// lines.
func (m *matcher) ambiguous(found []change) error {
	where := make([]string, 0, listedPlaces)
	for _, c := range found[:min(len(found), listedPlaces)] {
		where = append(where, fmt.Sprint(m.line(c.start)))
	}
	more := ""
	if len(found) > listedPlaces {
		more = ", …"
	}
	alike := ""
	if found[0].tolerant {
		alike = " (none exactly, but all look the same)"
	}
	return fmt.Errorf("oldText stands in %d places, on lines %s%s%s; add lines around it until it is unique, or set replaceAll",
		len(found), strings.Join(where, ", "), more, alike)
}

// apply makes the changes, which must not overlap, and returns the new text.
func (m *matcher) apply(changes []change) string {
	var b strings.Builder
	done := 0
	for _, c := range changes {
		b.WriteString(m.body[done:c.start])
		b.WriteString(c.text)
		done = c.end
	}
	b.WriteString(m.body[done:])
	return b.String()
}

// sortChanges sorts the changes by their place, and fails if two overlap.
func (m *matcher) sortChanges(changes []change) error {
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].start < changes[j].start })
	for i := 1; i < len(changes); i++ {
		a, b := changes[i-1], changes[i]
		if b.start < a.end || b.start == a.start && b.edit != a.edit {
			return fmt.Errorf("edits[%d] (%s) and edits[%d] (%s) overlap; make one edit of them",
				min(a.edit, b.edit), m.lines(a), max(a.edit, b.edit), m.lines(b))
		}
	}
	return nil
}

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
