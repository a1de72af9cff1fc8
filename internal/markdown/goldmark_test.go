package markdown

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// wholeParser parses the blocks of a whole document, those that this package knows.
func wholeParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 1), util.Prioritized(parser.NewListParser(), 2),
			util.Prioritized(parser.NewListItemParser(), 3), util.Prioritized(parser.NewCodeBlockParser(), 4),
			util.Prioritized(parser.NewATXHeadingParser(), 5), util.Prioritized(parser.NewFencedCodeBlockParser(), 6),
			util.Prioritized(parser.NewBlockquoteParser(), 7), util.Prioritized(parser.NewParagraphParser(), 8)),
		parser.WithInlineParsers())
}

// treeRows are the rows of goldmark's tree of a whole document, without blank ones, each
// paragraph in one row.
type treeRows struct {
	src  []byte
	rows []string
}

func (r *treeRows) children(n ast.Node, first, rest string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := len(r.rows)
		if r.block(c, first, rest); len(r.rows) > before {
			first = rest
		}
	}
}

func (r *treeRows) block(n ast.Node, first, rest string) {
	switch n := n.(type) {
	case *ast.Blockquote:
		r.children(n, first+"│ ", rest+"│ ")
	case *ast.List:
		number := n.Start
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			mark := "-"
			if n.IsOrdered() {
				mark = strconv.Itoa(number) + string(n.Marker)
				number++
			}
			before := len(r.rows)
			if r.children(c, first+mark+" ", rest+strings.Repeat(" ", len(mark)+1)); len(r.rows) == before {
				r.rows = append(r.rows, first+mark)
			}
			first = rest
		}
	case *ast.Heading:
		r.rows = append(r.rows, strings.TrimRight(first+strings.Repeat("#", n.Level)+" "+r.lines(n, " "), " "))
	case *ast.ThematicBreak:
		r.rows = append(r.rows, first+strings.Repeat("─", ruleLen))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		if first != rest {
			r.rows = append(r.rows, strings.TrimRight(first, " "))
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(r.lines(n, "\n"), "\n"), "\n") {
			if n.Lines().Len() > 0 {
				r.rows = append(r.rows, rest+codeIndent+line)
			}
		}
	default:
		r.paragraph(n, first, rest)
	}
}

// paragraph adds a row for what ends with a hard break, or may be HTML.
func (r *treeRows) paragraph(n ast.Node, row, rest string) {
	for i, line := range strings.Split(r.lines(n, "\n"), "\n") {
		isBroken := strings.HasSuffix(line, "  ") || strings.HasSuffix(strings.TrimRight(line, " "), ">")
		if row += line + " "; isBroken && i < n.Lines().Len()-1 {
			r.rows = append(r.rows, row)
			row = rest
		}
	}
	r.rows = append(r.rows, row)
}

func (r *treeRows) lines(n ast.Node, between string) string {
	var lines []string
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		lines = append(lines, strings.TrimRight(string(segment.Value(r.src)), "\n"))
	}
	return strings.Join(lines, between)
}

// bare drops rows without a text, runs of blanks, and the marks of code spans.
func bare(rows []string) []string {
	var kept []string
	for _, row := range rows {
		words := strings.TrimLeft(row, " ")
		indent := row[:len(row)-len(words)]
		if words = strings.Join(strings.Fields(strings.ReplaceAll(words, "`", " ")), " "); strings.Trim(words, "│ ") != "" {
			kept = append(kept, indent+words)
		}
	}
	return kept
}

// hasEmptyItem reports whether an item begins with a blank line, of which goldmark makes
// something else than CommonMark says: what is indented below is not in it.
func hasEmptyItem(document string) bool {
	return slices.ContainsFunc(strings.Split(document, "\n"), func(line string) bool {
		for {
			line = strings.TrimLeft(line, " >")
			m, ok := parseMarker(line)
			if !ok {
				return false
			}
			if line = line[m.length:]; isBlank(line) {
				return true
			}
		}
	})
}

func TestBlocksAreThoseOfGoldmark(t *testing.T) {
	words := []string{"a", "b ", "\n", "\n", "\n\n", "- ", "\n- ", "* ", "\n  ", "\n   ", "\n    ", "\n      ", "  ", "1. ", "\n2. ", "\n10) ", "> ", "\n> ", "\n>", "\n# ", "\n## x",
		"\n```\n", "\n~~~\n", "```", "\n***\n", "\n---\n", "---", "+", "-", "1", ".", "#"}
	for seed := range uint64(20000) {
		random := rand.New(rand.NewPCG(seed, 8))
		var out strings.Builder
		for range 1 + random.IntN(30) {
			out.WriteString(words[random.IntN(len(words))])
		}
		document := out.String()
		if hasEmptyItem(document) {
			continue
		}
		tree := treeRows{src: []byte(document)}
		tree.children(wholeParser().Parse(text.NewReader(tree.src)), "", "")
		want, got := bare(tree.rows), bare(Painter{}.Rows(document))
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %q:\n got %q\nwant %q", seed, document, got, want)
		}
	}
}
