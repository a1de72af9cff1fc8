// Package roff makes pages of the manual of texts in Markdown, for man(1).
//
// The output is ASCII in the macros of man(7) with .EX and .EE, which groff, mandoc and heirloom troff know: any
// other character is written by its number, or in words where troff has no letter for it. Tables become
// lists, a row each, for a terminal has no room for wide ones. Nothing of a text is a request to troff,
// whatever it says.
package roff

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Head is what stands above a page.
type Head struct {
	Name    string // pi, pi-hooks
	Section int    // 1 for programs, 7 for the rest
	Source  string // the program and its version
	Manual  string // what the page belongs to
	About   string // what Name is, in a few words
}

// Page returns a page of the manual. A first heading of the text is left out: the page has a name.
func Page(h Head, markdown string) string {
	w := &writer{source: []byte(markdown)}
	fmt.Fprintf(&w.out, ".TH %s %d %s %s %s\n", quoted(h.Name), h.Section, quoted(""), quoted(h.Source), quoted(h.Manual))
	w.out.WriteString(".nh\n.ad l\n.SH NAME\n" + escape(h.Name) + ` \- ` + escape(h.About) + "\n")
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(w.source))
	if first, ok := root.FirstChild().(*ast.Heading); ok && first.Level == 1 {
		root.RemoveChild(root, first)
	}
	if root.HasChildren() && root.FirstChild().Kind() != ast.KindHeading {
		w.out.WriteString(".SH DESCRIPTION\n")
	}
	w.blocks(root)
	return w.out.String()
}

// writer writes the blocks of one page.
type writer struct {
	source []byte
	out    strings.Builder
}

// blocks writes what is in a block, one below the other.
func (w *writer) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n)
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		w.heading(n)
	case *ast.Paragraph:
		w.out.WriteString(".PP\n")
		w.line(w.inline(n))
	case *ast.TextBlock:
		w.line(w.inline(n))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		w.code(n)
	case *ast.List:
		w.list(n)
	case *ast.Blockquote:
		w.out.WriteString(".RS 4\n")
		w.blocks(n)
		w.out.WriteString(".RE\n")
	case *tables.Table:
		w.table(n)
	}
	// The rest has nothing to read: rules, and HTML, which is comments here.
}

func (w *writer) heading(n *ast.Heading) {
	switch {
	case n.Level <= 2:
		fmt.Fprintf(&w.out, ".SH %s\n", quoted(strings.ToUpper(w.plain(n))))
	case n.Level == 3:
		fmt.Fprintf(&w.out, ".SS %s\n", quoted(w.plain(n)))
	default:
		w.out.WriteString(".PP\n" + bold(w.plain(n)) + "\n")
	}
}

// code writes the lines of a block as they are.
func (w *writer) code(n ast.Node) {
	w.out.WriteString(".PP\n.RS 4\n.EX\n")
	lines := n.Lines()
	for i := range lines.Len() {
		at := lines.At(i)
		w.out.WriteString(guard(escape(strings.TrimRight(string(at.Value(w.source)), "\n"))) + "\n")
	}
	w.out.WriteString(".EE\n.RE\n")
}

func (w *writer) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		tag, width := `\(bu`, 2
		if n.IsOrdered() {
			tag, width = fmt.Sprintf("%d.", number), 4
			number++
		}
		fmt.Fprintf(&w.out, ".IP %s %d\n", tag, width)
		for child, first := item.FirstChild(), true; child != nil; child, first = child.NextSibling(), false {
			_, isText := child.(*ast.Paragraph)
			switch {
			case first && isText:
				w.line(w.inline(child))
			case child.Kind() == ast.KindTextBlock:
				w.block(child)
			default:
				fmt.Fprintf(&w.out, ".RS %d\n", width)
				w.block(child)
				w.out.WriteString(".RE\n")
			}
		}
	}
	w.out.WriteString(".PP\n")
}

// table writes each row as an item of a list: the first cell, and below it the others, with the
// heads of their columns where there are several.
func (w *writer) table(n *tables.Table) {
	var heads []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, w.inline(cell))
		}
		if row.Kind() == tables.KindTableHeader {
			heads = cells
			continue
		}
		w.row(heads, cells)
	}
	w.out.WriteString(".PP\n")
}

func (w *writer) row(heads, cells []string) {
	if len(cells) == 0 {
		return
	}
	w.out.WriteString(".TP\n")
	if cells[0] == "" {
		cells[0] = `\&`
	}
	w.line(cells[0])
	several, written := len(cells) > 2, false
	for i, cell := range cells[1:] {
		if cell == "" {
			continue
		}
		if several && heads[i+1] != "" {
			cell = `\fI` + heads[i+1] + `\fR: ` + cell
		}
		if written {
			w.out.WriteString(".br\n")
		}
		w.line(cell)
		written = true
	}
	if !written {
		w.out.WriteString("\\&\n")
	}
}

// line writes a text that troff fills.
func (w *writer) line(inline string) { w.out.WriteString(guard(inline) + "\n") }

// inline returns what stands in a block, in one line.
func (w *writer) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(words(string(read(n.Value(w.source)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteString(" ")
			}
		case *ast.String:
			b.WriteString(escape(string(n.Value)))
		case *ast.CodeSpan:
			b.WriteString(`\fB` + breakable(w.plain(n)) + `\fR`)
		case *ast.RawHTML: // <NAME> in a sentence
			b.WriteString(escape(string(n.Segments.Value(w.source))))
		case *ast.Emphasis:
			font := `\fI`
			if n.Level > 1 {
				font = `\fB`
			}
			b.WriteString(font + w.inline(n) + `\fR`)
		case *ast.Link:
			b.WriteString(w.inline(n))
			if address := string(n.Destination); strings.Contains(address, "://") {
				b.WriteString(" <" + breakable(address) + ">")
			}
		case *ast.AutoLink:
			b.WriteString(breakable(string(n.URL(w.source))))
		default:
			b.WriteString(w.inline(n))
		}
	}
	return b.String()
}

// read takes the backslashes off a text, and puts characters in the place of their names.
func read(text []byte) []byte {
	return util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(text)))
}

// plain is the text in a node, without fonts.
func (w *writer) plain(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			value := n.Value(w.source)
			if parent.Kind() != ast.KindCodeSpan {
				value = read(value)
			}
			b.Write(value)
			if n.SoftLineBreak() {
				b.WriteString(" ")
			}
		default:
			b.WriteString(w.plain(n))
		}
	}
	return b.String()
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

// guard has a line that begins as a request be text.
func guard(line string) string {
	if line != "" && (line[0] == '.' || line[0] == '\'') {
		return `\&` + line
	}
	return line
}

// quoted is an argument of a macro.
func quoted(text string) string { return `"` + escape(text) + `"` }

// words is [escape] of a text in which troff may break long words.
func words(text string) string {
	const long = 30
	all := strings.Split(text, " ")
	for i, word := range all {
		if len(word) > long {
			all[i] = breakable(word)
		} else {
			all[i] = escape(word)
		}
	}
	return strings.Join(all, " ")
}

// breakable is [escape] of code or an address, which troff may break behind marks inside of its words.
func breakable(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		b.WriteString(escape(string(r)))
		if strings.ContainsRune("/,=|_-(.", r) && before != ' ' && before != '-' {
			b.WriteString(`\:`)
		}
		before = r
	}
	return b.String()
}

// escape writes text as troff prints it, in ASCII.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch name := nameOf(r); {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case name != "":
			b.WriteString(name)
		case r >= ' ' && r < unicode.MaxASCII:
			b.WriteRune(r)
		case r < ' ', r == unicode.MaxASCII, unicode.IsMark(r), unicode.Is(unicode.Cf, r): // nothing to be seen
		case r >= 0xa0 && r < 0x180 || strings.ContainsRune("–—…•←↑→↓≤≥≠‘’“”€", r):
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}

// nameOf is how a character is written that troff takes for something else, or has no letter for; ""
// for the others.
func nameOf(r rune) string {
	switch r {
	case '\\':
		return `\e`
	case '-':
		return `\-`
	case '\'':
		return `\(aq`
	case '`':
		return `\(ga`
	case '^':
		return `\(ha`
	case '~':
		return `\(ti`
	case '"':
		return `\(dq`
	case '─':
		return `\-`
	case '│', '▏', '▕':
		return "|"
	case '█', '░':
		return "#"
	case '▸', '↳':
		return ">"
	case '✗':
		return "x"
	}
	return ""
}
