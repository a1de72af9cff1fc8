package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pi/internal/cells"
)

// reach is how many bytes a mark can be away from the one that ends what it begins. The
// text of a paragraph is parsed in windows of this size.
const reach = 512

// paragraph paints the text of a paragraph as it arrives. What is before a point that no
// later text reaches over is painted and dropped, so that no more than a window is ever
// parsed again.
type paragraph struct {
	p    Painter
	rows *cells.Wrapper
	src  []byte // what is not painted, behind a character that tells what precedes it
	from int    // where that begins in src
	last byte   // the byte before it

	tryAt  int // how long src has to be before another look is worth it
	forced int // how many marks turned out to be text only after a whole window
}

// mostForced is how many marks a paragraph may have that nothing ends. Behind them it is
// taken as text by the window: each of them costs the parsing of one.
const mostForced = 64

func (g *paragraph) clone() *paragraph {
	c := *g
	c.rows, c.src = g.rows.Clone(), append([]byte(nil), g.src...)
	return &c
}

// write adds text. Its lines do not begin with blanks.
func (g *paragraph) write(text string) {
	for len(text) > 0 {
		n := min(len(text), reach)
		g.src = append(g.src, text[:n]...)
		text = text[n:]
		if len(g.src) >= g.tryAt {
			g.advance()
		}
	}
}

// advance paints what is known for good.
func (g *paragraph) advance() {
	for {
		done := g.paintWindow(g.window(), false)
		if len(g.src)-g.from <= reach {
			break
		}
		if !done {
			g.paintLiterally()
		}
	}
	g.tryAt = len(g.src) + (len(g.src)-g.from)/8
}

// end paints the rest.
func (g *paragraph) end() []string {
	for len(g.src)-g.from > reach {
		g.advance()
	}
	g.paintWindow(g.src, true)
	return g.rows.End()
}

// closeMarks ends the emphasis and the code span that are open, so that they are seen as
// what they will be.
func (g *paragraph) closeMarks() {
	g.src = g.src[:trimSpace(g.src, len(g.src))]
	tree := g.p.parseInline(g.window())
	o := opens{src: tree.src}
	o.visit(tree.root, false)
	for i := len(o.marks) - 1; i >= 0; i-- {
		c := o.src[o.marks[i]]
		run := runLen(string(o.src[o.marks[i]:]), c)
		if i > 0 && o.marks[i-1] == o.marks[i]-1 {
			continue // the run is that of the mark before
		}
		if o.marks[i]+run < len(o.src) {
			g.src = append(g.src, strings.Repeat(string(c), run)...)
		}
	}
}

// window is as much of the text as is parsed at once.
func (g *paragraph) window() []byte {
	end := min(len(g.src), g.from+reach)
	for end < len(g.src) && end > g.from && !utf8.RuneStart(g.src[end]) {
		end--
	}
	return g.src[:end]
}

// paintWindow paints the beginning of a window up to where later text may change it, or
// all of it, and reports whether that was anything.
func (g *paragraph) paintWindow(window []byte, isAll bool) bool {
	tree := g.p.parseInline(window)
	cut := len(window)
	if !isAll {
		cut = tree.stableEnd(g.from)
	}
	if cut <= g.from {
		return false
	}
	w := inlinePainter{p: g.p, src: window, from: g.from, last: g.last}
	w.children(tree.root, cut)
	g.rows.Write(w.out.String())
	g.drop(cut)
	return true
}

// paintLiterally paints the mark that the text begins with as text, since what ends it is
// too far away; or a word that is longer than a window.
func (g *paragraph) paintLiterally() {
	window := g.window()
	cut := len(window)
	g.forced++
	if c := window[g.from]; g.forced <= mostForced && (isMark(c) || strings.IndexByte("[!<", c) >= 0) {
		cut = g.from + runLen(string(window[g.from:]), c)
	} else if i := lastBreak(window, g.from); i > 0 {
		cut = i
	}
	literal := strings.ReplaceAll(string(window[g.from:cut]), "\n", " ")
	g.rows.Write(g.p.paintText(literal, g.last))
	g.drop(cut)
}

// lastBreak returns the last place in a window that is before blanks or between two
// letters, or 0.
func lastBreak(window []byte, from int) int {
	for i := len(window) - 1; i > from; i-- {
		if isLetter(window[i-1]) && (isLetter(window[i]) || isSpace(window[i])) {
			return i
		}
	}
	return 0
}

// drop forgets what is painted but for a character of the same kind as its last, by which
// goldmark knows whether a mark behind it begins or ends something.
func (g *paragraph) drop(cut int) {
	before, _ := utf8.DecodeLastRune(g.src[:cut])
	kept := string(before)
	switch {
	case before == ' ' || before == '\t' || before == '\n':
		kept = ""
	case before < utf8.RuneSelf && isLetter(byte(before)):
		kept = "a"
	case before < utf8.RuneSelf || before == utf8.RuneError:
		kept = "."
	}
	g.last = g.src[cut-1]
	g.src = append([]byte(kept), g.src[cut:]...)
	g.from = len(kept)
	g.tryAt = 0
}

func isLetter(c byte) bool {
	return c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)))
}

// isMark reports whether runs of c mark something.
func isMark(c byte) bool { return strings.IndexByte("*_~`", c) >= 0 }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
