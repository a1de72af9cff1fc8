// Package markup writes HTML in which only constants of the program are markup.
//
//	w := markup.New(out)
//	w.Raw(`<h1`)
//	w.Attr("title", name)
//	w.Raw(`>`)
//	w.Text(name)
//	w.Raw(`</h1>`)
//	err := w.Flush()
//
// Text that others wrote (models, tools, files, names) gets into a page through [Writer.Text],
// [Writer.Line], [Writer.Attr] and [Writer.Link] and nowhere else: these take every string, escape what
// HTML could take for markup, and make the text fit to be shown as package printable does. Markup
// is a [Literal], which a variable becomes only by a conversion; a test of the house forbids
// those. So nothing that is not written in the source can become an element, an attribute,
// a script or an address that a browser follows by itself.
//
// What is written is XML too, as long as the literals are: elements are closed, attributes
// have quotes.
package markup

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"pi/internal/printable"
)

// Literal is markup. Only constants may be one.
type Literal string

// Writer writes a page piece by piece. The first error ends the writing; Flush returns it.
// It is for one goroutine.
type Writer struct {
	w   *bufio.Writer
	err error
}

// New returns a Writer to w, which buffers.
func New(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// Flush hands on what is buffered, and returns the first error that there was.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// Err returns the first error that there was. After it nothing is written any more.
func (w *Writer) Err() error { return w.err }

func (w *Writer) write(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

// Raw writes markup as it is.
func (w *Writer) Raw(markup Literal) { w.write(string(markup)) }

// Int writes a number.
func (w *Writer) Int(n int) { w.write(strconv.Itoa(n)) }

// Text writes a text: what could control a terminal or hide is gone or shown by its
// number, and what HTML takes for markup is escaped. Line ends and tabs stay.
func (w *Writer) Text(s string) { w.escape(printable.Text(s)) }

// Line is Text in one line.
func (w *Writer) Line(s string) { w.escape(printable.Line(s)) }

// Attr writes an attribute with a blank before it. Its value is the parts, one behind the
// other, as Text writes them.
func (w *Writer) Attr(name Literal, parts ...string) {
	w.write(" ")
	w.Raw(name)
	w.write(`="`)
	for _, part := range parts {
		w.Text(part)
	}
	w.write(`"`)
}

// Link writes the attributes of an element that leads to an address, and reports whether
// it did: only those with http, https and mailto are led to. Whatever is not a visible
// character of ASCII is written in percent, so the address is one word.
func (w *Writer) Link(address string) bool {
	if !IsLink(address) {
		return false
	}
	w.Attr("href", percent(address))
	w.Raw(` rel="noreferrer noopener"`)
	return true
}

// IsLink reports whether a page may lead to an address.
func IsLink(address string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(address) > len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// percent writes the bytes that are not visible characters of ASCII in percent.
func percent(address string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(address) {
		if c := address[i]; c > ' ' && c < 0x7f {
			out.WriteByte(c)
		} else {
			out.WriteByte('%')
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		}
	}
	return out.String()
}

// escaped is what stands for a character that HTML or XML could take for something else.
// U+FFFE and U+FFFF are no characters, and XML has no way to write them.
func escaped(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '"':
		return "&#34;"
	case '\'':
		return "&#39;"
	case '\uFFFE', '\uFFFF':
		return "\uFFFD"
	}
	return ""
}

// escape writes a text that is fit to be shown.
func (w *Writer) escape(s string) {
	from := 0
	for i, r := range s {
		if r > '>' && r < '\uFFFE' {
			continue
		}
		if instead := escaped(r); instead != "" {
			w.write(s[from:i])
			w.write(instead)
			from = i + len(string(r))
		}
	}
	w.write(s[from:])
}
