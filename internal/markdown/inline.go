package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	strike "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// inlineTree is what goldmark makes of a piece of text.
type inlineTree struct {
	src  []byte
	root ast.Node // its children are the nodes of the text
}

// newParser returns a parser for the text of a paragraph, without any other block.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 0)),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 1),
			util.Prioritized(parser.NewLinkParser(), 2),
			util.Prioritized(parser.NewAutoLinkParser(), 3),
			util.Prioritized(parser.NewEmphasisParser(), 4),
			util.Prioritized(strikethrough{}, 5),
		))
}

// parseInline parses the text of one paragraph.
func (p Painter) parseInline(src []byte) inlineTree {
	root := p.parser.Parse(text.NewReader(src))
	if first := root.FirstChild(); first != nil {
		root = first
	}
	return inlineTree{src, root}
}

// strikethrough parses what stands between two ~~.
type strikethrough struct{}

// Trigger is for goldmark.
func (strikethrough) Trigger() []byte { return []byte{'~'} }

// Parse reads a run of ~, which marks something if there are two.
func (s strikethrough) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, s)
	segment = segment.WithStop(segment.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	if d.OriginalLength != 2 {
		return ast.NewTextSegment(segment)
	}
	d.Segment = segment
	pc.PushDelimiter(d)
	return d
}

// IsDelimiter is for goldmark.
func (strikethrough) IsDelimiter(c byte) bool { return c == '~' }

// CanOpenCloser is for goldmark.
func (strikethrough) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch is for goldmark.
func (strikethrough) OnMatch(int) ast.Node { return strike.NewStrikethrough() }

// mostInline is how long a heading or a cell may be to be parsed.
const mostInline = 8 << 10

// paintInline paints a text that is all there, in one line.
func paintInline(p Painter, s string, styles ...string) string {
	if isBlank(s) {
		return ""
	}
	if len(s) > mostInline {
		return p.paintText(strings.ReplaceAll(s, "\t", " "), 0, styles...)
	}
	w := inlinePainter{p: p, src: []byte(s)}
	w.children(p.parseInline(w.src).root, len(s), styles...)
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(w.out.String())
}

// inlinePainter paints nodes. Each text is painted in all its styles, since the end of a
// style may end the one around it.
type inlinePainter struct {
	p      Painter
	src    []byte
	from   int  // what is before it is not painted
	last   byte // what precedes that
	inLink bool
	out    strings.Builder
}

// children paints the nodes in n up to a place that is in none of them but a text.
func (w *inlinePainter) children(n ast.Node, cut int, styles ...string) {
	for c := n.FirstChild(); c != nil && c.Pos() < cut; {
		if t, ok := c.(*ast.Text); ok {
			c = w.texts(t, cut, styles...)
			continue
		}
		w.node(c, styles...)
		c = c.NextSibling()
	}
}

// texts paints a text with those that follow it directly, and returns the node behind.
func (w *inlinePainter) texts(t *ast.Text, cut int, styles ...string) ast.Node {
	start, stop := max(t.Segment.Start, w.from), t.Segment.Stop
	next := t.NextSibling()
	for !t.SoftLineBreak() && !t.HardLineBreak() {
		more, ok := next.(*ast.Text)
		if !ok || more.Segment.Start != stop {
			break
		}
		t, stop = more, more.Segment.Stop
		next = t.NextSibling()
	}
	if end := min(stop, cut); start < end {
		w.out.WriteString(w.text(start, end, styles...))
	}
	if cut > stop && next != nil {
		w.lineBreak(t, next)
	}
	return next
}

func (w *inlinePainter) text(start, end int, styles ...string) string {
	s := string(w.src[start:end])
	if w.inLink {
		return w.p.paint(decode(s), styles...)
	}
	return w.p.paintText(s, w.before(start), styles...)
}

// before is the byte before a place of the text.
func (w *inlinePainter) before(at int) byte {
	if at > w.from {
		return w.src[at-1]
	}
	return w.last
}

// lineBreak paints the end of a line: of one that is HTML it is kept.
func (w *inlinePainter) lineBreak(t *ast.Text, next ast.Node) {
	at := max(t.Segment.Stop, w.from)
	switch {
	case t.HardLineBreak(), t.SoftLineBreak() && (w.before(at) == '>' || w.src[next.Pos()] == '<'):
		w.out.WriteByte('\n')
	case t.SoftLineBreak():
		w.out.WriteByte(' ')
	}
}

func (w *inlinePainter) node(n ast.Node, styles ...string) {
	switch n := n.(type) {
	case *ast.Emphasis:
		style := "italic"
		if n.Level == 2 {
			style = "bold"
		}
		w.children(n, len(w.src), with(styles, style)...)
	case *strike.Strikethrough:
		w.mark("~~")
		w.children(n, len(w.src), with(styles, "strikethrough")...)
		w.mark("~~")
	case *ast.CodeSpan:
		w.mark("`")
		w.out.WriteString(w.p.paint(codeText(n, w.src), with(styles, "code")...))
		w.mark("`")
	case *ast.Link:
		w.link(n, n.Destination, styles...)
	case *ast.Image:
		w.link(n, n.Destination, styles...)
	case *ast.AutoLink:
		w.out.WriteString(w.p.paint(decode(string(n.Label(w.src))), with(styles, "link")...))
	}
}

// mark writes a mark where a style cannot be seen.
func (w *inlinePainter) mark(s string) {
	if w.p.isPlain() {
		w.out.WriteString(s)
	}
}

func with(styles []string, style string) []string {
	return append(styles[:len(styles):len(styles)], style)
}

// codeText is the text of a code span, its line ends as blanks.
func codeText(n ast.Node, src []byte) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			out.Write(t.Segment.Value(src))
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

// link paints a link's text, or what an image shows, with its address behind unless they
// are the same.
func (w *inlinePainter) link(n ast.Node, destination []byte, styles ...string) {
	inner := inlinePainter{p: Painter{}, src: w.src, inLink: true}
	inner.children(n, len(w.src))
	address := decode(string(destination))
	if address == "" {
		w.children(n, len(w.src), styles...)
		return
	}
	if shown := strings.TrimSpace(inner.out.String()); shown == "" || shown == address || "mailto:"+shown == address {
		w.out.WriteString(w.p.paint(address, with(styles, "link")...))
		return
	}
	outer := w.inLink
	w.inLink = true
	w.children(n, len(w.src), with(styles, "link")...)
	w.inLink = outer
	w.out.WriteString(" " + w.p.paint("("+address+")", with(styles, "dim")...))
}
