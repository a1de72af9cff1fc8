package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	strike "github.com/yuin/goldmark/extension/ast"

	"pi/internal/markup"
)

// mostPiece is how many bytes of a block's text are parsed at once.
const mostPiece = 4 << 10

// inline paints the text of a block, in pieces if it is long: a mark and the one that ends
// it are then text if they lie in different ones.
func (g *Page) inline(s string) {
	for s != "" {
		n := pieceLen(s)
		src := []byte(s[:n])
		if s = s[n:]; isBlank(string(src)) {
			g.w.Text(string(src))
			continue
		}
		w := pageInline{page: g, src: src}
		w.children(g.p.parseInline(src).root, 0)
		if s != "" {
			g.w.Text(string(src[len(strings.TrimRight(string(src), " \t\n")):])) // what the parser drops
		}
	}
}

// pieceLen is the length of the next piece of a text: all, or up to the end of a line, of a
// word, or of a character.
func pieceLen(s string) int {
	if len(s) <= mostPiece {
		return len(s)
	}
	for _, mark := range []string{"\n", " "} {
		if i := strings.LastIndex(s[:mostPiece], mark); i > mostPiece/2 {
			return i + 1
		}
	}
	n := mostPiece
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// pageInline paints the nodes of a piece.
type pageInline struct {
	page   *Page
	src    []byte
	inLink bool
}

func (w *pageInline) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			w.text(t)
			continue
		}
		w.node(c, depth)
	}
}

// text paints a text and the end of its line.
func (w *pageInline) text(t *ast.Text) {
	before := byte(0)
	if t.Segment.Start > 0 {
		before = w.src[t.Segment.Start-1]
	}
	s := string(t.Segment.Value(w.src))
	if w.inLink {
		w.out().Text(decode(s))
	} else {
		w.addresses(s, before)
	}
	switch {
	case t.HardLineBreak():
		w.out().Raw("<br/>")
	case t.SoftLineBreak() && w.isByHTML(t, s):
		w.out().Raw("<br/>")
	case t.SoftLineBreak():
		w.out().Raw("\n")
	}
}

func (w *pageInline) out() *markup.Writer { return w.page.w }

// isByHTML reports whether a line that ends looks like HTML, or the next one does: such
// lines are kept apart.
func (w *pageInline) isByHTML(t *ast.Text, s string) bool {
	next := t.NextSibling()
	return strings.HasSuffix(s, ">") || next != nil && next.Pos() < len(w.src) && w.src[next.Pos()] == '<'
}

// addresses paints a text whose addresses are links, though nothing marks them.
func (w *pageInline) addresses(s string, before byte) {
	for s != "" {
		start, end := findURL(s, before)
		w.out().Text(decode(s[:start]))
		if start == end {
			return
		}
		address := decode(s[start:end])
		w.link(address, "<a", func() { w.out().Text(address) })
		before = s[end-1]
		s = s[end:]
	}
}

// link paints something that leads to an address; as text where it may not, and in
// another link.
func (w *pageInline) link(address string, begin markup.Literal, what func()) {
	if w.inLink || !markup.IsLink(address) {
		what()
		return
	}
	w.out().Raw(begin)
	w.out().Link(address)
	w.out().Raw(">")
	w.inLink = true
	what()
	w.inLink = false
	w.out().Raw("</a>")
}

// node paints what is marked up. Deep in others marks are left out.
func (w *pageInline) node(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Emphasis:
		begin, end := markup.Literal("<em>"), markup.Literal("</em>")
		if n.Level == 2 {
			begin, end = "<strong>", "</strong>"
		}
		w.marked(n, depth, begin, end)
	case *strike.Strikethrough:
		w.marked(n, depth, "<del>", "</del>")
	case *ast.CodeSpan:
		w.out().Raw("<code>")
		w.out().Text(codeText(n, w.src))
		w.out().Raw("</code>")
	case *ast.Link:
		w.named(n, string(n.Destination), depth)
	case *ast.Image:
		w.named(n, string(n.Destination), depth)
	case *ast.AutoLink:
		w.autoLink(n)
	}
}

func (w *pageInline) marked(n ast.Node, depth int, begin, end markup.Literal) {
	if depth >= deepest {
		w.children(n, depth)
		return
	}
	w.out().Raw(begin)
	w.children(n, depth+1)
	w.out().Raw(end)
}

// named paints a link with a text, or the address if it has none. It has the class to, by which a
// style can show the address on paper. Where it does not lead the address is shown
// behind, so that nothing is lost.
func (w *pageInline) named(n ast.Node, destination string, depth int) {
	address := decode(destination)
	w.link(address, `<a class="to"`, func() {
		if n.HasChildren() {
			w.children(n, min(depth+1, deepest))
		} else {
			w.out().Text(address)
		}
	})
	if n.HasChildren() && address != "" && !markup.IsLink(address) {
		w.out().Text(" (" + address + ")")
	}
}

func (w *pageInline) autoLink(n *ast.AutoLink) {
	label := decode(string(n.Label(w.src)))
	address := label
	if n.AutoLinkType == ast.AutoLinkEmail {
		address = "mailto:" + label
	}
	w.link(address, "<a", func() { w.out().Text(label) })
}
