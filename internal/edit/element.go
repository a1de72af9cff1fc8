package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pi/internal/cells"
	"pi/internal/printable"
)

// element is one character as a user counts them, one that nobody would see, a line end,
// or a token.
type element struct {
	text   string // the cluster, or a part of it; "\n" is a line end; "" for a token
	token  *token
	width  int // cells; that of a tab depends on where it is
	origin origin
	within bool // it is a part of the same cluster as the element before it
}

// token is a text that is shown as a label.
type token struct {
	label, text string
	named       bool // the label is not that of a paste
}

// TokenRune stands for a token in [Buffer.Plain].
const TokenRune = '\ufffc'

const (
	tabStop    = 4
	pasteLines = 3    // lines of a paste that is put into the text as it is
	pasteRunes = 1000 // its characters
)

func lineEnd() element { return element{text: "\n"} }

func tokenElement(t *token) element { return element{token: t, width: cells.Width(t.label)} }

func (e element) isLineEnd() bool { return e.text == "\n" }

// exact is the text that an element stands for.
func (e element) exact() string {
	if e.token != nil {
		return e.token.text
	}
	return e.text
}

// plain is the text of an element with TokenRune for a token.
func (e element) plain() string {
	if e.token != nil {
		return string(TokenRune)
	}
	return e.text
}

func (e element) textSize() int { return len(e.exact()) }

func (e element) plainSize() int {
	if e.token != nil {
		return utf8.RuneLen(TokenRune)
	}
	return len(e.text)
}

// elementsOf divides a text into elements: each cluster is one, unless there are characters
// in it that nobody would see.
func elementsOf(text string) []element {
	elements := make([]element, 0, len(text))
	for cluster, width := range cells.Clusters(text) {
		text = text[len(cluster):]
		if len(cluster) == 1 {
			elements = append(elements, element{text: cluster, width: shownWidth(cluster, width)})
			continue
		}
		after, _ := utf8.DecodeRuneInString(text)
		elements = appendParts(elements, cluster, width, after)
	}
	return elements
}

// appendParts appends a cluster: as one element, or, where characters in it are hidden, each
// of these as one, so that none is in the text without a user seeing it, and what is between
// them. after is the character behind the cluster: a joiner may belong to that.
func appendParts(elements []element, cluster string, width int, after rune) []element {
	first, begin, before := len(elements), 0, rune(0)
	part := func(text string) {
		for c, w := range cells.Clusters(text) {
			elements = append(elements, element{text: c, width: shownWidth(c, w), within: len(elements) > first})
		}
	}
	for i, r := range cluster {
		end, next := i+utf8.RuneLen(r), after
		if end < len(cluster) {
			next, _ = utf8.DecodeRuneInString(cluster[end:])
		}
		if !isHidden(r) || printable.Belongs(before, r, next) {
			before = r
			continue
		}
		before = utf8.RuneError // nothing belongs to what is not seen
		part(cluster[begin:i])
		part(cluster[i:end])
		begin = end
	}
	if begin == 0 {
		return append(elements, element{text: cluster, width: shownWidth(cluster, width)})
	}
	part(cluster[begin:])
	return elements
}

// isHidden reports whether nobody would see a character. Controls have signs of their own.
func isHidden(r rune) bool { return r >= 0xa0 && printable.Hidden(r) }

// shownWidth is the width of what is drawn for a cluster of some width.
func shownWidth(cluster string, width int) int {
	if sign, ok := signOf(cluster, width); ok {
		return cells.Width(sign)
	}
	return width
}

// sign is what is drawn for a cluster: itself, or something for what cannot be seen.
func (e element) sign() string {
	if e.text[0] >= ' ' && e.text[0] < 0x7f {
		return e.text
	}
	if sign, ok := signOf(e.text, cells.Width(e.text)); ok {
		return sign
	}
	return e.text
}

// cut is what is drawn of an element in so many cells, which are too few for it.
func (e element) cut(width int) string {
	if sign := e.sign(); sign != e.text {
		return cells.Cut(sign, width)
	}
	return "?" // a wide character where there is only one cell
}

// signOf is what is drawn in the place of a cluster that is a control character, a hidden
// one, or has no width, so that the cursor would have no cell. A tab is drawn as blanks
// elsewhere.
func signOf(cluster string, width int) (string, bool) {
	r, n := utf8.DecodeRuneInString(cluster)
	switch {
	case r == '\t' || r == '\n':
		return "", false
	case r < ' ':
		return string('\u2400' + r), true
	case r == 0x7f:
		return "\u2421", true
	case r >= 0x80 && r < 0xa0:
		return "\ufffd", true
	case n == len(cluster) && (isHidden(r) || width <= 0 && !unicode.IsMark(r)):
		return fmt.Sprintf("<U+%04X>", r), true
	case width <= 0:
		return "\u25cc" + cluster, true
	}
	return "", false
}

// normal is a text as the buffer has it: LF ends lines, and the UTF-8 is valid.
func normal(text string) string {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// isLarge reports whether a text has more than these lines or characters.
func isLarge(text string, lines, runes int) bool {
	return lineCount(text) > lines || len(text) > runes && utf8.RuneCountInString(text) > runes
}

// lineCount is the number of lines of a text. A line end at its end begins no other.
func lineCount(text string) int { return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1 }

// newToken makes a token for a text; without a label it is that of a paste, with the next
// number.
func (b *Buffer) newToken(label, text string) element {
	t := &token{label: label, text: text, named: label != ""}
	if !t.named {
		t.label = fmt.Sprintf("[paste #%d: %s, %s]", b.pastes()+1, counted(lineCount(text), "line"), byteSize(len(text)))
	}
	b.known = append(b.known, t)
	return tokenElement(t)
}

// pastes counts the tokens that have a number.
func (b *Buffer) pastes() (n int) {
	for _, t := range b.known {
		if !t.named {
			n++
		}
	}
	return n
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func byteSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
