// Package frontmatter reads the fields at the head of a Markdown file: lines between two
// of ---, in the part of YAML that people write there.
//
//	---
//	name: review            # a text goes to the end of its line; a comment is no part
//	description: >          # or over the lines below: > joins them, | keeps them
//	  What it does,
//	  and when.
//	tools: [read, grep]     # a list, also as lines that begin with -
//	metadata:               # fields of a field
//	  author: "Anna"
//	---
//	The body.
//
// It is kinder than YAML where that is what people mean: a text may have a colon and a
// blank in it. What cannot be read is a [Problem] with its line, and the rest counts
// nevertheless. Everything is text: 1 and true are "1" and "true".
package frontmatter

import (
	"fmt"
	"regexp"
	"strings"
)

// Document is a file in its parts.
type Document struct {
	Fields   []Field
	Body     string // what follows the fields; without fields all of it
	Problems []Problem
}

// Field is one field. It has a text, a list, or fields of its own.
type Field struct {
	Name   string
	Line   int    // of the file, from 1
	Raw    string // what follows the colon in its line, as it is written
	Text   string
	List   []string
	Fields []Field
}

// Problem is what is wrong with a file: here what cannot be read of it, elsewhere also what its fields
// say.
type Problem struct {
	Path string // as people are shown it; "" for a text that is no file
	Line int    // from 1; 0: of the file as a whole
	Text string
}

// Error is the problem in one line.
func (p Problem) Error() string {
	switch {
	case p.Path == "":
		return fmt.Sprintf("line %d: %s", p.Line, p.Text)
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.Path, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// Text returns the text of a field, "" if there is none.
func (d Document) Text(name string) string {
	f, _ := d.Field(name)
	return f.Text
}

// Field returns the field with this name, and whether there is one.
func (d Document) Field(name string) (Field, bool) {
	for _, f := range d.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// maxHead is how long the fields may be, in bytes. Each of their lines may be a problem, which
// takes fifty times as much.
const maxHead = 256 << 10

// Parse divides the text of a file. One that does not begin with a line of --- has no
// fields. A head without an end, or a longer one than maxHead, is a problem, and then all of
// the text is the body.
func Parse(text string) Document {
	text = strings.TrimPrefix(text, "\uFEFF")
	head, body, ok := cutHead(text)
	if !ok {
		d := Document{Body: text}
		if first, _, _ := strings.Cut(text, "\n"); isMark(first) && first != "..." {
			d.Problems = []Problem{{Line: 1, Text: "the fields that begin here have no end, a line of ---"}}
		}
		return d
	}
	if len(head) > maxHead {
		return Document{Body: text, Problems: []Problem{{Line: 1, Text: fmt.Sprintf("the fields that begin here are longer than %d KiB", maxHead>>10)}}}
	}
	p := parser{}
	d := Document{Body: body}
	d.Fields = p.fields(numbered(head, 2), 0)
	d.Problems = p.problems
	return d
}

// isMark reports whether a line begins or ends the fields.
func isMark(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	return line == "---" || line == "..."
}

// cutHead returns what is between the first line, if that is ---, and the next such line,
// and what follows.
func cutHead(text string) (head, body string, ok bool) {
	first, rest, more := strings.Cut(text, "\n")
	if !more || strings.TrimRight(first, " \t\r") != "---" {
		return "", "", false
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		if isMark(line) {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return "", "", false
}

// row is a line of the head.
type row struct {
	number int
	indent int    // characters of blank before it
	text   string // without them, and without blank at its end; "" for a blank line
}

// isBlank reports whether a row says nothing: it is empty, or a comment.
func (r row) isBlank() bool { return r.text == "" || r.text[0] == '#' }

// isItem reports whether a row is one of a list.
func (r row) isItem() bool { return r.text == "-" || strings.HasPrefix(r.text, "- ") }

// numbered divides a text into rows, the first of which has the number first.
func numbered(text string, first int) (rows []row) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		rows = append(rows, row{first + len(rows), len(line) - len(bare), bare})
	}
	return rows
}

// parser collects what it cannot read.
type parser struct{ problems []Problem }

func (p *parser) refuse(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// fieldPattern is how a field begins.
var fieldPattern = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)[ \t]*:(?:[ \t]+(.*))?$`)

// mostDepth is how deep fields may lie in fields.
const mostDepth = 8

// fields reads rows of "name: value", each with the rows below it that are indented more.
func (p *parser) fields(rows []row, depth int) (fields []Field) {
	lines := map[string]int{}
	indent := -1
	for i := 0; i < len(rows); i++ {
		r := rows[i]
		if r.isBlank() {
			continue
		}
		if indent < 0 {
			indent = r.indent
		}
		parts := fieldPattern.FindStringSubmatch(r.text)
		if parts == nil || r.indent != indent {
			p.refuse(r.number, "%q is no field, as in name: value", r.text)
			continue
		}
		below := blockBelow(rows[i+1:], r.indent, parts[2] == "")
		i += len(below)
		if before := lines[parts[1]]; before > 0 {
			p.refuse(r.number, "%s is there twice, first in line %d", parts[1], before)
			continue
		}
		lines[parts[1]] = r.number
		f := Field{Name: parts[1], Line: r.number, Raw: parts[2]}
		p.value(&f, parts[2], below, depth)
		fields = append(fields, f)
	}
	return fields
}

// blockBelow returns the first of rows, as many as belong to the field above them: those
// that are indented more, and, if the field has no text in its own line, items of a list
// that are indented as much.
func blockBelow(rows []row, indent int, bare bool) []row {
	n := 0
	for i, r := range rows {
		if r.text == "" {
			continue
		}
		if r.indent < indent || r.indent == indent && !(bare && r.isItem()) {
			break
		}
		n = i + 1
	}
	return rows[:n]
}

// value reads the value of a field: what is behind its colon, and the rows below.
func (p *parser) value(f *Field, text string, below []row, depth int) {
	switch {
	case blockPattern.MatchString(text):
		f.Text = blockText(below, text[0] == '>')
	case strings.HasPrefix(text, "["):
		p.flow(f, joined(text, below))
	case text != "" && text[0] != '#':
		f.Text = p.scalar(f.Line, joined(text, below))
	case firstContent(below).text == "":
	case firstContent(below).isItem():
		f.List = p.items(below)
	case depth < mostDepth && fieldPattern.MatchString(firstContent(below).text):
		f.Fields = p.fields(below, depth+1)
	default:
		f.Text = p.scalar(f.Line, joined("", below))
	}
}

// blockPattern is what announces a text in the rows below.
var blockPattern = regexp.MustCompile(`^[|>][0-9+-]{0,2}([ \t]+#.*)?$`)

// firstContent returns the first row that says something; an empty one if none does.
func firstContent(rows []row) row {
	for _, r := range rows {
		if !r.isBlank() {
			return r
		}
	}
	return row{}
}

// blockText returns the text of rows, without what they are all indented by, and without
// blank at its end. With fold, rows become one, but for those between which a blank one
// lies and those that are indented more.
func blockText(rows []row, fold bool) string {
	indent := -1
	var b strings.Builder
	breaks, wasDeeper := 0, false
	for _, r := range rows {
		if r.text == "" {
			breaks++
			continue
		}
		if indent < 0 {
			indent, breaks = r.indent, 0
		}
		deeper := r.indent > indent
		switch {
		case b.Len() == 0:
		case !fold || deeper || wasDeeper:
			b.WriteString(strings.Repeat("\n", breaks+1))
		case breaks > 0:
			b.WriteString(strings.Repeat("\n", breaks))
		default:
			b.WriteByte(' ')
		}
		b.WriteString(strings.Repeat(" ", max(0, r.indent-indent)) + r.text)
		breaks, wasDeeper = 0, deeper
	}
	return b.String()
}

// joined returns a text that goes on in the rows below, in one line.
func joined(text string, below []row) string {
	for _, r := range below {
		if r.text != "" {
			text += " " + r.text
		}
	}
	return strings.TrimLeft(text, " ")
}

// items reads the rows of a list.
func (p *parser) items(rows []row) []string {
	list, indent := []string{}, firstContent(rows).indent
	for i := 0; i < len(rows); i++ {
		r := rows[i]
		if r.isBlank() {
			continue
		}
		if !r.isItem() || r.indent != indent {
			p.refuse(r.number, "%q is no item of the list, as in - value", r.text)
			continue
		}
		below := blockBelow(rows[i+1:], r.indent, false)
		i += len(below)
		list = append(list, p.scalar(r.number, joined(strings.TrimLeft(r.text[1:], " \t"), below)))
	}
	return list
}
