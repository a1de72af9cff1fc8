// Package unmarkup makes Markdown of HTML that others wrote, for a model or a user to read. It
// loads nothing and runs nothing: scripts, styles, forms without words and what a page hides are
// left out, and of the schemes of addresses only http, https and mailto stay.
//
// A page is read as a row of tags, not as a tree: whatever it nests, closes or forgets, time and
// memory grow with its length alone.
package unmarkup

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Options say how a page is read. The zero value reads all of it.
type Options struct {
	Base *url.URL // where relative addresses begin; nil: they stay as they are
	Main bool     // only the content: what the page says is that, without menus and forms
	Most int      // bytes of Markdown; 0: as many as there are
	Look func()   // called now and then, to stop by a panic; it may be nil
}

// Page is a page that was read.
type Page struct{ Text, Title string }

// looksApart is how many tags and texts lie between two looks.
const looksApart = 1 << 10

// Markdown reads a page. The error says that its Markdown would be too long.
func Markdown(page string, o Options) (Page, error) {
	if o.Look == nil {
		o.Look = func() {}
	}
	region := ""
	if o.Main {
		region = regionOf(page, o.Look)
	}
	r, err := readRegion(page, region, o)
	for err == nil && o.Main && strings.TrimSpace(string(r.w.out)) == "" { // nothing in it: then all
		o.Main = region != ""
		region = ""
		r, err = readRegion(page, region, o)
	}
	if err != nil {
		return Page{}, err
	}
	return Page{strings.TrimSpace(string(r.w.out)) + "\n", strings.Join(strings.Fields(r.title), " ")}, nil
}

// readRegion reads what is in an element, or all of a page.
func readRegion(page, region string, o Options) (*reader, error) {
	r := &reader{Options: o, region: region, w: &writer{most: o.Most, look: o.Look}}
	return r, r.read(page)
}

// regionOf is the element in which the content of a page stands, main or article; "" if it has
// neither.
func regionOf(page string, look func()) string {
	found := ""
	z := html.NewTokenizer(strings.NewReader(page))
	for n := 1; z.Next() != html.ErrorToken; n++ {
		if n%looksApart == 0 {
			look()
		}
		switch name, _ := z.TagName(); string(name) {
		case "main":
			return "main"
		case "article":
			found = "article"
		}
	}
	return found
}

// reader goes through the tags of a page.
type reader struct {
	Options
	region string // the element that is read; "": all
	inside int    // how many of it are open
	title  string
	w      *writer

	skipped string // the element that is left out; "" for none
	depth   int    // how many of its name are open
}

// ErrTooLong says that there is more Markdown than wanted.
var ErrTooLong = errors.New("its Markdown is too long")

func (r *reader) read(page string) error {
	z := html.NewTokenizer(strings.NewReader(page))
	inTitle := false
	for n := 1; ; n++ {
		if n%looksApart == 0 {
			r.Look()
		}
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			r.w.end()
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return err
			}
			return r.w.err()
		case html.TextToken:
			switch {
			case inTitle && r.title == "":
				r.title = string(z.Text())
			case r.skipped == "" && !inTitle && (r.region == "" || r.inside > 0):
				r.w.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			raw, hasAttr := z.TagName()
			name := string(raw)
			if name == "title" {
				inTitle = kind != html.EndTagToken && r.skipped == ""
				continue
			}
			if kind == html.EndTagToken {
				r.close(name)
			} else {
				r.open(name, attributes(z, hasAttr), kind == html.SelfClosingTagToken && isForeign(name))
			}
		}
		if err := r.w.err(); err != nil {
			return err
		}
	}
}

// attributes are those that decide something here.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	var all map[string]string
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch name := string(key); name {
		case "href", "src", "alt", "class", "hidden", "style", "aria-hidden", "start":
			if all == nil {
				all = map[string]string{}
			}
			if _, again := all[name]; !again {
				all[name] = string(value)
			}
		}
	}
	return all
}

// isForeign reports whether an element ends with a slash in its first tag: in HTML no other does,
// so <script/> begins a script.
func isForeign(name string) bool { return name == "svg" || name == "math" }

// open reads the beginning of an element, which may be its end, too.
func (r *reader) open(name string, attr map[string]string, isClosed bool) {
	if r.skipped != "" {
		if name == r.skipped && !isClosed {
			r.depth++
		}
		return
	}
	if !isClosed && (isLeftOut(name, r.Main) || isHidden(name, attr)) {
		r.skipped, r.depth = name, 1
		return
	}
	if name == r.region {
		r.w.block()
		r.inside++
	}
	if r.region != "" && r.inside == 0 {
		return
	}
	switch name {
	case "base":
		r.Base = r.resolve(attr["href"])
	case "a":
		r.w.openInline(name, r.address(attr["href"]))
	case "img":
		if alt := strings.TrimSpace(attr["alt"]); alt != "" {
			r.w.image(alt, r.address(attr["src"]))
		}
	default:
		r.w.open(name, attr)
	}
}

// close reads the end of an element.
func (r *reader) close(name string) {
	if r.skipped != "" {
		if name == r.skipped {
			if r.depth--; r.depth == 0 {
				r.skipped = ""
			}
		}
		return
	}
	if r.region == "" || r.inside > 0 {
		r.w.close(name)
	}
	if name == r.region && r.inside > 0 {
		r.inside--
	}
}

// isLeftOut reports whether the content of an element is for programs, or, of a page whose content
// is asked for, stands around that.
func isLeftOut(name string, around bool) bool {
	switch name {
	case "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas", "audio", "video", "select", "button", "textarea":
		return true
	case "nav", "aside", "footer", "form":
		return around
	}
	return false
}

// isHidden reports whether a page does not show an element. Those whose end may be left out are
// shown: nobody would know where what is hidden ends.
func isHidden(name string, attr map[string]string) bool {
	switch name {
	case "p", "li", "td", "th", "tr", "dd", "dt", "option", "html", "body", "head", "img", "br", "hr", "input", "meta", "link", "tbody", "thead", "tfoot", "col", "wbr", "area", "base", "source", "track", "embed", "param":
		return false
	}
	_, hidden := attr["hidden"]
	style := strings.ReplaceAll(strings.ToLower(attr["style"]), " ", "")
	return hidden || attr["aria-hidden"] == "true" || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// resolve is an address as the page means it; nil for none.
func (r *reader) resolve(address string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || address == "" {
		return r.Base
	}
	if r.Base != nil {
		u = r.Base.ResolveReference(u)
	}
	return u
}

// address is an address that a reader may follow; "" for one of a program, such as javascript:, and
// for a place on the page itself.
func (r *reader) address(written string) string {
	written = strings.TrimSpace(written)
	if written == "" || written[0] == '#' || len(written) > 2000 {
		return ""
	}
	u := r.resolve(written)
	if u == nil {
		return ""
	}
	switch u.Scheme {
	case "", "http", "https", "mailto":
		return inParentheses.Replace(u.String())
	}
	return ""
}

// inParentheses writes an address such that Markdown knows where it ends.
var inParentheses = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E")

func (w *writer) err() error {
	if w.most > 0 && len(w.out) > w.most {
		return fmt.Errorf("%w: more than %d bytes", ErrTooLong, w.most)
	}
	return nil
}
