package unmarkup

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of what is shown as it is nested. What is deeper is there, without its form.
const (
	mostIndents = 8   // lists and quotes
	mostInline  = 16  // emphasis in emphasis
	mostOpen    = 256 // of any kind
)

// writer puts blocks and the texts in them together. What emphasises is written when it ends, so
// that nothing is around nothing; at the end of a block everything in a line ends.
type writer struct {
	most int
	look func()
	out  []byte

	space   bool     // blanks came, which are one if a text follows
	breaks  int      // ends of lines that are due before the next text
	marker  string   // of a list, before the next text
	indents []indent // lists and quotes
	inline  []inline
	pre     *pre
	table   *table
}

type indent struct {
	name   string // ul, ol, blockquote or li
	next   int    // number in an ol
	prefix string // what it puts before the lines inside

	outer         string // what stands before those around it
	items, quotes int    // up to this one
}

// enter adds a list, an item or a quote; prefix is left out of one that is nested too deep.
func (w *writer) enter(in indent, prefix string) {
	if len(w.indents) >= mostOpen {
		return
	}
	around := w.innermost()
	in.outer, in.items, in.quotes = around.outer+around.prefix, around.items, around.quotes
	switch in.name {
	case "li":
		in.items++
	case "blockquote":
		in.quotes++
	}
	if in.items+in.quotes <= mostIndents {
		in.prefix = prefix
	}
	w.indents = append(w.indents, in)
}

// innermost is the list, item or quote in which the next text stands; an empty one if there is
// none.
func (w *writer) innermost() indent {
	if n := len(w.indents); n > 0 {
		return w.indents[n-1]
	}
	return indent{}
}

// inline is an element in a line that is open.
type inline struct {
	name, mark string
	address    string
	start      int // in out
}

// pre is a text that is shown as it is written.
type pre struct {
	text     []byte
	language string
}

// table collects the cells of a table. A table in a cell is text in that.
type table struct {
	rows  [][]string
	start int // of the cell in out; -1: there is none
	inner int // tables inside
}

// text adds a text of the page.
func (w *writer) text(s string) {
	if w.pre != nil {
		w.pre.text = append(w.pre.text, s...)
		return
	}
	for i := 0; i < len(s); {
		if isBlank(s[i]) {
			w.space = true
			i++
			continue
		}
		end := i
		for end < len(s) && !isBlank(s[end]) {
			end++
		}
		w.word(s[i:end])
		i = end
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// textApart is how many bytes of a word lie between two looks.
const textApart = 8 << 10

// word adds a word, behind what is due before it.
func (w *writer) word(s string) {
	if s = visible(s); s == "" {
		return
	}
	began := w.begin()
	for i := range len(s) {
		if i%textApart == textApart-1 {
			w.look()
		}
		switch c := s[i]; {
		case strings.IndexByte("\\`*[]<", c) >= 0, c == '|' && w.table != nil,
			began && i == 0 && strings.IndexByte("#>+-=~", c) >= 0, c == '_' && (i == 0 || i == len(s)-1):
			w.out = append(w.out, '\\', c)
		case began && (c == '.' || c == ')') && i > 0 && strings.Trim(s[:i], "0123456789") == "" && i == len(s)-1:
			w.out = append(w.out, '\\', c)
		default:
			w.out = append(w.out, c)
		}
	}
}

// visible is a text without control characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// begin writes what is due before a text, and reports whether that begins a line.
func (w *writer) begin() bool {
	began := len(w.out) == 0 || w.breaks > 0
	switch {
	case w.inCell():
		began = false
		if (w.breaks > 0 || w.space) && len(w.out) > w.table.start {
			w.out = append(w.out, ' ')
		}
	case began:
		if len(w.out) > 0 {
			w.lines(min(w.breaks, 2))
		}
		w.out = append(w.out, w.prefix(w.marker != "")...)
		w.out = append(w.out, w.marker...)
		w.marker = ""
	case w.space:
		w.out = append(w.out, ' ')
	}
	for i := range w.inline {
		if w.inline[i].start < 0 {
			w.inline[i].start = len(w.out)
		}
	}
	w.space, w.breaks = false, 0
	return began
}

// lines ends n lines; the empty ones between have the prefix of quotes.
func (w *writer) lines(n int) {
	for range n - 1 {
		w.out = append(append(w.out, '\n'), strings.TrimRight(w.prefix(false), " ")...)
	}
	w.out = append(w.out, '\n')
}

// prefix is what stands before each line in the lists and quotes that are open; of an item whose
// marker comes, without its own indentation.
func (w *writer) prefix(marked bool) string {
	in := w.innermost()
	if marked && in.name == "li" {
		return in.outer
	}
	return in.outer + in.prefix
}

func (w *writer) inCell() bool { return w.table != nil && w.table.start >= 0 }

// block ends the block that is open.
func (w *writer) block() { w.newline(2) }

// newline has n lines end before the next text.
func (w *writer) newline(n int) {
	w.closeInline(0, true)
	if len(w.out) > 0 && w.marker == "" {
		w.breaks = max(w.breaks, n)
	}
	w.space = false
}

// open begins an element.
func (w *writer) open(name string, attr map[string]string) {
	if w.pre != nil {
		if name == "br" {
			w.pre.text = append(w.pre.text, '\n')
		}
		if language, ok := strings.CutPrefix(attr["class"], "language-"); ok && name == "code" && len(w.pre.text) == 0 {
			w.pre.language, _, _ = strings.Cut(language, " ")
		}
		return
	}
	switch name {
	case "strong", "b", "em", "i", "code", "kbd", "samp", "tt", "del", "s":
		w.openInline(name, "")
	case "br":
		w.newline(1)
	case "hr":
		w.block()
		if !w.inCell() {
			w.begin()
			w.out = append(w.out, "---"...)
			w.block()
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.block()
		if !w.inCell() {
			w.marker += strings.Repeat("#", int(name[1]-'0')) + " "
		}
	case "pre":
		w.block()
		w.pre = &pre{}
	case "table":
		w.openTable()
	case "tr", "td", "th":
		w.openCell(name)
	case "ul", "ol", "blockquote", "li":
		w.openIndent(name, attr)
	default:
		if isBlock(name) {
			w.block()
		}
	}
}

// isBlock reports whether an element stands for itself.
func isBlock(name string) bool {
	switch name {
	case "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption", "address", "dl", "dt", "dd",
		"details", "summary", "form", "fieldset", "body", "head", "html", "center", "caption", "hgroup", "option", "legend":
		return true
	}
	return false
}

// close ends an element.
func (w *writer) close(name string) {
	if w.pre != nil {
		if name == "pre" {
			w.writePre()
		}
		return
	}
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.marker = strings.TrimSuffix(w.marker, strings.Repeat("#", int(name[1]-'0'))+" ")
		w.block()
	case "table":
		w.closeTable()
	case "tr", "td", "th":
		w.closeCell()
	case "ul", "ol", "blockquote", "li":
		w.closeIndent(name)
	default:
		for i := len(w.inline) - 1; i >= 0; i-- {
			if w.inline[i].name == name {
				w.closeInline(i, false)
				return
			}
		}
		if isBlock(name) {
			w.block()
		}
	}
}

// openIndent begins a list, an item or a quote.
func (w *writer) openIndent(name string, attr map[string]string) {
	if w.inCell() {
		w.newline(1)
		return
	}
	if name != "li" {
		if w.innermost().items > 0 && name != "blockquote" {
			w.newline(1)
		} else {
			w.block()
		}
		in := indent{name: name, next: 1}
		if n, err := strconv.Atoi(attr["start"]); err == nil && n >= 0 && n < 1e6 {
			in.next = n
		}
		prefix := ""
		if name == "blockquote" {
			prefix = "> "
		}
		w.enter(in, prefix)
		return
	}
	w.closeItem()
	w.newline(1)
	marker := "- "
	if n := len(w.indents); n > 0 && w.indents[n-1].name == "ol" {
		marker = strconv.Itoa(w.indents[n-1].next) + ". "
		w.indents[n-1].next++
	}
	w.enter(indent{name: "li"}, strings.Repeat(" ", len(marker)))
	w.marker = marker
}

// closeItem ends the item of the innermost list, whose end tag may be left out.
func (w *writer) closeItem() {
	if n := len(w.indents); n > 0 && w.indents[n-1].name == "li" {
		w.indents = w.indents[:n-1]
		w.marker = ""
	}
}

// closeIndent ends the innermost list, item or quote of a name, with what is open in it.
func (w *writer) closeIndent(name string) {
	for i := len(w.indents) - 1; i >= 0; i-- {
		if w.indents[i].name != name {
			continue
		}
		w.indents = w.indents[:i]
		break
	}
	w.marker = ""
	if name == "li" || w.innermost().items > 0 {
		w.newline(1)
	} else {
		w.block()
	}
}

// openInline begins an element in a line, such as a link.
func (w *writer) openInline(name, address string) {
	if w.pre != nil {
		return
	}
	if name == "a" { // no link is in a link
		w.close("a")
	}
	if len(w.inline) >= mostInline {
		return
	}
	w.inline = append(w.inline, inline{name: name, mark: markOf(name), address: address, start: -1})
}

// markOf is what stands around the text of an element; "" for a link.
func markOf(name string) string {
	switch name {
	case "strong", "b":
		return "**"
	case "em", "i":
		return "*"
	case "code", "kbd", "samp", "tt":
		return "`"
	case "del", "s":
		return "~~"
	}
	return ""
}

// closeInline ends the elements in a line from the i-th on. At the end of a block those that have
// no text yet go on.
func (w *writer) closeInline(i int, atBlock bool) {
	var kept []inline
	for n := len(w.inline) - 1; n >= i; n-- {
		in := w.inline[n]
		if in.start < 0 {
			if atBlock {
				kept = append(kept, in)
			}
			continue
		}
		w.around(in)
	}
	slices.Reverse(kept)
	w.inline = append(w.inline[:i], kept...)
}

// around writes the marks of an element around its text.
func (w *writer) around(in inline) {
	text := string(w.out[in.start:])
	switch {
	case in.name == "a" && in.address == "", text == "":
		return
	case in.name == "a":
		text = "[" + text + "](" + in.address + ")"
	case in.mark == "`":
		text = inCode(text)
	default:
		text = in.mark + text + in.mark
	}
	w.out = append(w.out[:in.start], text...)
}

// inCode is a text between as many backquotes as it needs. In code nothing is escaped.
func inCode(text string) string {
	var bare strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\`*[]<|_#>+-=~.)", text[i+1]) >= 0 {
			i++
		}
		bare.WriteByte(text[i])
	}
	text = bare.String()
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// longestRun is how often a byte stands behind itself at most.
func longestRun(text string, c byte) (longest int) {
	for i, run := 0, 0; i < len(text); i++ {
		if run++; text[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// image writes a picture, by its words.
func (w *writer) image(alt, address string) {
	alt = strings.Join(strings.Fields(visible(alt)), " ")
	w.begin()
	if address == "" {
		w.out = append(w.out, alt...)
		return
	}
	w.out = append(w.out, "!["+strings.NewReplacer("[", "\\[", "]", "\\]").Replace(alt)+"]("+address+")"...)
}

// writePre writes a text as it is, between fences.
func (w *writer) writePre() {
	p := w.pre
	w.pre = nil
	text := strings.Trim(strings.ReplaceAll(string(p.text), "\r\n", "\n"), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	if w.inCell() {
		w.begin()
		w.out = append(w.out, inCode(strings.Join(strings.Fields(text), " "))...)
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	w.begin()
	prefix := w.prefix(false)
	w.out = append(w.out, fence+visible(p.language)...)
	for line := range strings.Lines(text) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return -1
			}
			return r
		}, line)
		w.out = append(append(append(w.out, '\n'), prefix...), line...)
		if w.err() != nil {
			return
		}
	}
	w.out = append(append(append(w.out, '\n'), prefix...), fence...)
	w.block()
}

func (w *writer) openTable() {
	if w.table != nil {
		w.table.inner++
		return
	}
	w.block()
	w.table = &table{start: -1}
}

// openCell begins a row or a cell.
func (w *writer) openCell(name string) {
	switch {
	case w.table == nil:
		w.block()
	case w.table.inner > 0:
		w.space = true
	case name == "tr":
		w.closeCell()
		w.table.rows = append(w.table.rows, nil)
	default:
		w.closeCell()
		w.table.start = len(w.out)
		w.space, w.breaks = false, 0
	}
}

// closeCell ends the cell that is open.
func (w *writer) closeCell() {
	if !w.inCell() || w.table.inner > 0 {
		w.space = true
		return
	}
	w.closeInline(0, false)
	cell := strings.TrimSpace(string(w.out[w.table.start:]))
	w.out, w.table.start = w.out[:w.table.start], -1
	if len(w.table.rows) == 0 {
		w.table.rows = append(w.table.rows, nil)
	}
	last := len(w.table.rows) - 1
	w.table.rows[last] = append(w.table.rows[last], cell)
	w.space, w.breaks = false, 0
}

// closeTable writes the rows of the table. The first is its head, as Markdown wants one.
func (w *writer) closeTable() {
	if w.table == nil {
		return
	}
	if w.table.inner > 0 {
		w.table.inner--
		w.space = true
		return
	}
	w.closeCell()
	rows := slices.DeleteFunc(w.table.rows, func(row []string) bool { return strings.Join(row, "") == "" })
	w.table, w.breaks = nil, 2
	for i, row := range rows {
		w.begin()
		w.out = append(w.out, "| "+strings.Join(row, " | ")+" |"...)
		w.breaks = 1
		if i == 0 {
			w.begin()
			w.out = append(append(w.out, '|'), bytes.Repeat([]byte(" --- |"), len(row))...)
			w.breaks = 1
		}
		if w.err() != nil {
			return
		}
	}
	w.block()
}

// end ends all that is open.
func (w *writer) end() {
	if w.pre != nil {
		w.writePre()
	}
	if w.table != nil {
		w.table.inner = 0
		w.closeTable()
	}
	w.closeInline(0, false)
}
