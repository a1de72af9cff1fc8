package cells

import (
	"bytes"
	"slices"
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
	w := NewWrapper(columns, first, rest)
	w.Write(s)
	return w.End()
}

// Wrapper is Hang for a text that arrives in parts. The rows do not depend on where it is
// divided, as long as no cluster, sequence or line end ("\r\n") is. It is for one goroutine.
type Wrapper struct {
	columns     int
	first, rest string // the prefix of the row that is written, and of those behind it
	rows        []string

	row       []byte
	used      int // cells of the row, its prefix included
	headBytes int // of its prefix
	have      int // what is set at the end of row, by its place in pens

	pens       []pen // what the text sets, each once; the first sets nothing
	now        int   // what it sets at present
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

// NewWrapper begins a text with the prefixes of its first row and of the others.
func NewWrapper(columns int, first, rest string) *Wrapper {
	w := &Wrapper{columns: columns, first: first, rest: rest, pens: []pen{{}}}
	w.begin()
	return w
}

// Write adds a part of the text.
func (w *Wrapper) Write(s string) {
	for {
		line, more, ended := strings.Cut(s, "\n")
		if !ended {
			w.read(line)
			return
		}
		w.read(strings.TrimSuffix(line, "\r"))
		w.endLine()
		w.first = w.rest
		w.begin()
		s = more
	}
}

// TakeRows returns the rows that are complete and were not returned before: no text that
// follows changes them.
func (w *Wrapper) TakeRows() []string {
	rows := w.rows
	w.rows = nil
	return rows
}

// End ends the text and returns the rows that were not returned before.
func (w *Wrapper) End() []string {
	w.endLine()
	return w.TakeRows()
}

// Clone returns a copy that can be written to, and ended, without the other.
func (w *Wrapper) Clone() *Wrapper {
	c := *w
	c.rows, c.row, c.pens = slices.Clone(w.rows), slices.Clone(w.row), slices.Clone(w.pens)
	c.gap, c.word = slices.Clone(w.gap), slices.Clone(w.word)
	return &c
}

// SetColumns gives the text another width from the row on that is not complete.
func (w *Wrapper) SetColumns(columns int) {
	open := string(w.row[w.headBytes:])
	have := w.have
	var rest []byte
	for _, r := range append(slices.Clone(w.gap), w.word...) {
		rest = append(w.pens[have].change(rest, &w.pens[r.pen]), r.text...)
		have = r.pen
	}
	rest = w.pens[have].change(rest, &w.pens[w.now])
	again := NewWrapper(columns, w.first, w.rest)
	again.rows = w.rows
	again.Write(open + string(rest))
	*w = *again
}

// read writes what belongs to one line. Plain letters are read by the word, all else by
// the piece.
func (w *Wrapper) read(s string) {
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
func (w *Wrapper) readPieces(s string) int {
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

func (w *Wrapper) piece(piece string, width int) {
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
func (w *Wrapper) addGap() {
	w.place()
	w.gap = append(w.gap, run{" ", 1, w.now})
	w.gapWidth++
	w.last, w.lastIsWide = "", false
}

// sequence follows the colours of the text.
func (w *Wrapper) sequence(s string) {
	now := w.pens[w.now]
	now.apply(s)
	if w.now = slices.Index(w.pens, now); w.now < 0 {
		w.now = len(w.pens)
		w.pens = append(w.pens, now)
	}
}

// addWord adds to the word. As soon as it has no room behind what is in the row, the row is
// complete.
func (w *Wrapper) addWord(text string, width int) {
	w.word = append(w.word, run{text, width, w.now})
	if w.wordWidth += width; w.overflows() && !w.isEmpty() {
		w.breakRow()
		w.gap, w.gapWidth = w.gap[:0], 0
	}
}

// overflows reports whether the row has no room for the word and the blanks before it.
func (w *Wrapper) overflows() bool {
	return w.columns > 0 && w.used+w.gapWidth+w.wordWidth > w.columns
}

// The marks that no row begins with, and those that no row ends with, where it is broken
// beside a wide character.
const (
	closing = ".,!?;:)]}'\"%…’”»、。，．！？；：）］｝」』】》〉〕・ー々"
	opening = "([{'\"‘“«（［｛「『【《〈〔"
)

// mayBreak reports whether a row may end between the cluster read last and the next.
func (w *Wrapper) mayBreak(next string, width int) bool {
	return w.last != "" && width > 0 && (w.lastIsWide || width > 1) &&
		!strings.Contains(closing, next) && !strings.Contains(opening, w.last)
}

// place writes the word and the blanks before it, in a new row if this one has no room.
func (w *Wrapper) place() {
	if len(w.word) == 0 {
		return
	}
	if w.overflows() { // in an empty row
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

func (w *Wrapper) write(r run) {
	w.turn(r.pen)
	w.row = append(w.row, r.text...)
	w.used += r.width
}

// turn writes the sequences that set what a pen has.
func (w *Wrapper) turn(to int) {
	if to != w.have {
		w.row = w.pens[w.have].change(w.row, &w.pens[to])
		w.have = to
	}
}

// writeBroken writes a part of a word in as many rows as it takes.
func (w *Wrapper) writeBroken(r run) {
	if w.columns <= 0 || r.width == 0 || w.used+r.width <= w.columns {
		w.write(r)
		return
	}
	for cluster, width := range Clusters(r.text) {
		if w.used+width > w.columns && !w.isEmpty() {
			w.breakRow()
		}
		if w.used+width > w.columns { // too wide behind the prefix
			w.row = w.row[:0]
			w.used, w.headBytes = 0, 0
		}
		w.write(run{cluster, width, r.pen})
	}
}

// breakRow ends the row in the middle of a line and begins another.
func (w *Wrapper) breakRow() {
	w.endRow()
	w.first = w.rest
	w.begin()
}

// begin begins a row with its prefix, of which a wide character still has room behind.
func (w *Wrapper) begin() {
	prefix := w.first
	if w.columns > 0 {
		prefix = keepEnd(prefix, max(0, min(w.columns/2, w.columns-2)))
	}
	w.row = append(w.row[:0], prefix...)
	w.used, w.headBytes = Width(prefix), len(prefix)
}

// isEmpty reports whether the row has no text yet.
func (w *Wrapper) isEmpty() bool { return len(w.row) == w.headBytes }

// endLine writes the last word of a line and ends its last row.
func (w *Wrapper) endLine() {
	w.place()
	w.gap, w.gapWidth = w.gap[:0], 0
	w.last, w.lastIsWide = "", false
	w.endRow()
}

// endRow ends what is open in the row, and the row. Without a text it has no blanks at its
// end.
func (w *Wrapper) endRow() {
	if w.isEmpty() {
		w.row = bytes.TrimRight(w.row, " ")
	}
	w.turn(0)
	w.rows = append(w.rows, string(w.row))
}
