package cells

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text into rows that take at most so many columns: at its line ends,
// between words, and beside characters of East Asia, but not before a closing or behind
// an opening punctuation mark. A word that is longer than a row is broken between
// clusters; only a single cluster that is wider than a row makes a row too wide. Blanks
// at the end of a row are dropped, those at the beginning of a line stay if the first
// word fits behind them. With 0 columns or less only line ends end rows.
func Wrap(s string, columns int) []string { return Hang(s, columns, "", "") }

// Hang is Wrap with a prefix before the first row and one before each other row. A prefix
// counts, and has at most half of the columns: of a longer one the end is shown. It has to
// end the colours that it begins.
func Hang(s string, columns int, first, rest string) []string {
	w := wrapper{columns: columns, prefix: first, rest: rest}
	if columns > 0 {
		most := max(0, min(columns/2, columns-2)) // a wide character has room behind it
		w.prefix, w.rest = keepEnd(first, most), keepEnd(rest, most)
	}
	w.pens = append(w.pens, pen{})
	for line := range strings.SplitSeq(s, "\n") {
		w.begin()
		w.read(strings.TrimSuffix(line, "\r"))
		w.endRow()
	}
	return w.rows
}

// wrapper reads a text once and writes its rows. The text of a word waits until its end
// is known, and the blanks before it until it is known whether it fits behind them.
type wrapper struct {
	columns      int
	prefix, rest string // of the row that is written, and of those behind it
	rows         []string

	row       []byte
	used      int // cells of the row, its prefix included
	head      int // cells of its prefix
	headBytes int
	have      int // what is set at the end of row, by its place in pens

	pens       []pen // all that the text sets, one after the other; the first sets nothing
	gap, word  []run
	gapWidth   int
	wordWidth  int
	last       string // the cluster read last in this line; "" behind a blank
	lastIsWide bool
}

// run is a piece of text in one colour.
type run struct {
	text  string
	width int
	pen   int // its place in pens
}

// read writes a line. Plain letters are read by the word, all else by the piece.
func (w *wrapper) read(s string) {
	for len(s) > 0 {
		n := plainWord(s)
		switch {
		case n > 0 && !w.lastIsWide:
			w.addWord(s[:n], n)
			w.last = s[n-1 : n]
		case s[0] == ' ' && (len(s) == 1 || s[1] < utf8.RuneSelf):
			n = 1
			w.addGap()
		default:
			n = w.readPieces(s)
		}
		s = s[n:]
	}
	w.place()
	w.gap, w.gapWidth = w.gap[:0], 0
	w.last, w.lastIsWide = "", false
}

// plainWord counts the leading bytes that are letters of ASCII and cannot be part of a
// cluster with what follows.
func plainWord(s string) int {
	n := 0
	for n < len(s) && s[n]-'!' < 0x7f-'!' {
		n++
	}
	if n < len(s) && s[n] >= utf8.RuneSelf {
		n--
	}
	return n
}

// readPieces reads up to where a plain word or a blank may begin, and returns how far it
// read.
func (w *wrapper) readPieces(s string) int {
	read := 0
	for piece, width := range Pieces(s) {
		w.piece(piece, width)
		read += len(piece)
		if !w.lastIsWide && read+1 < len(s) && s[read] < utf8.RuneSelf && s[read+1] < utf8.RuneSelf {
			break
		}
	}
	return read
}

func (w *wrapper) piece(piece string, width int) {
	switch {
	case piece == " " || piece == "\t":
		w.addGap()
	case piece[0] == esc:
		w.sequence(piece)
	default:
		if w.mayBreak(piece, width) {
			w.place()
		}
		w.addWord(piece, width)
		w.last, w.lastIsWide = piece, width > 1
	}
}

// addGap ends the word at a blank.
func (w *wrapper) addGap() {
	w.place()
	w.gap = append(w.gap, run{" ", 1, len(w.pens) - 1})
	w.gapWidth++
	w.last, w.lastIsWide = "", false
}

// sequence follows the colours of the text.
func (w *wrapper) sequence(s string) {
	now := w.pens[len(w.pens)-1]
	if now.apply(s); now != w.pens[len(w.pens)-1] {
		w.pens = append(w.pens, now)
	}
}

func (w *wrapper) addWord(text string, width int) {
	w.word = append(w.word, run{text, width, len(w.pens) - 1})
	w.wordWidth += width
}

// The marks that no row begins with, and those that no row ends with, where it is broken
// beside a wide character.
const (
	closing = ".,!?;:)]}'\"%…’”»、。，．！？；：）］｝」』】》〉〕・ー々"
	opening = "([{'\"‘“«（［｛「『【《〈〔"
)

// mayBreak reports whether a row may end between the cluster read last and the next.
func (w *wrapper) mayBreak(next string, width int) bool {
	return w.last != "" && (w.lastIsWide || width > 1) &&
		!strings.Contains(closing, next) && !strings.Contains(opening, w.last)
}

// place writes the word and the blanks before it, in a new row if this one has no room.
func (w *wrapper) place() {
	if len(w.word) == 0 {
		return
	}
	if w.columns > 0 && w.used+w.gapWidth+w.wordWidth > w.columns {
		if w.used > w.head {
			w.endRow()
			w.begin()
		}
		w.gap = w.gap[:0]
	}
	for _, r := range w.gap {
		w.write(r)
	}
	for _, r := range w.word {
		w.writeBroken(r)
	}
	w.gap, w.word, w.gapWidth, w.wordWidth = w.gap[:0], w.word[:0], 0, 0
}

func (w *wrapper) write(r run) {
	w.turn(r.pen)
	w.row = append(w.row, r.text...)
	w.used += r.width
}

// turn writes the sequences that set what a pen has.
func (w *wrapper) turn(to int) {
	if to != w.have {
		w.row = w.pens[w.have].change(w.row, &w.pens[to])
		w.have = to
	}
}

// writeBroken writes a part of a word in as many rows as it takes.
func (w *wrapper) writeBroken(r run) {
	if w.columns <= 0 || r.width == 0 || w.used+r.width <= w.columns {
		w.write(r)
		return
	}
	for cluster, width := range Clusters(r.text) {
		if w.used+width > w.columns && w.used > w.head {
			w.endRow()
			w.begin()
		}
		if w.used+width > w.columns {
			w.dropPrefix()
		}
		w.write(run{cluster, width, r.pen})
	}
}

// begin begins a row with its prefix.
func (w *wrapper) begin() {
	w.row = append(w.row[:0], w.prefix...)
	w.head, w.headBytes = Width(w.prefix), len(w.prefix)
	w.used = w.head
	w.prefix = w.rest
}

// dropPrefix takes the prefix of a row away that has no cell of text yet, for a cluster
// that is too wide behind it.
func (w *wrapper) dropPrefix() {
	w.row = append(w.row[:0], w.row[w.headBytes:]...)
	w.used, w.head, w.headBytes = 0, 0, 0
}

// endRow ends what is open in the row, and the row.
func (w *wrapper) endRow() {
	w.turn(0)
	w.rows = append(w.rows, string(w.row))
}
