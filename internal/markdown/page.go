package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"pi/internal/markup"
	"pi/internal/printable"
)

// Page paints Markdown as elements of a page. It knows the same Markdown as a [Painter]: HTML is
// text, references are text, and --- is a rule. Images are not fetched: they are links.
// Links lead to http, https and mailto only; what else is linked is text. It
// is for one goroutine.
//
// What a text costs is proportional to its length, whatever it says: goldmark finds the
// blocks, and the marks in them are parsed in pieces of 4 KiB, since some rows of marks take it
// the square of their length.
type Page struct {
	w      *markup.Writer
	blocks parser.Parser
	p      Painter // its parser reads the marks in a block
}

// NewPage returns a Page that paints into w.
func NewPage(w *markup.Writer) *Page {
	return &Page{w: w, blocks: newBlockParser(), p: Painter{parser: newParser()}}
}

// newBlockParser returns a parser for the blocks of a whole text, without what is in them.
func newBlockParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 1),
			util.Prioritized(parser.NewListParser(), 2),
			util.Prioritized(parser.NewListItemParser(), 3),
			util.Prioritized(parser.NewCodeBlockParser(), 4),
			util.Prioritized(parser.NewATXHeadingParser(), 5),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 6),
			util.Prioritized(parser.NewBlockquoteParser(), 7),
			util.Prioritized(parser.NewParagraphParser(), 8)),
		parser.WithInlineParsers())
}

// Write paints a whole text.
func (g *Page) Write(s string) {
	s = printable.Text(s)
	if isTooDeep(s) {
		g.WriteCode("", s)
		return
	}
	src := []byte(s)
	g.children(g.blocks.Parse(text.NewReader(src)), src, 0)
}

// isTooDeep reports whether a line of a text begins with the marks of more containers than
// anybody writes: finding them takes goldmark the square of their number.
func isTooDeep(s string) bool {
	for line := range strings.Lines(s) {
		depth := 0
		for line, isIn := skipMark(line); isIn; line, isIn = skipMark(line) {
			if depth++; depth > 2*deepest && !isRule(line) {
				return true
			}
		}
	}
	return false
}

// skipMark returns what is behind the mark of a container that a line begins with.
func skipMark(line string) (rest string, isIn bool) {
	line = strings.TrimLeft(line, " \t")
	if rest, isIn = strings.CutPrefix(line, ">"); isIn {
		return rest, true
	}
	m, isIn := parseMarker(line)
	return line[m.length:], isIn
}

// children paints the blocks in n, which lies in so many others. Where browsers would no
// longer nest, the marks of containers are left out.
func (g *Page) children(n ast.Node, src []byte, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.HasChildren() && depth >= deepest {
			g.children(c, src, depth)
			continue
		}
		g.block(c, src, depth)
	}
}

func (g *Page) block(n ast.Node, src []byte, depth int) {
	switch n := n.(type) {
	case *ast.Heading:
		g.heading(min(n.Level, 4), lines(n, src))
	case *ast.Blockquote:
		g.w.Raw("<blockquote>")
		g.children(n, src, depth+1)
		g.w.Raw("</blockquote>")
	case *ast.List:
		g.list(n, src, depth)
	case *ast.ThematicBreak:
		g.w.Raw("<hr/>")
	case *ast.FencedCodeBlock:
		g.WriteCode(fenceLanguage(n, src), lines(n, src))
	case *ast.CodeBlock:
		g.WriteCode("", lines(n, src))
	case *ast.TextBlock: // of an item without blank lines
		g.text(g.task(n, lines(n, src)), false)
	case *ast.Paragraph:
		g.text(g.task(n, lines(n, src)), true)
	}
}

// task paints the box of an item that is a task, and returns its text.
func (g *Page) task(n ast.Node, s string) string {
	if n.Parent().Kind() != ast.KindListItem || n.PreviousSibling() != nil || !isTask(s) {
		return s
	}
	if s[1] == ' ' {
		g.w.Raw("☐ ")
	} else {
		g.w.Raw("☑ ")
	}
	return strings.TrimLeft(s[3:], " \t")
}

// heading paints a heading below those of the page itself.
func (g *Page) heading(level int, title string) {
	tags := [][2]markup.Literal{{"<h3>", "</h3>"}, {"<h4>", "</h4>"}, {"<h5>", "</h5>"}, {"<h6>", "</h6>"}}
	g.w.Raw(tags[level-1][0])
	g.inline(title)
	g.w.Raw(tags[level-1][1])
}

func (g *Page) list(n *ast.List, src []byte, depth int) {
	begin, end := markup.Literal("<ul>"), markup.Literal("</ul>")
	if n.IsOrdered() {
		begin, end = `<ol start="`, "</ol>"
	}
	g.w.Raw(begin)
	if n.IsOrdered() {
		g.w.Int(n.Start)
		g.w.Raw(`">`)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		g.w.Raw("<li>")
		g.children(c, src, depth+1)
		g.w.Raw("</li>")
	}
	g.w.Raw(end)
}

// lines is the text of a block.
func lines(n ast.Node, src []byte) string { return string(n.Lines().Value(src)) }

// fenceLanguage is the first word behind a fence, or "".
func fenceLanguage(n *ast.FencedCodeBlock, src []byte) string {
	if n.Info == nil {
		return ""
	}
	if words := strings.Fields(decode(string(n.Info.Segment.Value(src)))); len(words) > 0 {
		return words[0]
	}
	return ""
}

// text paints the lines of a paragraph, which may have tables in it.
func (g *Page) text(s string, isSpaced bool) {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	from := 0
	for i := 0; i+1 < len(all); i++ {
		align := tableAt(all[i], all[i+1])
		if align == nil {
			continue
		}
		g.paragraph(all[from:i], isSpaced)
		from = i + 2
		for from < len(all) && strings.Contains(all[from], "|") {
			from++
		}
		g.table(align, all[i], all[i+2:from])
		i = from - 1
	}
	g.paragraph(all[from:], isSpaced)
}

// paragraph paints lines without tables.
func (g *Page) paragraph(all []string, isSpaced bool) {
	if len(all) == 0 {
		return
	}
	s := strings.Join(all, "\n")
	if isSpaced {
		g.w.Raw("<p>")
	}
	g.inline(s)
	if isSpaced {
		g.w.Raw("</p>")
	}
}

// tableAt returns the columns of the table that two lines begin, nil if they do not.
func tableAt(head, below string) []alignment {
	if !strings.Contains(head, "|") {
		return nil
	}
	align, ok := parseAlignment(strings.Trim(below, " \t"))
	if !ok || len(align) != len(splitCells(head)) {
		return nil
	}
	return align
}

// table paints a table. Cells that a line lacks are not made up: a few bytes could ask for
// millions of them.
func (g *Page) table(align []alignment, head string, rows []string) {
	g.w.Raw("<table><thead>")
	g.row(align, head, "<th", "</th>")
	g.w.Raw("</thead><tbody>")
	for _, row := range rows {
		g.row(align, row, "<td", "</td>")
	}
	g.w.Raw("</tbody></table>")
}

func (g *Page) row(align []alignment, line string, begin, end markup.Literal) {
	g.w.Raw("<tr>")
	for i, cell := range splitCells(line) {
		if i == len(align) {
			break
		}
		g.w.Raw(begin)
		switch align[i] {
		case right:
			g.w.Raw(` class="r"`)
		case center:
			g.w.Raw(` class="m"`)
		}
		g.w.Raw(">")
		g.inline(cell)
		g.w.Raw(end)
	}
	g.w.Raw("</tr>")
}

// WriteCode paints code of a language, "" for none, in a block of its own. Its name is the
// attribute data-l.
func (g *Page) WriteCode(language, code string) {
	g.w.Raw("<pre")
	if language != "" {
		g.w.Attr("data-l", printable.Cut(language, 30))
	}
	g.w.Raw(">\n<code>") // browsers drop a line end that a block begins with
	g.code(language, strings.TrimSuffix(printable.Text(code), "\n"))
	g.w.Raw("</code></pre>")
}

// mostColoured is how many bytes of code are coloured.
const mostColoured = 256 << 10

// code writes the lines of a code, each piece in the class of its style.
func (g *Page) code(language, code string) {
	l := newLexer(language)
	if l.language.spans == nil || len(code) > mostColoured {
		g.w.Text(code)
		return
	}
	for line := range strings.Lines(code) {
		text := strings.TrimSuffix(line, "\n")
		for piece, style := range l.pieces(text) {
			g.piece(piece, style)
		}
		if len(text) < len(line) {
			g.w.Raw("\n")
		}
	}
}

// piece writes a piece of code.
func (g *Page) piece(s, style string) {
	switch style {
	case styleComment:
		g.w.Raw(`<i class="c">`)
	case styleString:
		g.w.Raw(`<i class="s">`)
	case styleNumber:
		g.w.Raw(`<i class="n">`)
	case styleKeyword:
		g.w.Raw(`<i class="k">`)
	default:
		g.w.Text(s)
		return
	}
	g.w.Text(s)
	g.w.Raw("</i>")
}
