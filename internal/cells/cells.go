// Package cells measures, cuts and wraps text in the cells of a terminal. Letters take
// one cell, the characters of East Asia and emoji two, marks that combine with the
// character before them none. What a user counts as one character is one cluster and is
// never divided: a letter with its accents, a flag, a family of emoji.
//
//	Width(s)                   the cells that a text takes
//	Clusters(s)                the characters of a text without colours, and their cells
//	Pieces(s)                  the same for a text that has colours
//	Cut(s, columns)            a line made to fit, with … where something is missing
//	Wrap(s, columns)           a text in rows, broken between words
//	Hang(s, columns, f, r)     the same with a prefix for the first row and one for the others
//	NewWrapper(columns, f, r)  the same for a text that arrives in parts
//	Pad(s, columns)            blanks up to a width, behind the text or (PadLeft) before it
//	ExpandTabs(s, stop)        tabs as blanks up to the next multiple of stop
//
// Colours (SGR sequences) and links (OSC 8) take no cells. Cut and Wrap end in each row
// what is open there, and the next row begins it again, so that a row may be shown or
// painted over without its neighbours. They drop other sequences and an ESC that begins
// none: call printable first where the text is not our own.
//
// Widths are those of terminals that know clusters, and do not depend on the locale: a
// character of ambiguous width takes one cell. A tab takes one cell, and Cut, Wrap and
// Hang write it as a blank; call ExpandTabs first where it means more. Other control
// characters take none. The package knows nothing of the rest of the program.
package cells

import (
	"iter"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
)

const (
	esc           = 0x1b
	emojiSelector = "\ufe0f" // what precedes it is shown as an emoji, which is wide
)

// Width returns how many cells a text takes, colours and links aside.
func Width(s string) int {
	if n := plain(s); n == len(s) {
		return n
	}
	if strings.IndexByte(s, esc) < 0 {
		return plainWidth(s)
	}
	width := 0
	for _, w := range Pieces(s) {
		width += w
	}
	return width
}

// plain counts the leading bytes that are printable ASCII, each a cell wide.
func plain(s string) int {
	for i := range len(s) {
		if s[i]-' ' >= 0x7f-' ' {
			return i
		}
	}
	return len(s)
}

// plainWidth is Width for a text without sequences.
func plainWidth(s string) int {
	if !strings.Contains(s, emojiSelector) {
		return narrow().StringWidth(s) + strings.Count(s, "\t")
	}
	width := 0
	for _, w := range Clusters(s) {
		width += w
	}
	return width
}

// narrow measures without a look at the environment: ambiguous characters are narrow.
func narrow() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// Clusters yields the grapheme clusters of a text and the cells that each takes. It knows
// no sequences: an ESC is a control character, which takes none, and so is a line end.
func Clusters(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) { split(s, false, yield) }
}

// Pieces yields the clusters of a text that may have colours, and each sequence as a
// piece of its own that takes no cells.
func Pieces(s string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) { split(s, true, yield) }
}

func split(s string, sequences bool, yield func(string, int) bool) {
	text := s
	if endsShort(s) {
		text += "\x00\x00\x00" // the segmenter wants all bytes that were announced
	}
	g := graphemes.FromString(text)
	g.AnsiEscapeSequences = sequences
	for g.Next() && g.Start() < len(s) {
		piece := s[g.Start():min(g.End(), len(s))]
		if !yield(piece, pieceWidth(piece, sequences)) {
			return
		}
	}
}

// endsShort reports whether s ends within a character: near its end is a byte that
// announces more bytes than there are.
func endsShort(s string) bool {
	for left := 1; left <= min(3, len(s)); left++ {
		if b := s[len(s)-left]; b >= 0xc0 && bits.LeadingZeros8(^b) > left {
			return true
		}
	}
	return false
}

func pieceWidth(piece string, sequences bool) int {
	first, size := utf8.DecodeRuneInString(piece)
	switch {
	case first == '\t':
		return 1
	case sequences && first == esc:
		return 0
	case size == len(piece):
		return narrow().RuneWidth(first)
	}
	width := narrow().StringWidth(piece)
	becomesEmoji := first >= 0x203c || first >= '0' && first <= '9' || strings.ContainsRune("#*©®", first)
	if width == 1 && becomesEmoji && strings.Contains(piece, emojiSelector) {
		return 2
	}
	return width
}

// Pad appends blanks to a text so that it takes at least so many columns.
func Pad(s string, columns int) string { return s + blanks(columns-Width(s)) }

// PadLeft puts blanks before a text so that it takes at least so many columns.
func PadLeft(s string, columns int) string { return blanks(columns-Width(s)) + s }

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// ExpandTabs writes tabs as blanks: each reaches to the next column that is a multiple of
// stop. Columns are counted from the beginning of each line.
func ExpandTabs(s string, stop int) string {
	if stop < 1 || strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var out strings.Builder
	column := 0
	for len(s) > 0 {
		i := strings.IndexAny(s, "\t\n")
		if i < 0 {
			i = len(s)
		}
		out.WriteString(s[:i])
		column += Width(s[:i])
		switch {
		case i == len(s):
			return out.String()
		case s[i] == '\n':
			out.WriteByte('\n')
			column = 0
		default:
			n := stop - column%stop
			out.WriteString(blanks(n))
			column += n
		}
		s = s[i+1:]
	}
	return out.String()
}
