package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"pi/internal/cells"
)

// stableEnd returns up to where the text from from on stays as it is, whatever follows the
// window: before anything that is open, outside of anything that is marked up.
func (t inlineTree) stableEnd(from int) int {
	safe := min(t.lastWord(from), t.firstOpenMark())
	for {
		cut := t.lastDivision(from, safe)
		if safe = t.beforeAddress(from, cut); safe == cut {
			return cut
		}
	}
}

// lastDivision returns the last place up to safe where the text can be divided.
func (t inlineTree) lastDivision(from, safe int) int {
	best := from
	for c := t.root.FirstChild(); c != nil; c = c.NextSibling() {
		text, ok := c.(*ast.Text)
		if !ok {
			continue
		}
		if text.Segment.Start > safe {
			break
		}
		if cut := t.divisionIn(text, min(safe, text.Segment.Stop)); cut > best {
			best = cut
		}
	}
	return best
}

// beforeAddress returns a place up to at that is not in the middle of an address.
func (t inlineTree) beforeAddress(from, at int) int {
	if at == len(t.src) || isSpace(t.src[at]) {
		return at
	}
	begin := at
	for begin > from && t.src[begin-1] < utf8.RuneSelf && !isSpace(t.src[begin-1]) {
		begin--
	}
	if bytes.Contains(t.src[begin:at], []byte("http")) {
		return begin
	}
	return at
}

// divisionIn returns the last place up to cut where a text outside of all markup can be
// divided, or 0. No run of marks is divided, and the place of marks that were used in
// part is not known.
func (t inlineTree) divisionIn(text *ast.Text, cut int) int {
	start, stop := text.Segment.Start, text.Segment.Stop
	for cut > start && cut < len(t.src) && isMark(t.src[cut]) && t.src[cut-1] == t.src[cut] && !isEscaped(t.src, cut-1) {
		cut--
	}
	if cut == start && start < len(t.src) && isMark(t.src[start]) && !continues(text.PreviousSibling(), start) {
		return 0
	}
	next := text.NextSibling()
	if cut == stop && cut < len(t.src) && next != nil && next.Pos() != cut && !isSpace(t.src[cut]) {
		return 0
	}
	return cut
}

// isEscaped reports whether a backslash takes the meaning of the byte at a place.
func isEscaped(src []byte, at int) bool {
	n := 0
	for n < at && src[at-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// continues reports whether there is nothing before a place, or a text that ends there.
func continues(before ast.Node, at int) bool {
	text, ok := before.(*ast.Text)
	return before == nil || ok && text.Segment.Stop == at
}

// lastWord returns where the last word of the window begins, with the blanks before it, or
// the blanks at its end: what follows may belong to it.
func (t inlineTree) lastWord(from int) int {
	end := len(t.src)
	if i := trimSpace(t.src, end); i < end {
		return max(i, from)
	}
	begin := end
	for begin > from && t.src[begin-1] < utf8.RuneSelf && !isSpace(t.src[begin-1]) {
		begin--
	}
	if begin == end {
		begin = t.lastCluster(from)
	}
	return max(trimSpace(t.src, begin), from)
}

// trimSpace returns where the blanks before a place begin, or the backslash before them:
// together they can end a line.
func trimSpace(src []byte, end int) int {
	blanks := end
	for end > 0 && isSpace(src[end-1]) {
		end--
	}
	if end > 0 && end < blanks && src[end-1] == '\\' && !isEscaped(src, end-1) {
		end--
	}
	return end
}

// lastCluster returns where the last cluster begins, which is not of ASCII alone. If it
// begins with a letter of ASCII, the word before it counts too.
func (t inlineTree) lastCluster(from int) int {
	begin := len(t.src)
	for begin > from && t.src[begin-1] >= utf8.RuneSelf {
		begin--
	}
	if begin > from {
		begin--
	}
	last := begin
	for cluster := range cells.Clusters(string(t.src[begin:])) {
		last = begin
		begin += len(cluster)
	}
	for last > from && t.src[last] < utf8.RuneSelf && t.src[last-1] < utf8.RuneSelf && !isSpace(t.src[last-1]) {
		last--
	}
	return last
}

// firstOpenMark returns the place of the first mark that later text may end.
func (t inlineTree) firstOpenMark() int {
	o := opens{src: t.src, first: len(t.src)}
	o.visit(t.root, false)
	if len(o.brackets) > 0 {
		o.note(o.brackets[0])
	}
	return o.first
}

// opens searches the texts of a tree for marks that are open.
type opens struct {
	src      []byte
	first    int
	brackets []int
	marks    []int // of emphasis and code spans
	isDone   bool  // at a code span that is open: nothing behind it counts
}

func (o *opens) note(at int) { o.first = min(o.first, at) }

// visit searches a node. In what is marked up already, emphasis that did not find its end
// never does.
func (o *opens) visit(n ast.Node, isInner bool) {
	for c := n.FirstChild(); c != nil && !o.isDone; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			o.text(c.Segment.Start, c.Segment.Stop, isInner)
		case *ast.CodeSpan:
		default:
			o.visit(c, true)
		}
	}
}

func (o *opens) text(start, stop int, isInner bool) {
	for i := start; i < stop && !o.isDone; i++ {
		switch c := o.src[i]; c {
		case '\\':
			if i+1 < stop && util.IsPunct(o.src[i+1]) {
				i++
			}
		case '`':
			o.note(i)
			o.marks = append(o.marks, i)
			o.isDone = true
		case '*', '_', '~':
			if !isInner && o.mayOpen(i) {
				o.note(i)
				o.marks = append(o.marks, i)
			}
		case '<':
			if !bytes.ContainsAny(o.src[i+1:], " \t\n<>") {
				o.note(i)
			}
		case '[', ']':
			o.bracket(i)
		}
	}
}

// bracket follows the nesting of brackets. One that is closed is open still if the
// address behind it is not complete.
func (o *opens) bracket(i int) {
	if o.src[i] == '[' {
		if i > 0 && o.src[i-1] == '!' && !isEscaped(o.src, i-1) {
			i--
		}
		o.brackets = append(o.brackets, i)
		return
	}
	last := len(o.brackets) - 1
	if last < 0 {
		return
	}
	if i+1 == len(o.src) || o.src[i+1] == '(' && isAddressOpen(o.src[i+2:]) {
		o.note(o.brackets[last])
	}
	o.brackets = o.brackets[:last]
}

// isAddressOpen reports whether what follows "](" may still become an address and ")".
func isAddressOpen(s []byte) bool {
	s = bytes.TrimLeft(s, " \t\n")
	if len(s) > 0 && s[0] == '<' {
		return true
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '(':
			depth++
		case s[i] == ')':
			if depth--; depth < 0 {
				return false
			}
		case isSpace(s[i]):
			rest := bytes.TrimLeft(s[i:], " \t\n")
			return len(rest) == 0 || bytes.IndexByte([]byte("\"'()"), rest[0]) >= 0
		}
	}
	return true
}

// mayOpen reports whether a mark of emphasis can begin one, by the characters around the
// run that it belongs to.
func (o *opens) mayOpen(i int) bool {
	c, begin, end := o.src[i], i, i
	for begin > 0 && o.src[begin-1] == c && !isEscaped(o.src, begin-1) {
		begin--
	}
	for end < len(o.src) && o.src[end] == c {
		end++
	}
	before, after := ' ', ' '
	if begin > 0 {
		before, _ = utf8.DecodeLastRune(o.src[:begin])
	}
	if end < len(o.src) {
		after, _ = utf8.DecodeRune(o.src[end:])
	}
	if util.IsSpaceRune(after) || c == '~' && end-begin != 2 {
		return false
	}
	isAfterWord := !util.IsSpaceRune(before) && !util.IsPunctRune(before)
	return !isAfterWord || c != '_' && !util.IsPunctRune(after)
}
