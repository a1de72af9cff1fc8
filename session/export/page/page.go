// Package page writes a session as one page of HTML that needs nothing else.
//
//	page.Write(w, s, page.Options{})
//
// Without its script the page is a transcript: the current branch in its order, under headings, with the
// output of tools folded, and what is on other branches at its end. With the script (script/) there is a
// tree to switch branches by, search, folding, a chart of tokens and cost, copy buttons and
// keys.
//
// The page asks nobody for anything: its policy forbids all requests, and all scripts and
// styles but the two that are embedded here, by their hash. Everything that the session says
// is written by package markup, which escapes it. The script finds all that it
// needs in the elements of the page; nothing of the session is ever part of a script.
//
// Of an entry the page says
//
//	id="m12"       it is the twelfth of the file; a link to it holds for later exports too
//	data-p="11"    the number of the entry that it goes on from; entries without an element do not count
//	data-u="…"     what an answer used: input, output, cache read, cache write, cost
//
// The page is written entry by entry: no more of a session is decoded at a time than an answer
// with the results of its calls.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"io"
	"time"

	"pi/internal/markdown"
	"pi/internal/markup"
	"pi/internal/printable"
	"pi/internal/version"
	"pi/session"
	"pi/session/message"
)

// Options say what a page shows besides the session.
type Options struct {
	Now func() time.Time // when it is written; nil: time.Now
}

// mostTitle is how many characters a title may have, and the line of a call of its argument.
const mostTitle = 160

//go:embed page.css
var style markup.Literal

// The files of the script, in their order.
var (
	//go:embed script/elements.js
	elementsScript markup.Literal
	//go:embed script/tree.js
	treeScript markup.Literal
	//go:embed script/go.js
	goScript markup.Literal
	//go:embed script/fold.js
	foldScript markup.Literal
	//go:embed script/copy.js
	copyScript markup.Literal
	//go:embed script/chart.js
	chartScript markup.Literal
	//go:embed script/sidebar.js
	sidebarScript markup.Literal
	//go:embed script/search.js
	searchScript markup.Literal
	//go:embed script/keys.js
	keysScript markup.Literal
)

// script is what a page runs: one module, so that its names are nobody else's.
func script() markup.Literal {
	return elementsScript + treeScript + goScript + foldScript + copyScript + chartScript + sidebarScript + searchScript + keysScript
}

// Write writes a session as a page. gone is how many of its entries could not be read
// from its file any more; the page says so where they would be.
func Write(w io.Writer, s *session.Session, o Options) (gone int, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	out := markup.New(w)
	p := &page{
		w: out, prose: markdown.NewPage(out), session: s, labels: s.Labels(), path: s.Branch(), entries: s.Entries(),
		children: map[string][]*session.Entry{}, numbers: map[string]int{}, written: map[string]bool{}, hidden: map[string]bool{},
	}
	for i, e := range p.entries {
		p.numbers[e.ID] = i + 1
		p.children[e.ParentID] = append(p.children[e.ParentID], e)
	}
	p.findHidden()
	p.title = p.findTitle()
	p.head()
	p.header(o.Now())
	p.branch()
	p.others()
	p.end()
	return p.gone, out.Flush()
}

// page is a page on its way.
type page struct {
	w        *markup.Writer
	prose    *markdown.Page
	session  *session.Session
	title    string
	labels   map[string]string
	path     []*session.Entry // the current branch; the session may go on meanwhile
	entries  []*session.Entry // all, those of path among them
	children map[string][]*session.Entry
	numbers  map[string]int  // places in the file, from 1, by id
	hidden   map[string]bool // the entries that have no element, by id
	written  map[string]bool // the entries that are on the page by now, by id
	totals   totals
	speaker  string // who spoke last: of answers in a row only the first has a heading
	gone     int
}

// policy is what the browser lets the page do: show its own style and pictures that are in it,
// and run its own script.
func policy() string {
	return "default-src 'none'; script-src " + hash(script()) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

func hash(text markup.Literal) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// findTitle returns what the session is called: its name, or what was said first, or its id.
func (p *page) findTitle() string {
	if name := p.session.Name(); name != "" {
		return name
	}
	for _, e := range p.path {
		if e.Type != session.TypeMessage {
			continue
		}
		if m := e.Uncached().Message(); m != nil && m.Role == message.RoleUser {
			if prompt := printable.FirstLine(m.Typed(), mostTitle); prompt != "" {
				return prompt
			}
		}
	}
	return "Session " + p.session.ID()
}

func (p *page) head() {
	p.w.Raw("<!DOCTYPE html>\n" + `<html lang="en"><head><meta charset="utf-8"/><meta http-equiv="Content-Security-Policy"`)
	p.w.Attr("content", policy())
	p.w.Raw(`/><meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/>` +
		`<meta name="referrer" content="no-referrer"/><meta name="generator"`)
	p.w.Attr("content", "pi "+version.Program())
	p.w.Raw(`/><link rel="icon" href="data:,"/><title>`)
	p.w.Line(p.title)
	p.w.Raw("</title>\n<style>")
	p.w.Raw(style)
	p.w.Raw("</style></head>\n<body>\n")
}

// header says what session it is. The script puts its tools below.
func (p *page) header(now time.Time) {
	h := p.session.Header()
	p.w.Raw("<header><h1>")
	p.w.Line(p.title)
	p.w.Raw("</h1><dl>")
	p.fact("directory", h.Cwd)
	p.fact("started", formatTime(h.Timestamp))
	p.fact("session", h.ID)
	switch {
	case h.Agent.IsSet():
		p.fact("agent", h.Agent.Name)
		p.fact("used by", h.ParentSession)
	case h.ParentSession != "":
		p.fact("copied from", h.ParentSession)
	}
	p.fact("written", formatTime(now.UTC().Format(time.RFC3339)))
	p.w.Raw("</dl></header>\n")
}

func (p *page) fact(name markup.Literal, value string) {
	p.w.Raw("<div><dt>")
	p.w.Raw(name)
	p.w.Raw("</dt><dd>")
	p.w.Line(value)
	p.w.Raw("</dd></div>")
}

func (p *page) end() {
	p.totals.write(p.w)
	p.w.Raw(`<script type="module">`)
	p.w.Raw(script())
	p.w.Raw("</script>\n</body></html>\n")
}

// formatTime writes an ISO time in minutes and UTC, "" for what is none.
func formatTime(iso string) string {
	t, err := time.Parse(time.RFC3339, iso)
	if err != nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
