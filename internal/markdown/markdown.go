// Package markdown paints the Markdown of a model: as rows for a terminal, whole or as it
// streams, and as elements of a page ([Page]).
//
//	Painter{Columns, Paint}.Rows(text)   the rows of a whole text
//	NewStream(painter)                   the same for a text that arrives in parts
//	stream.Write(delta)                  the rows that no later text changes any more
//	stream.Live()                        the rows that still can change, as they are now
//	stream.End()                         the rows that were not given out yet
//
//	page := NewPage(writer)              paints into a page of HTML
//	page.Write(text)                     a whole text
//	page.WriteCode("go", text)           code, coloured by the same lexer as in the terminal
//
// The rows of Write and End together are those of Rows, however the text is divided. So
// that they are known early, blocks are found line by line here, and what a block says
// (emphasis, links, code spans) is parsed by goldmark, a piece at a time. This is
// CommonMark with the tables and the strikethrough of GFM, except that
//
//   - a line of = or - below a text makes no heading of it: --- is always a rule
//   - references ([text][name] and its definition) are text
//   - HTML is text, with its line ends
//   - the lines of a table begin with |, or have one behind the first two lines
//   - emphasis, a code span or a link is marked up if its marks are within 512 bytes of
//     each other; so much of a paragraph can have to wait, most of the time a row does
//   - a blank row is shown between blocks where the text has one, and before headings
//
// Rows are at most Columns wide. Lines of code are not wrapped: each is a row, however
// long, indented by two blanks and with its tabs as blanks.
//
// The text is made fit to be shown here (package printable), entities included: nothing
// in it commands the terminal. Where Paint changes nothing, as with NO_COLOR, the marks
// of headings, code spans and strikethrough are shown.
package markdown

import "github.com/yuin/goldmark/parser"

// Painter says how a text is painted.
type Painter struct {
	Columns int // 0 or less: rows are as long as the text has them

	// Paint returns text in a style: accent, dim, code, link, bold, italic, underline,
	// strikethrough, and with Highlight success, warning and muted. Nil: as it is.
	Paint func(style, text string) string

	Highlight bool // colours in code

	parser parser.Parser // of a stream
}

// Rows paints a whole text.
func (p Painter) Rows(text string) []string {
	s := NewStream(p)
	return append(s.Write(text), s.End()...)
}

// paint returns text in several styles, the outermost first.
func (p Painter) paint(text string, styles ...string) string {
	if p.Paint == nil || text == "" {
		return text
	}
	for i := len(styles) - 1; i >= 0; i-- {
		text = p.Paint(styles[i], text)
	}
	return text
}

// isPlain reports whether styles cannot be seen, so that marks have to be shown.
func (p Painter) isPlain() bool { return p.paint("x", "bold") == "x" }
