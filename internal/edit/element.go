package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"pi/internal/cells"
)

// element is one character as a person counts them, a line end, or a token.
type element struct {
	text   string // the cluster; "\n" is a line end; "" for a token
	token  *token
	width  int // cells; that of a tab depends on where it is
	origin origin
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

// elementsOf divides a text into elements.
func elementsOf(text string) []element {
	elements := make([]element, 0, len(text))
	for cluster, width := range cells.Clusters(text) {
		elements = append(elements, element{text: cluster, width: shownWidth(cluster, width)})
	}
	return elements
}

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

// signOf is what is drawn in the place of a cluster that is a control character, turns
// the direction of what follows, or has no width, so that the cursor would have no cell.
// A tab is drawn as blanks elsewhere.
func signOf(cluster string, width int) (string, bool) {
	r, n := utf8.DecodeRuneInString(cluster)
	switch {
	case r == '\t' || r == '\n':
		return "", false
	case r < ' ':
		return string('\u2400' + r), true
	case r == 0x7f:
		return "\u2421", true
	case r >= 0x80 && r < 0xa0, turnsDirection(r), width <= 0 && n == len(cluster) && !unicode.IsMark(r):
		return "\ufffd", true
	case width <= 0:
		return "\u25cc" + cluster, true
	}
	return "", false
}

// turnsDirection reports whether a character changes the order in which others are shown.
func turnsDirection(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x206f
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
